//! Feeds every parser with some hundred thousand damaged inputs, the same ones in every run. Nothing may panic, and
//! what the probes state must hold. The fuzz targets do the same with more time and coverage to guide them.

mod probes;

use twinlog_kernel::amqp::run::RunWriter;
use twinlog_kernel::amqp::to_records::{batches_of, Making};
use twinlog_kernel::batch_build::{BatchBuilder, BatchFields};
use twinlog_kernel::{compress, frames};

/// A small generator, so that the inputs are the same everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Bytes that parsers stumble over: borders of varints and of signed numbers.
const INTERESTING: [u8; 10] = [0x00, 0x01, 0x02, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x82];

fn mutate(chance: &mut Chance, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(bytes.len());
        match chance.below(7) {
            0 if !bytes.is_empty() => bytes[at] = chance.next() as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
            2 if !bytes.is_empty() => bytes[at] = INTERESTING[chance.below(INTERESTING.len())],
            3 => bytes.truncate(at),
            4 => bytes.insert(at, INTERESTING[chance.below(INTERESTING.len())]),
            5 if !bytes.is_empty() => drop(bytes.remove(at)),
            6 => {
                let to = (at + 1 + chance.below(9)).min(bytes.len());
                bytes[at.min(to)..to].fill(INTERESTING[chance.below(INTERESTING.len())]);
            }
            _ => {}
        }
    }
    bytes
}

/// With FUZZ_SECONDS in the environment it goes on for so long, from a seed that is told and can be given again.
fn storm(seed: u64, rounds: usize, seeds: &[Vec<u8>], probe: fn(&[u8])) {
    if let Some(seconds) = number_in("FUZZ_SECONDS") {
        long_storm(seconds, seeds, probe);
        return;
    }
    let mut chance = Chance(seed);
    for input in seeds {
        probe(input);
        for cut in 0..input.len().min(300) {
            probe(&input[..cut]);
        }
    }
    for _ in 0..rounds {
        let at = chance.below(seeds.len());
        probe(&mutate(&mut chance, &seeds[at]));
    }
}

