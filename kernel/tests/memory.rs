//! Hostile declarations must not make us allocate: an allocator that counts proves it.

#[allow(dead_code)]
mod probes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use twinlog_kernel::batch_build::{BatchBuilder, BatchFields};
use twinlog_kernel::{batch, check, compress, produce, split};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        System.dealloc(pointer, layout)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How much more than before `run` held at its worst moment.
fn peak_of(run: impl FnOnce()) -> usize {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    run();
    PEAK.load(Relaxed) - before
}

const MIB: usize = 1 << 20;

// One test, because others beside it would be counted too.
#[test]
fn declared_sizes_and_bombs_do_not_take_memory() {
    let mut builder = BatchBuilder::default();
    builder.begin_record(0, 0, None, Some(&vec![0; 64 * MIB]), 0);
    builder.end_record();
    let plain = builder.finish(&BatchFields::default()).unwrap();
    for codec in 1..5 {
        let packed = compress::deflate(codec, &plain[61..]).unwrap();
        assert!(compress::with_inflated(codec, &packed, 128 * MIB, <[u8]>::len).is_ok());
        let peak = peak_of(|| {
            let outcome = compress::with_inflated(codec, &packed, MIB, <[u8]>::len);
            assert_eq!(outcome, Err(compress::InflateError::TooLarge));
        });
        assert!(peak <= 3 * MIB, "codec {codec} took {peak} bytes for a bound of one MiB");
        let mut bomb = [&plain[..61], &packed].concat();
        bomb[22] = codec;
        assert!(probes::seal(&mut bomb));
        let peak = peak_of(|| assert_eq!(check::check(&bomb, MIB).unwrap_err().fault, batch::Fault::TooLarge));
        assert!(peak <= 3 * MIB);
    }

    let lies: [&[u8]; 4] = [
        b"\xff\xff\xff\xff\0\0\x75\x30\x7f\xff\xff\xff",
        b"\0\xff\xff\0\0\0\0\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\0\0\x75\x30\0\0\0\x01\x7f\xff",
        b"\xff\xff\xff\xff\0\0\x75\x30\0\0\0\x01\0\x01t\0\0\0\x01\0\0\0\0\x7f\xff\xff\xff",
    ];
    for lie in lies {
        for version in 3..14 {
            let peak = peak_of(|| assert!(produce::parse(lie, 0, lie.len(), version, MIB).is_err()));
            assert!(peak < 4096, "{peak}");
        }
    }
    let header = b"\0\0\0\x0e\0\x03\0\x09\0\0\0\x07\xff\xff\x80\xda\xc4\x09";
    let peak = peak_of(|| assert!(split::split(header, 0, header.len(), MIB, &[9; 4]).is_err()));
    assert!(peak < 4096, "{peak}");
}
