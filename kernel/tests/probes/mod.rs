//! What must hold for any bytes at all, one function a parser. The smoke test and the fuzz targets both run these.

use twinlog_kernel::amqp::{content, deliver, events, parser, run};
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
