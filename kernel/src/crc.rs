//! CRC-32C (Castagnoli): Kafka's batches and our own frames both use it.

#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    ::crc32c::crc32c(bytes)
}
