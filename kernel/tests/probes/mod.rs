//! What must hold for any bytes at all, one function a parser. The smoke test and the fuzz targets both run these.

use std::collections::BTreeMap;
use twinlog_kernel::amqp::{content, deliver, events, from_records, parser, run, to_records};
use twinlog_kernel::batch_build::{BatchBuilder, BatchFields};
use twinlog_kernel::columns::{self, Range};
use twinlog_kernel::compact::Compactor;
use twinlog_kernel::{batch, check, compress, cursor::Cursor, frames, produce, records, split};

pub const INFLATED_MAX: usize = 1 << 20;

pub fn cursor(bytes: &[u8]) {
    let mut cursor = Cursor::new(bytes);
    while let Some(&step) = bytes.get(cursor.position()) {
        let before = cursor.position();
        let outcome = match step % 8 {
            0 => cursor.uvarint().map(|_| ()),
            1 => cursor.varlong().map(|_| ()),
            2 => cursor.nullable_bytes16().map(|_| ()),
            3 => cursor.nullable_bytes32().map(|_| ()),
            4 => cursor.nullable_bytes_compact().map(|_| ()),
            5 => cursor.nullable_bytes_varint().map(|_| ()),
            6 => cursor.skip_tagged_fields(),
            _ => cursor.count_compact(1).map(|_| ()),
        };
        assert!(cursor.position() <= bytes.len());
        if outcome.is_err() {
            return;
        }
        assert!(cursor.position() > before, "a read that takes nothing could go on for ever");
    }
}

pub fn scan_batches(bytes: &[u8]) {
    let found = batch::scan(bytes);
    let mut end = 0;
    for (at, header) in &found.batches {
        assert_eq!(*at, end);
        end = at + header.size;
    }
    assert_eq!(end, found.valid_end);
    assert!(end <= bytes.len());
    assert_eq!(found.stop.is_none(), end == bytes.len());
}

pub fn check_batch(bytes: &[u8]) {
    if let Ok(verdict) = check::check(bytes, INFLATED_MAX) {
        assert!(verdict.inflated_size <= INFLATED_MAX);
        let mut next = verdict.header.base_offset;
        let header = records::visit(bytes, INFLATED_MAX, |offset, timestamp, record| {
            assert_eq!(offset, next);
            assert!(timestamp <= verdict.header.max_timestamp);
            assert_eq!(record.headers().count(), record.header_count as usize);
            next = next.wrapping_add(1);
            true
        });
        assert_eq!(header.map(|header| header.record_count), Ok(verdict.header.record_count));
        let best = records::max_timestamp_record(bytes, INFLATED_MAX).unwrap().unwrap();
        assert_eq!(best.1, verdict.header.max_timestamp);
        assert!(records::find_timestamp(bytes, best.1, INFLATED_MAX).unwrap().is_some());
    }
    let mut placed = bytes.to_vec();
    let _ = batch::place(&mut placed, 7, 3, 1_700_000_000_000, None);
}

/// Gives the bytes a right length and checksum first: otherwise hardly anything gets past those two.
pub fn check_sealed_batch(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    if seal(&mut sealed) {
        check_batch(&sealed);
        let _ = records::visit(&sealed, INFLATED_MAX, |_, _, record| {
            assert!(record.headers().count() <= record.header_count as usize);
            true
        });
    }
}

pub fn seal(batch: &mut [u8]) -> bool {
    let size = batch.len();
    if size < batch::HEADER_SIZE {
        return false;
    }
    batch[8..12].copy_from_slice(&((size - batch::LOG_OVERHEAD) as i32).to_be_bytes());
    batch[16] = 2;
    let crc = twinlog_kernel::crc::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    true
}