fn number_in(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// Inputs grow from one another: what survived a mutation is mutated again, or gets the end of another.
fn long_storm(seconds: u64, seeds: &[Vec<u8>], probe: fn(&[u8])) {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = number_in("FUZZ_SEED").unwrap_or(since_epoch.as_nanos() as u64 | 1);
    eprintln!("{}: FUZZ_SEED={seed}", std::thread::current().name().unwrap_or("storm"));
    let mut chance = Chance(seed);
    let mut pool = seeds.to_vec();
    let ends = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut tried = 0u64;
    while std::time::Instant::now() < ends {
        for _ in 0..1000 {
            let at = chance.below(pool.len());
            let mut input = mutate(&mut chance, &pool[at]);
            if chance.below(8) == 0 {
                let other = &pool[chance.below(pool.len())];
                input.truncate(chance.below(input.len() + 1));
                input.extend_from_slice(&other[chance.below(other.len() + 1)..]);
            }
            probe(&input);
            tried += 1;
            if chance.below(16) == 0 && input.len() < 1 << 14 {
                if pool.len() < 200 {
                    pool.push(input);
                } else {
                    let slot = seeds.len() + chance.below(pool.len() - seeds.len());
                    pool[slot] = input;
                }
            }
        }
    }
    eprintln!("{}: {tried} inputs", std::thread::current().name().unwrap_or("storm"));
}

fn batches() -> Vec<Vec<u8>> {
    (0..5)
        .map(|codec| {
            let mut builder = BatchBuilder::default();
            for at in 0..5i64 {
                let key = [b'k'; 3];
                builder.begin_record(
                    at as i32,
                    1_000 * at,
                    (at % 2 == 0).then_some(&key),
                    Some(b"value value value"),
                    1,
                );
                builder.header(b"h", (at > 2).then_some(b"x".as_slice()));
                builder.end_record();
            }
            builder.finish(&BatchFields { codec, ..BatchFields::default() }).unwrap()
        })
        .collect()
}

fn produce_requests() -> Vec<Vec<u8>> {
    let mut requests = Vec::new();
    for batch in batches() {
        let mut old = vec![0, 1, b't', 0, 1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 2, b'a', b'b', 0, 0, 0, 1, 0, 0, 0, 0];
        old.extend_from_slice(&(batch.len() as u32).to_be_bytes());
        old.extend_from_slice(&batch);
        requests.push(old);
        for name in [&[3, b'a', b'b'][..], &[7; 16]] {
            let mut flexible = vec![0, 0, 1, 0, 0, 0, 9, 2];
            flexible.extend_from_slice(name);
            flexible.extend_from_slice(&[2, 0, 0, 0, 0]);
            let size = batch.len() as u32 + 1;
            flexible.extend_from_slice(&[size as u8 | 0x80, (size >> 7) as u8]);
            flexible.extend_from_slice(&batch);
            flexible.extend_from_slice(&[0, 1, 5, 2, 0, 0, 0]);
            requests.push(flexible);
        }
    }
    requests
}

#[test]
fn a_cursor_stays_inside() {
    let seeds = vec![(0..=255).collect(), vec![0xff; 40], vec![0x80; 40]];
    storm(1, 300_000, &seeds, probes::cursor);
}

#[test]
fn batch_scans_survive_any_bytes() {
    let batches = batches();
    storm(2, 200_000, &[batches.concat(), batches[0].clone()], probes::scan_batches);
}

#[test]
fn batch_checks_survive_any_bytes() {
    storm(3, 200_000, &batches(), probes::check_batch);
}

#[test]
fn batch_checks_survive_any_bytes_under_a_right_checksum() {
    storm(4, 300_000, &batches(), probes::check_sealed_batch);
}

#[test]
fn produce_requests_survive_any_bytes() {
    storm(5, 200_000, &produce_requests(), probes::parse_produce);
}

#[test]
fn request_splitting_survives_any_bytes() {
    let plain = [0, 0, 0, 13, 0, 3, 0, 1, 0, 0, 0, 7, 0, 3, b'c', b'l', b'i'];
    let flexible = [0, 0, 0, 17, 0, 3, 0, 9, 0, 0, 0, 7, 0, 2, b'c', b'l', 1, 4, 2, 9, 9];
    storm(6, 300_000, &[[&plain[..], &flexible, &plain].concat(), flexible.to_vec()], probes::kafka_split);
}

#[test]
fn frame_scans_survive_any_bytes() {
    let mut stored = Vec::new();
    for payload in [&b"one"[..], b"and two", &[0; 100]] {
        assert!(frames::push_frame(&mut stored, payload));
    }
    storm(7, 300_000, &[stored], probes::scan_frames);
}

#[test]
fn inflating_survives_any_bytes() {
    let plain: Vec<u8> = (0..300u32).flat_map(|at| (at / 7).to_be_bytes()).collect();
    let mut seeds: Vec<_> = (1..5).map(|codec| compress::deflate(codec, &plain).unwrap()).collect();
    seeds.push(snap::raw::Encoder::new().compress_vec(&plain).unwrap());
    storm(8, 60_000, &seeds, probes::inflate);
}

#[test]
fn compaction_survives_any_bytes_under_a_right_checksum() {
    storm(12, 200_000, &batches(), probes::compact_any);
}

#[test]
fn compaction_keeps_what_a_plain_model_keeps() {
    let mut chance = Chance(13);
    for _ in 0..8_000 {
        let story: Vec<u8> = (0..chance.below(200)).map(|_| chance.below(256) as u8).collect();
        probes::compact_story(&story);
    }
}

fn amqp_stream() -> Vec<u8> {
    let publish = b"\x01\0\x01\0\0\0\x0b\0\x3c\0\x28\0\0\x01e\x01k\0\xce";
    let header = b"\x02\0\x01\0\0\0\x0f\0\x3c\0\0\0\0\0\0\0\0\0\x04\x10\0\x02\xce";
    let body = b"\x03\0\x01\0\0\0\x04body\xce";
    let table = b"\x02\0\x01\0\0\0\x1f\0\x3c\0\0\0\0\0\0\0\0\0\x08\x28\0\0\0\0\x0c\x01aF\0\0\0\x04\x02CCV\x05\xce";
    let half = b"\x03\0\x01\0\0\0\x04half\xce";
    let ack = b"\x01\0\x01\0\0\0\x0d\0\x3c\0\x50\0\0\0\0\0\0\0\x01\0\xce";
    let open = b"\x01\0\x02\0\0\0\x05\0\x14\0\x0a\0\xce";
    let heartbeat = b"\x08\0\0\0\0\0\0\xce";
    let parts: [&[u8]; 14] =
        [publish, header, body, publish, header, body, ack, open, publish, table, half, heartbeat, half, ack];
    parts.concat()
}

#[test]
fn amqp_streams_survive_any_bytes_and_any_pieces() {
    let stream = amqp_stream();
    let publishes = stream[..2 * 55].to_vec();
    storm(9, 200_000, &[stream, publishes], probes::amqp_parse);
}

#[test]
fn amqp_properties_survive_any_bytes() {
    let mut all = b"\xff\xfc\x01a\x01b\0\0\0\x13\x01aF\0\0\0\x04\x02CCV\x01bA\0\0\0\x01V".to_vec();
    all.extend_from_slice(b"\x02\x07\x01c\x01r\x0260\x01m\0\0\0\0\0\0\0\x01\x01t\x01u\x01i\x01c");
    assert!(twinlog_kernel::amqp::content::read_properties(&all).is_ok());
    storm(10, 300_000, &[all, vec![0, 0]], probes::amqp_properties);
}

#[test]
fn amqp_deliveries_survive_any_run() {
    let mut out = Vec::new();
    let mut writer = RunWriter::begin(&mut out, b"exchange", b"key", 0);
    for body in [&b"one"[..], b"", &[7; 5000]] {
        writer.push(&mut out, &[0, 0], body);
    }
    writer.finish(&mut out);
    storm(11, 100_000, &[out], probes::amqp_deliver);
}

/// A run whose messages have properties of every kind that records can hold.
fn run_with_properties() -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = RunWriter::begin(&mut out, b"exchange", b"key", 0);
    let table = b"\x20\0\0\0\0\x13\x01aF\0\0\0\x04\x02CCV\x01bA\0\0\0\x01V";
    let all = b"\xff\xfc\x01a\x01b\0\0\0\0\x02\x07\x01c\x01r\x0260\x01m\0\0\0\0\0\0\0\x01\x01t\x01u\x01i\x01c";
    for properties in [&[0, 0][..], table, all] {
        for body in [&b"body"[..], b""] {
            writer.push(&mut out, properties, body);
        }
    }
    writer.finish(&mut out);
    out
}

#[test]
fn columns_survive_any_answer() {
    storm(14, 100_000, &[batches().concat(), batches()[0].clone()], probes::columns);
}

#[test]
fn streams_survive_any_log() {
    let mut seeds = batches();
    let how = Making { queue: "queue", now_ms: 1_000, size_max: 1 << 14, codec: 0 };
    seeds.extend(batches_of(&run_with_properties(), &how).unwrap().0.into_iter().map(|made| made.bytes));
    storm(15, 100_000, &seeds, probes::records_to_runs);
}

#[test]
fn streams_survive_any_run() {
    storm(16, 100_000, &[run_with_properties()], probes::runs_to_records);
}
