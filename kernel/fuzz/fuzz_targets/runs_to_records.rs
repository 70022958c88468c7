#![no_main]

#[allow(dead_code)] // each target runs one of the probes
#[path = "../../tests/probes/mod.rs"]
mod probes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| probes::runs_to_records(bytes));