pub fn parse_produce(bytes: &[u8]) {
    for version in [3, 8, 9, 12, 13] {
        if let Ok(request) = produce::parse(bytes, 0, bytes.len(), version, INFLATED_MAX) {
            for entry in request.topics.iter().flat_map(|topic| &topic.partitions) {
                assert!(entry.offset + entry.size <= bytes.len());
                if let Ok(verdict) = &entry.outcome {
                    assert_eq!(verdict.header.size, entry.size);
                }
            }
        }
    }
}

pub fn kafka_split(bytes: &[u8]) {
    let flexible_from = [9u8, 12, 6, 9, 255, 2, 0, 3];
    let mut start = 0;
    while let Ok(found) = split::split(bytes, start, bytes.len(), 1 << 20, &flexible_from) {
        assert!(found.needed == 0 || found.needed > bytes.len() - found.consumed);
        for request in &found.requests {
            assert!(request.body_at <= request.end && request.end <= found.consumed);
        }
        if found.requests.is_empty() {
            assert_eq!(found.consumed, start);
            return;
        }
        assert!(found.consumed > start);
        start = found.consumed;
    }
}

pub fn scan_frames(bytes: &[u8]) {
    let scan = frames::scan_frames(bytes);
    let mut rebuilt = Vec::new();
    for (at, size) in scan.payloads {
        assert!(frames::push_frame(&mut rebuilt, &bytes[at..at + size]));
    }
    assert_eq!(rebuilt, bytes[..scan.valid_end]);
}

pub fn inflate(bytes: &[u8]) {
    for codec in 0..6 {
        for size_max in [0, 100, INFLATED_MAX] {
            if let Ok(size) = compress::with_inflated(codec, bytes, size_max, <[u8]>::len) {
                assert!(size <= size_max);
            }
        }
    }
}

/// Everything that counts in what a parser said, with runs taken apart: how they were put together may depend on the
/// pieces in which the bytes came.
fn amqp_outcome(bytes: &[u8], piece_size: usize) -> Vec<String> {
    let mut parser = parser::Parser::new(4096, 10_000);
    parser.partial_bytes_max = 30_000;
    let (mut start, mut said, mut runs) = (0, Vec::new(), Vec::new());
    for end in (0..bytes.len()).step_by(piece_size).chain([bytes.len()]) {
        runs.clear();
        let (consumed, events) = parser.parse(bytes, start.min(end), end, &mut runs).unwrap();
        assert!(consumed >= start.min(end) && consumed <= end);
        start = consumed;
        for event in &events {
            match event {
                events::Event::Run(event) => amqp_run(&runs[event.place.clone()], event, &mut said),
                events::Event::Ack { channel, low, high } => {
                    assert!(low <= high && high - low < 1 << 20);
                    said.extend((*low..=*high).map(|tag| format!("ack {channel} {tag}")));
                }
                other => said.push(format!("{other:?}")),
            }
        }
        assert!(parser.partial_bytes() <= parser.partial_bytes_max);
    }
    said
}

fn amqp_run(blob: &[u8], event: &events::RunEvent, said: &mut Vec<String>) {
    let run = run::Run::open(blob).unwrap();
    assert_eq!((run.count, run.flags), (event.count, event.concerns.flags));
    assert_eq!(frames::scan_frames(blob).valid_end, blob.len());
    let mut messages = run.messages(0).unwrap();
    while let Some(message) = messages.next_message().unwrap() {
        let concerns = content::read_properties(message.properties).unwrap();
        assert_eq!(
            (concerns.priority, concerns.expiration),
            (event.concerns.priority, event.concerns.expiration.as_deref())
        );
        said.push(
            format!("{} {} {} {message:?}", event.channel, run.exchange, run.key)
                .replace(&format!("position: {}", message.position), ""),
        );
    }
    amqp_deliver(blob);
}

pub fn amqp_parse(bytes: &[u8]) {
    let whole = amqp_outcome(bytes, bytes.len().max(1));
    let pieces = amqp_outcome(bytes, 1 + bytes.len() % 13);
    assert_eq!(whole, pieces);
}

