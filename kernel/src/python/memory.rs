//! Settings of the C allocator.

use pyo3::prelude::*;

/// glibc maps and unmaps buffers over 128 KB on every use, so that each read faults all its pages again. These limits
/// keep such buffers in the heap, and still give back what a burst left behind.
#[pyfunction]
fn set_malloc_thresholds() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const MIB: libc::c_int = 1024 * 1024;
        // SAFETY: mallopt only sets two numbers of the allocator.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 16 * MIB);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 32 * MIB);
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_malloc_thresholds, module)?)
}
