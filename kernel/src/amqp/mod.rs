//! AMQP 0-9-1 on the hot path: frames to events, runs of publishes, deliveries.
//!
//! A *run* is one or more publishes that a broker may treat alike, kept as one block of bytes which already is the
//! record that goes to disk. See docs/formats/amqp-run.md.

pub mod content;
pub mod deliver;
pub mod events;
pub mod from_records;
mod gather;
pub mod mapping;
pub mod parser;
pub mod run;
pub mod to_records;

pub const FRAME_METHOD: u8 = 1;
pub const FRAME_HEADER: u8 = 2;
pub const FRAME_BODY: u8 = 3;
pub const FRAME_HEARTBEAT: u8 = 8;
pub const FRAME_END: u8 = 0xce;
/// Type, channel and size in front of a payload.
pub const FRAME_HEADER_SIZE: usize = 7;
/// What a frame has besides its payload.
pub const FRAME_EXTRA_SIZE: usize = FRAME_HEADER_SIZE + 1;
/// The smallest frame limit that peers may agree on.
pub const FRAME_MAX_MIN: usize = 4096;

pub const CLASS_CHANNEL: u16 = 20;
pub const METHOD_CHANNEL_CLOSE_OK: u16 = 41;
pub const CLASS_BASIC: u16 = 60;
pub const METHOD_BASIC_PUBLISH: u16 = 40;
pub const METHOD_BASIC_DELIVER: u16 = 60;
pub const METHOD_BASIC_ACK: u16 = 80;

/// Class, weight and body size in front of the properties in a content header.
pub const CONTENT_HEADER_SIZE: usize = 12;