pub fn amqp_properties(bytes: &[u8]) {
    let _ = content::read_properties(bytes);
}

pub fn amqp_deliver(bytes: &[u8]) {
    let to =
        deliver::Delivery { channel: 1, consumer_tag: b"tag", tag_first: 1, is_redelivered: false, frame_max: 4096 };
    if let Ok((_, position)) = deliver::encode_run(bytes, 0, usize::MAX, &to) {
        assert_eq!(position, bytes.len());
    }
    for position in [1, bytes.len() / 2, bytes.len()] {
        let _ = deliver::encode_run(bytes, position, 2, &to);
    }
    assert!(run::count_in(bytes) == 0 || !bytes.is_empty());
}

/// What a client makes of an answer: whatever it says, the columns fit together.
pub fn columns(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    for data in [bytes, &sealed] {
        let mut range = Range::new(b"topic".to_vec(), 3, 2, 1 << 40);
        range.set_aborted(Some(vec![(0, 1), (5, 2)]));
        let mut columns = columns::Columns::default();
        let limits = columns::Limits { rows_max: 1000, data_size_max: 1 << 16, inflated_max: INFLATED_MAX };
        if let Ok((at, _)) = columns::append(&mut columns, 0xff, &mut range, data, &limits) {
            assert!(at <= data.len());
            for binary in [&columns.keys, &columns.values, &columns.topics] {
                assert_eq!(binary.offsets.len(), columns.rows + 1);
                assert_eq!(*binary.offsets.last().unwrap() as usize, binary.data.len());
            }
            assert_eq!(columns.headers.offsets.len(), columns.rows + 1);
            let fixed = [columns.partitions.len(), columns.timestamp_types.len()];
            assert_eq!(fixed, [columns.rows; 2]);
            assert_eq!([columns.offsets.len(), columns.timestamps_us.len()], [columns.rows; 2]);
        }
    }
}

/// What a stream's consumer gets of anything that could lie in its log: runs that are whole, in order.
pub fn records_to_runs(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    if !seal(&mut sealed) {
        return;
    }
    for filter in [None, Some(vec![&b"v"[..]])] {
        let how = from_records::Reading {
            queue: "queue",
            filter,
            match_unfiltered: bytes.len() & 1 == 0,
            size_max: 1 << 16,
            properties_size_max: 1 << 12,
            inflated_max: INFLATED_MAX,
        };
        let mut range = Range::new(Vec::new(), 0, 1, 1 << 40);
        if let Ok((runs, out)) = from_records::runs_of(&sealed, &mut range, &how) {
            let mut next = 1;
            let is_in_order = check::check(&sealed, INFLATED_MAX).is_ok();
            for found in &runs {
                assert!(found.offset >= next || !is_in_order);
                assert!(found.count > 0);
                next = found.offset + i64::from(found.count);
                let run = run::Run::open(&out[found.place.clone()]).unwrap();
                assert_eq!(run.count, found.count);
                let mut messages = run.messages(0).unwrap();
                while let Some(message) = messages.next_message().unwrap() {
                    content::read_properties(message.properties).unwrap();
                }
            }
            assert!(next <= range.position || !is_in_order);
        }
    }
}

/// What a stream's log gets of anything that could be a run: batches that every reader takes.
pub fn runs_to_records(bytes: &[u8]) {
    let how =
        to_records::Making { queue: "key", now_ms: 1_700_000_000_000, size_max: 1 << 14, codec: bytes.len() as u8 % 5 };
    if let Ok((batches, taken)) = to_records::batches_of(bytes, &how) {
        let mut count = 0;
        for made in &batches {
            let verdict = check::check(&made.bytes, INFLATED_MAX).unwrap();
            assert!(made.keyless_at < verdict.header.record_count);
            count += verdict.header.record_count as usize;
            records_to_runs(&made.bytes);
        }
        assert_eq!(count, taken);
    }
}

