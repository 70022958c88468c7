//! Columns in Arrow's memory layout as record batches, each row in the partition that Java's producer would choose.

use crate::batch_build::{BatchBuilder, BatchFields};

/// A column of binary values: `rows + 1` offsets of 32 bits, and one validity bit a row from bit `first` on.
#[derive(Clone, Copy)]
pub struct BinaryColumn<'a> {
    pub validity: Option<&'a [u8]>,
    pub offsets: &'a [u8],
    pub data: &'a [u8],
    pub first: usize,
}

/// A column does not hold what it says. Never the case for what Arrow itself made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadColumn;

fn is_valid(validity: Option<&[u8]>, at: usize) -> Result<bool, BadColumn> {
    match validity {
        None => Ok(true),
        Some(bits) => bits.get(at / 8).map(|byte| byte >> (at % 8) & 1 == 1).ok_or(BadColumn),
    }
}

fn i32_at(bytes: &[u8], at: usize) -> Result<i32, BadColumn> {
    let raw = bytes.get(4 * at..).and_then(|rest| rest.first_chunk::<4>()).ok_or(BadColumn)?;
    Ok(i32::from_le_bytes(*raw))
}

fn i64_at(bytes: &[u8], at: usize) -> Result<i64, BadColumn> {
    let raw = bytes.get(8 * at..).and_then(|rest| rest.first_chunk::<8>()).ok_or(BadColumn)?;
    Ok(i64::from_le_bytes(*raw))
}

fn span(offsets: &[u8], at: usize) -> Result<std::ops::Range<usize>, BadColumn> {
    let (start, end) = (i32_at(offsets, at)?, i32_at(offsets, at + 1)?);
    if start < 0 || end < start {
        return Err(BadColumn);
    }
    Ok(start as usize..end as usize)
}

impl<'a> BinaryColumn<'a> {
    #[inline(always)]
    pub fn get(&self, row: usize) -> Result<Option<&'a [u8]>, BadColumn> {
        let at = self.first + row;
        if !is_valid(self.validity, at)? {
            return Ok(None);
        }
        self.data.get(span(self.offsets, at)?).map(Some).ok_or(BadColumn)
    }
}

/// A column of numbers, `WIDTH` bytes each.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    pub validity: Option<&'a [u8]>,
    pub values: &'a [u8],
    pub first: usize,
}

impl Numbers<'_> {
    fn i32(&self, row: usize) -> Result<Option<i32>, BadColumn> {
        let at = self.first + row;
        if is_valid(self.validity, at)? {
            i32_at(self.values, at).map(Some)
        } else {
            Ok(None)
        }
    }

    fn i64(&self, row: usize) -> Result<Option<i64>, BadColumn> {
        let at = self.first + row;
        if is_valid(self.validity, at)? {
            i64_at(self.values, at).map(Some)
        } else {
            Ok(None)
        }
    }
}

/// A list of (name, value) a row.
#[derive(Clone, Copy)]
pub struct HeaderColumn<'a> {
    pub validity: Option<&'a [u8]>,
    pub offsets: &'a [u8],
    pub first: usize,
    pub names: BinaryColumn<'a>,
    pub values: BinaryColumn<'a>,
}

#[derive(Clone, Copy, Default)]
pub struct Rows<'a> {
    pub count: usize,
    pub keys: Option<BinaryColumn<'a>>,
    pub values: Option<BinaryColumn<'a>>,
    pub partitions: Option<Numbers<'a>>,
    pub timestamps_us: Option<Numbers<'a>>,
    pub headers: Option<HeaderColumn<'a>>,
}

/// MurmurHash2 with Kafka's seed.
pub fn murmur2(data: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ data.len() as u32;
    let (words, tail) = data.as_chunks::<4>();
    for word in words {
        let mut part = u32::from_le_bytes(*word).wrapping_mul(M);
        part = (part ^ part >> 24).wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ part;
    }
    if !tail.is_empty() {
        for (at, byte) in tail.iter().enumerate() {
            hash ^= (*byte as u32) << (8 * at);
        }
        hash = hash.wrapping_mul(M);
    }
    hash = (hash ^ hash >> 13).wrapping_mul(M);
    hash ^ hash >> 15
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Column(BadColumn),
    /// The row names a partition that the topic does not have.
    NoSuchPartition {
        row: usize,
        partition: i32,
    },
}

