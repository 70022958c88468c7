use super::*;
use crate::batch::scan;
use crate::batch_build::{BatchBuilder, BatchFields};
use crate::records::visit;

const INFLATED_MAX: usize = 1 << 20;

type KeyValue<'a> = (&'a str, Option<&'a str>);

fn batch(base_offset: i64, codec: u8, records: &[KeyValue<'_>]) -> Vec<u8> {
    built(BatchFields { base_offset, codec, leader_epoch: 3, ..BatchFields::default() }, records)
}

fn built(fields: BatchFields, records: &[KeyValue<'_>]) -> Vec<u8> {
    let mut builder = BatchBuilder::default();
    for (number, (key, value)) in records.iter().enumerate() {
        let timestamp = 1000 + fields.base_offset + number as i64;
        builder.begin_record(number as i32, timestamp, Some(key.as_bytes()), value.map(str::as_bytes), 1);
        builder.header(b"trace", Some(b"id"));
        builder.end_record();
    }
    builder.finish(&fields).unwrap()
}

fn marker(base_offset: i64, producer_id: i64, commit: bool) -> Vec<u8> {
    let mut builder = BatchBuilder::default();
    builder.begin_record(0, 1000, Some(&[0, 0, 0, commit as u8]), Some(&[0; 6]), 0);
    builder.end_record();
    builder
        .finish(&BatchFields {
            base_offset,
            producer_id,
            producer_epoch: 0,
            attributes: 0x30,
            ..BatchFields::default()
        })
        .unwrap()
}

fn compactor(aborted: &[Aborted], producers: &[LastBatch]) -> Compactor {
    Compactor::new(1 << 16, 100, 7, aborted, producers, INFLATED_MAX)
}

fn compact(compactor: &mut Compactor, bytes: &[u8], now_ms: i64) -> (Vec<u8>, Written) {
    assert_eq!(compactor.map(bytes).unwrap(), (bytes.len(), true));
    rewritten(compactor, bytes, now_ms)
}

fn rewritten(compactor: &mut Compactor, bytes: &[u8], now_ms: i64) -> (Vec<u8>, Written) {
    let mut out = Vec::new();
    compactor.begin(now_ms, 500);
    compactor.begin_segment(0, 100);
    compactor.begin_reading(0, i64::MAX, true);
    assert_eq!(compactor.rewrite(bytes, &mut out).unwrap(), bytes.len());
    let written = compactor.end_segment(&mut out);
    assert_eq!(written.size as usize, out.len());
    (out, written)
}

/// (offset, timestamp, key, value) of every record; every batch has a right checksum.
fn read(bytes: &[u8]) -> Vec<(i64, i64, String, Option<String>)> {
    let scan = scan(bytes);
    assert_eq!(scan.valid_end, bytes.len());
    let mut found = Vec::new();
    for (at, _) in scan.batches {
        visit(&bytes[at..], INFLATED_MAX, |offset, timestamp, record| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(record.headers().count(), 1);
            found.push((offset, timestamp, text(record.key.unwrap()), record.value.map(text)));
            true
        })
        .unwrap();
    }
    found
}

fn values(bytes: &[u8]) -> Vec<(i64, String, Option<String>)> {
    read(bytes).into_iter().map(|(offset, _, key, value)| (offset, key, value)).collect()
}

fn kept(expected: &[(i64, &str, Option<&str>)]) -> Vec<(i64, String, Option<String>)> {
    expected.iter().map(|(offset, key, value)| (*offset, key.to_string(), value.map(str::to_string))).collect()
}

#[test]
fn the_last_record_of_every_key_stays_where_it_was_in_every_codec() {
    for codec in 0..5 {
        let mut bytes = batch(0, codec, &[("a", Some("1")), ("b", Some("1")), ("a", Some("2"))]);
        bytes.extend(batch(3, codec, &[("c", Some("1")), ("b", Some("2"))]));
        let (out, written) = compact(&mut compactor(&[], &[]), &bytes, 0);
        assert_eq!(values(&out), kept(&[(2, "a", Some("2")), (3, "c", Some("1")), (4, "b", Some("2"))]));
        assert_eq!(read(&out)[0].1, 1002, "timestamps stay");
        let batches = scan(&out).batches;
        assert_eq!((batches[0].1.base_offset, batches[0].1.last_offset_delta, batches[0].1.codec()), (0, 2, codec));
        assert_eq!(batches[0].1.max_timestamp, 1002);
        assert_eq!((written.offset_end, written.max_timestamp), (5, 1004));
        assert_eq!(written.epochs, vec![(3, 0)]);
    }
}

#[test]
fn what_stays_whole_is_copied_as_it_is() {
    let bytes = batch(7, 4, &[("a", Some("1")), ("b", Some("2"))]);
    assert_eq!(compact(&mut compactor(&[], &[]), &bytes, 0).0, bytes);
}

#[test]
fn the_last_batch_of_a_segment_stays_if_only_as_a_header() {
    let mut bytes = batch(0, 0, &[("a", Some("1"))]);
    bytes.extend(batch(1, 2, &[("b", Some("1"))]));
    let mut later = bytes.clone();
    later.extend(batch(2, 0, &[("b", Some("2")), ("a", Some("2"))]));
    let mut compactor = compactor(&[], &[]);
    compactor.map(&later).unwrap();
    let (out, written) = rewritten(&mut compactor, &bytes, 0);
    let batches = scan(&out).batches;
    assert_eq!(batches.len(), 1);
    assert_eq!((batches[0].1.base_offset, batches[0].1.record_count, batches[0].1.codec()), (1, 0, 0));
    assert_eq!((written.offset_end, written.max_timestamp), (2, -1));
}

#[test]
fn a_tombstone_waits_for_its_horizon() {
    let mut bytes = batch(0, 3, &[("a", Some("1"))]);
    bytes.extend(batch(1, 3, &[("a", None), ("b", Some("1"))]));
    let mut first = compactor(&[], &[]);
    let (once, _) = compact(&mut first, &bytes, 10_000);
    assert_eq!(values(&once), kept(&[(1, "a", None), (2, "b", Some("1"))]));
    assert_eq!(read(&once)[0].1, 1001, "the record keeps its timestamp");
    assert_eq!(first.horizon_next, 10_500);
    let mut early = compactor(&[], &[]);
    let (twice, _) = compact(&mut early, &once, 10_499);
    assert_eq!(twice, once);
    assert_eq!(early.horizon_next, 10_500);
    let (late, _) = compact(&mut compactor(&[], &[]), &twice, 10_500);
    assert_eq!(values(&late), kept(&[(2, "b", Some("1"))]));
    assert_eq!(read(&late)[0].1, 1002);
}

#[test]
fn a_full_map_ends_the_walk_and_what_lies_behind_stays() {
    let names: Vec<String> = (0..100).map(|number| format!("key {number}")).collect();
    let mut bytes = Vec::new();
    for (offset, name) in names.iter().chain(&names).enumerate() {
        bytes.extend(batch(offset as i64, 0, &[(name, Some("x"))]));
    }
    let mut small = Compactor::new(64 * 24, 1000, 1, &[], &[], INFLATED_MAX);
    let (_, fits) = small.map(&bytes).unwrap();
    assert!(!fits);
    assert_eq!((small.key_count(), small.map_end), (54, 54));
    let (out, _) = rewritten(&mut small, &bytes, 0);
    assert_eq!(read(&out).len(), 200, "nothing is known of what replaces them");
    let (out, _) = compact(&mut Compactor::new(1 << 20, 200, 1, &[], &[], INFLATED_MAX), &bytes, 0);
    assert_eq!(read(&out).iter().map(|record| record.0).collect::<Vec<_>>(), (100..200).collect::<Vec<_>>());
}

#[test]
fn aborted_records_go_first_and_their_marker_after_its_horizon() {
    let of = |base_offset, attributes| BatchFields {
        base_offset,
        attributes,
        producer_id: 5,
        producer_epoch: 0,
        base_sequence: base_offset as i32,
        ..BatchFields::default()
    };
    let mut bytes = built(of(0, 0x10), &[("a", Some("committed"))]);
    bytes.extend(marker(1, 5, true));
    bytes.extend(built(of(2, 0x10), &[("a", Some("aborted"))]));
    bytes.extend(marker(3, 5, false));
    bytes.extend(batch(4, 0, &[("b", Some("1"))]));
    let aborted = [(5, 2, 3)];
    let (once, written) = compact(&mut compactor(&aborted, &[]), &bytes, 100);
    let offsets = |bytes: &[u8]| scan(bytes).batches.iter().map(|batch| batch.1.base_offset).collect::<Vec<_>>();
    assert_eq!(offsets(&once), vec![0, 1, 3, 4], "the value that was not committed hides nothing");
    assert_eq!(written.markers, vec![1, 3]);
    let (twice, _) = compact(&mut compactor(&aborted, &[]), &once, 599);
    assert_eq!(offsets(&twice), vec![0, 1, 3, 4]);
    let (late, written) = compact(&mut compactor(&aborted, &[]), &twice, 600);
    assert_eq!(offsets(&late), vec![0, 1, 4], "the commit marker stays with its data");
    assert_eq!(written.markers, vec![1]);
}

#[test]
fn what_a_producers_next_sequence_hangs_on_stays() {
    let of = |base_offset: i64| BatchFields {
        base_offset,
        producer_id: 9,
        producer_epoch: 2,
        base_sequence: base_offset as i32,
        ..BatchFields::default()
    };
    let mut bytes = built(of(0), &[("a", Some("1"))]);
    bytes.extend(built(of(1), &[("a", Some("2"))]));
    bytes.extend(batch(2, 0, &[("a", Some("3"))]));
    let (out, _) = compact(&mut compactor(&[], &[(9, 1, 2)]), &bytes, 0);
    let batches = scan(&out).batches;
    assert_eq!(batches.len(), 2);
    assert_eq!((batches[0].1.base_offset, batches[0].1.base_sequence, batches[0].1.record_count), (1, 1, 0));
}

#[test]
fn damage_stops_both_walks() {
    let mut bytes = batch(0, 0, &[("a", Some("1"))]);
    bytes[70] ^= 1;
    let mut compactor = compactor(&[], &[]);
    assert_eq!(compactor.map(&bytes), Err(Fault::Checksum));
    compactor.begin_segment(0, 100);
    assert_eq!(compactor.rewrite(&bytes, &mut Vec::new()), Err(Fault::Checksum));
}

#[test]
fn a_batch_that_is_not_whole_is_left_for_the_next_call() {
    let mut bytes = batch(0, 0, &[("a", Some("1"))]);
    let first = bytes.len();
    bytes.extend(batch(1, 0, &[("b", Some("1"))]));
    for end in first..bytes.len() {
        assert_eq!(compactor(&[], &[]).map(&bytes[..end]).unwrap(), (first, true));
    }
}

#[test]
fn a_batch_whose_offset_is_out_of_place_stops_both_walks() {
    let bytes = [batch(10, 0, &[("a", Some("1")), ("b", Some("1"))]), batch(12, 0, &[("a", Some("2"))])].concat();
    for (place, moved) in [(0, 9), (0, 11), (0, i64::MAX), (0, -10), (1, 11), (1, 13), (1, 1 << 40)] {
        let mut wrong = bytes.clone();
        let at = if place == 0 { 0 } else { scan(&bytes).batches[1].0 };
        wrong[at..at + 8].copy_from_slice(&i64::to_be_bytes(moved));
        let mut compactor = compactor(&[], &[]);
        compactor.begin_reading(10, 13, false);
        assert!(matches!(compactor.map(&wrong), Err(Fault::Invalid(_))), "{place} {moved}");
        compactor.begin_segment(10, 100);
        compactor.begin_reading(10, 13, false);
        assert!(matches!(compactor.rewrite(&wrong, &mut Vec::new()), Err(Fault::Invalid(_))), "{place} {moved}");
    }
    let mut with_gaps = compactor(&[], &[]);
    with_gaps.begin_reading(7, 20, true);
    assert_eq!(with_gaps.map(&bytes), Ok((bytes.len(), true)));
}

#[test]
fn a_million_keys_fit_into_the_bytes_that_the_setting_promises() {
    let mut compactor = Compactor::new(27_000_000 + SLOT_SIZE, 10_000_000, 1, &[], &[], INFLATED_MAX);
    for number in 0..1_000_000u32 {
        assert!(compactor.keys.put(&number.to_be_bytes(), number as i64));
    }
    assert_eq!(compactor.key_count(), 1_000_000);
    assert!(compactor.keys.slots.capacity() * SLOT_SIZE <= 27_000_000 + SLOT_SIZE);
    for number in 0..1_000_000u32 {
        assert_eq!(compactor.keys.last(&number.to_be_bytes()), Some(number as i64));
    }
}