/// Anything that could lie in a segment: only whole batches come out, in place, and nothing that was not there.
pub fn compact_any(bytes: &[u8]) {
    let mut sealed = bytes.to_vec();
    if !seal(&mut sealed) {
        return;
    }
    let mut compactor = Compactor::new(1 << 12, 50, 3, &[(1, 0, 100)], &[(2, 0, 0)], INFLATED_MAX);
    compactor.begin_reading(0, 1 << 20, true);
    let _ = compactor.map(&sealed);
    let mut out = Vec::new();
    compactor.begin(1_000, 500);
    compactor.begin_segment(0, 100);
    compactor.begin_reading(0, 1 << 20, true);
    if let Ok(rest) = compactor.rewrite(&sealed, &mut out) {
        assert!(rest <= sealed.len());
        let written = compactor.end_segment(&mut out);
        assert_eq!(batch::scan(&out).valid_end, out.len());
        assert_eq!(written.size as usize, out.len());
        assert!((0..=1 << 20).contains(&written.offset_end));
    }
}

const KEYS: u8 = 6;
const PRODUCERS: i64 = 3;

/// (key, value, timestamp, headers)
type Kept = (u8, Option<Vec<u8>>, i64, Vec<(Vec<u8>, Option<Vec<u8>>)>);

/// A log that the bytes describe: batches in every codec, tombstones, headers, transactions that commit and abort.
#[derive(Default)]
struct Story {
    log: Vec<u8>,
    records: BTreeMap<i64, (Kept, i64)>, // offset -> the record and its producer, -1 outside of transactions
    next: i64,
    begun: BTreeMap<i64, i64>, // producer -> first offset of its transaction
    aborted: Vec<(i64, i64, i64)>,
    last_batches: BTreeMap<i64, i64>,
}

impl Story {
    fn tell(bytes: &[u8]) -> Self {
        let mut story = Self::default();
        let mut steps = bytes.chunks_exact(3);
        let mut pending: Vec<Kept> = Vec::new();
        for step in steps.by_ref() {
            let (op, first, second) = (step[0] % 8, step[1], step[2]);
            match op {
                0..=4 => {
                    let value = (op != 4).then(|| vec![second; (second % 40) as usize]);
                    let headers = (0..first / 64).map(|at| (vec![b'h', at], (at > 0).then(|| vec![second])));
                    pending.push((first % KEYS, value, 1_000 + second as i64, headers.collect()));
                }
                5 => story.append(&mut pending, -1, first % 5),
                6 => story.append(&mut pending, first as i64 % PRODUCERS, second % 5),
                _ => story.end(first as i64 % PRODUCERS, second % 2 == 0),
            }
        }
        story.append(&mut pending, -1, 0);
        for producer in 0..PRODUCERS {
            story.end(producer, true); // nothing beyond the first undecided record is ever compacted
        }
        story
    }

    fn append(&mut self, pending: &mut Vec<Kept>, producer_id: i64, codec: u8) {
        if pending.is_empty() {
            return;
        }
        let base_offset = self.next;
        let mut builder = BatchBuilder::default();
        for (at, (key, value, timestamp, headers)) in pending.iter().enumerate() {
            builder.begin_record(at as i32, *timestamp, Some(&[*key]), value.as_deref(), headers.len());
            for (name, value) in headers {
                builder.header(name, value.as_deref());
            }
            builder.end_record();
        }
        let transactional = producer_id >= 0;
        if transactional {
            self.begun.entry(producer_id).or_insert(base_offset);
            self.last_batches.insert(producer_id, base_offset);
        }
        self.log.extend(
            builder
                .finish(&BatchFields {
                    base_offset,
                    codec,
                    producer_id,
                    producer_epoch: if transactional { 0 } else { -1 },
                    base_sequence: if transactional { base_offset as i32 } else { -1 },
                    attributes: if transactional { 0x10 } else { 0 },
                    ..BatchFields::default()
                })
                .unwrap(),
        );
        for kept in pending.drain(..) {
            self.records.insert(self.next, (kept, producer_id));
            self.next += 1;
        }
    }