impl From<BadColumn> for RowFault {
    fn from(bad: BadColumn) -> Self {
        RowFault::Column(bad)
    }
}

/// Batches being filled, one a partition, and those that are full.
pub struct BatchWriter {
    open: Vec<BatchBuilder>,
    full: Vec<(usize, BatchBuilder)>,
    batch_size: usize,
    sticky: usize,
    buffered: usize,
}

/// What a record takes besides its key, value and headers, at most.
const RECORD_OVERHEAD: usize = 32;

impl BatchWriter {
    /// Rows without a key go to one partition until its batch is full, beginning with `sticky`.
    pub fn new(partitions: usize, batch_size: usize, sticky: usize) -> Self {
        Self {
            open: (0..partitions).map(|_| BatchBuilder::default()).collect(),
            full: Vec::new(),
            batch_size,
            sticky: sticky % partitions.max(1),
            buffered: 0,
        }
    }

    pub fn partitions(&self) -> usize {
        self.open.len()
    }

    pub fn buffered(&self) -> usize {
        self.buffered
    }

    pub fn add(&mut self, rows: &Rows<'_>, now_ms: i64) -> Result<(), RowFault> {
        for row in 0..rows.count {
            let key = rows.keys.map_or(Ok(None), |column| column.get(row))?;
            let value = rows.values.map_or(Ok(None), |column| column.get(row))?;
            let timestamp_us = rows.timestamps_us.map_or(Ok(None), |column| column.i64(row))?;
            let timestamp = timestamp_us.map_or(now_ms, |micros| micros.div_euclid(1000));
            let mut keyless = false;
            let mut partition = match rows.partitions.map_or(Ok(None), |column| column.i32(row))? {
                Some(partition) => {
                    let known = usize::try_from(partition).ok().filter(|partition| *partition < self.open.len());
                    known.ok_or(RowFault::NoSuchPartition { row, partition })?
                }
                None => match key {
                    Some(key) => (murmur2(key) & 0x7fff_ffff) as usize % self.open.len(),
                    None => {
                        keyless = true;
                        self.sticky
                    }
                },
            };
            let headers = match rows.headers {
                Some(column) if is_valid(column.validity, column.first + row)? => {
                    Some((column, span(column.offsets, column.first + row)?))
                }
                _ => None,
            };
            let mut size = RECORD_OVERHEAD + key.map_or(0, <[u8]>::len) + value.map_or(0, <[u8]>::len);
            if let Some((column, span)) = &headers {
                for at in span.clone() {
                    size += 10 + column.names.get(at)?.map_or(0, <[u8]>::len);
                    size += column.values.get(at)?.map_or(0, <[u8]>::len);
                }
            }
            if self.open[partition].count() > 0 && self.open[partition].size() + size > self.batch_size {
                self.close(partition);
                if keyless {
                    partition = self.sticky;
                }
            }
            let builder = &mut self.open[partition];
            let before = builder.size();
            let header_count = headers.as_ref().map_or(0, |(_, span)| span.len());
            builder.begin_record(builder.count(), timestamp, key, value, header_count);
            if let Some((column, span)) = headers {
                for at in span {
                    builder.header(column.names.get(at)?.unwrap_or_default(), column.values.get(at)?);
                }
            }
            builder.end_record();
            self.buffered += builder.size() - before;
        }
        Ok(())
    }

    fn close(&mut self, partition: usize) {
        let builder = std::mem::take(&mut self.open[partition]);
        self.full.push((partition, builder));
        if partition == self.sticky {
            self.sticky = (self.sticky + 1) % self.open.len();
        }
    }