    fn end(&mut self, producer_id: i64, commits: bool) {
        let Some(first) = self.begun.remove(&producer_id) else { return };
        if !commits {
            self.aborted.push((producer_id, first, self.next));
            self.records.retain(|offset, (_, by)| *offset < first || *by != producer_id);
        }
        let mut builder = BatchBuilder::default();
        builder.begin_record(0, 1_000, Some(&[0, 0, 0, commits as u8]), Some(&[0; 6]), 0);
        builder.end_record();
        self.log.extend(
            builder
                .finish(&BatchFields {
                    base_offset: self.next,
                    producer_id,
                    producer_epoch: 0,
                    attributes: 0x30,
                    ..BatchFields::default()
                })
                .unwrap(),
        );
        self.next += 1;
    }

    /// What a reader of the compacted log has to find, when tombstones whose time is up are gone.
    fn expected(&self, tombstones_stay: bool) -> BTreeMap<i64, Kept> {
        let mut last: BTreeMap<u8, i64> = BTreeMap::new();
        for (offset, (kept, _)) in &self.records {
            last.insert(kept.0, *offset);
        }
        last.values()
            .map(|offset| (*offset, self.records[offset].0.clone()))
            .filter(|(_, kept)| tombstones_stay || kept.1.is_some())
            .collect()
    }
}

fn compacted(story: &Story, log: &[u8], now_ms: i64, has_gaps: bool) -> Vec<u8> {
    let last: Vec<_> = story.last_batches.iter().map(|(id, offset)| (*id, *offset, 0)).collect();
    let mut compactor = Compactor::new(1 << 12, 1_000, 3, &story.aborted, &last, INFLATED_MAX);
    compactor.begin_reading(0, story.next, has_gaps);
    assert_eq!(compactor.map(log), Ok((log.len(), true)));
    let mut out = Vec::new();
    compactor.begin(now_ms, 500);
    compactor.begin_segment(0, 100);
    compactor.begin_reading(0, story.next, has_gaps);
    assert_eq!(compactor.rewrite(log, &mut out), Ok(log.len()));
    let written = compactor.end_segment(&mut out);
    assert_eq!(written.offset_end, story.next, "the last offset stays");
    for id in story.last_batches.keys() {
        let there = |(_, header): &(usize, batch::Header)| header.base_offset == story.last_batches[id];
        assert!(batch::scan(&out).batches.iter().any(there), "a producer's last batch is gone");
    }
    out
}

fn read(log: &[u8]) -> BTreeMap<i64, Kept> {
    let scanned = batch::scan(log);
    assert_eq!(scanned.valid_end, log.len());
    let mut found = BTreeMap::new();
    for (at, header) in scanned.batches {
        if header.attributes & 0x20 != 0 || header.record_count == 0 {
            continue;
        }
        records::visit(&log[at..], INFLATED_MAX, |offset, timestamp, record| {
            let headers = record.headers().map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec)));
            let kept = (record.key.unwrap()[0], record.value.map(<[u8]>::to_vec), timestamp, headers.collect());
            assert!(found.insert(offset, kept).is_none());
            true
        })
        .unwrap();
    }
    found
}

/// Whatever was written, the compacted log is what a plain model says; compacting again changes nothing until the time
/// of tombstones is up.
pub fn compact_story(bytes: &[u8]) {
    let story = Story::tell(&bytes[..bytes.len().min(600)]);
    if story.next == 0 {
        return;
    }
    let once = compacted(&story, &story.log, 10_000, false);
    assert_eq!(read(&once), story.expected(true));
    let twice = compacted(&story, &once, 10_499, true);
    assert_eq!(twice, once);
    let late = compacted(&story, &twice, 10_500, true);
    assert_eq!(read(&late), story.expected(false));
}