    /// The full batches in their order, or all; with the number of records each. The caller numbers them.
    pub fn take(&mut self, everything: bool) -> Vec<(usize, BatchBuilder)> {
        if everything {
            for partition in 0..self.open.len() {
                if self.open[partition].count() > 0 {
                    self.close(partition);
                }
            }
        }
        let taken = std::mem::take(&mut self.full);
        self.buffered -= taken.iter().map(|(_, builder)| builder.size()).sum::<usize>();
        taken
    }
}

/// The batch with what a producer says of itself; None if it would not fit a batch, or the codec is unknown.
pub fn seal(builder: BatchBuilder, fields: &BatchFields) -> Option<Vec<u8>> {
    builder.finish(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::visit;

    fn column<'a>(offsets: &'a [u8], data: &'a [u8], validity: Option<&'a [u8]>) -> BinaryColumn<'a> {
        BinaryColumn { validity, offsets, data, first: 0 }
    }

    fn offsets(values: &[i32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn keys_hash_as_in_java() {
        for (key, hash) in
            [("21", -973_932_308i32), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536)]
        {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash);
        }
    }

    #[test]
    fn rows_become_records_of_their_partitions() {
        let ends = offsets(&[0, 1, 2, 3]);
        let keys = column(&ends, b"abc", Some(&[0b101]));
        let values = column(&ends, b"xyz", None);
        let partitions: Vec<u8> = [1i32, 0, 1].iter().flat_map(|each| each.to_le_bytes()).collect();
        let rows = Rows {
            count: 3,
            keys: Some(keys),
            values: Some(values),
            partitions: Some(Numbers { validity: None, values: &partitions, first: 0 }),
            ..Rows::default()
        };
        let mut writer = BatchWriter::new(2, 1000, 0);
        writer.add(&rows, 77).unwrap();
        let mut seen = Vec::new();
        for (partition, builder) in writer.take(true) {
            let bytes = seal(builder, &BatchFields::default()).unwrap();
            visit(&bytes, 1000, |offset, timestamp, record| {
                seen.push((
                    partition,
                    offset,
                    timestamp,
                    record.key.map(<[u8]>::to_vec),
                    record.value.unwrap().to_vec(),
                ));
                true
            })
            .unwrap();
        }
        assert_eq!(
            seen,
            [
                (0, 0, 77, None, b"y".to_vec()),
                (1, 0, 77, Some(b"a".to_vec()), b"x".to_vec()),
                (1, 1, 77, Some(b"c".to_vec()), b"z".to_vec())
            ]
        );
        assert_eq!(writer.buffered(), 0);
    }

    #[test]
    fn a_partition_that_is_not_there_is_named() {
        let partitions = 7i32.to_le_bytes();
        let rows = Rows {
            count: 1,
            partitions: Some(Numbers { validity: None, values: &partitions, first: 0 }),
            ..Rows::default()
        };
        let fault = BatchWriter::new(2, 1000, 0).add(&rows, 0);
        assert_eq!(fault, Err(RowFault::NoSuchPartition { row: 0, partition: 7 }));
    }

    #[test]
    fn columns_that_lie_are_refused() {
        for ends in [offsets(&[0]), offsets(&[0, 9]), offsets(&[2, 1]), offsets(&[-1, 1])] {
            let rows = Rows { count: 1, values: Some(column(&ends, b"ab", None)), ..Rows::default() };
            assert_eq!(BatchWriter::new(1, 1000, 0).add(&rows, 0), Err(RowFault::Column(BadColumn)));
        }
    }

    #[test]
    fn rows_without_a_key_stay_together_until_a_batch_is_full() {
        let ends = offsets(&(0..=100).map(|at| at * 10).collect::<Vec<_>>());
        let data = [b'v'; 1000];
        let rows = Rows { count: 100, values: Some(column(&ends, &data, None)), ..Rows::default() };
        let mut writer = BatchWriter::new(3, 500, 1);
        writer.add(&rows, 0).unwrap();
        let partitions: Vec<_> = writer.take(true).iter().map(|(partition, _)| *partition).collect();
        assert_eq!(partitions[..4], [1, 2, 0, 1]);
    }
}
