//! What the parser says about a client's bytes.

use super::content::Concerns;
use std::ops::Range;

/// What runs of one parser have in common, owned.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
pub struct OwnedConcerns {
    pub flags: u8,
    pub priority: u8,
    pub expiration: Option<String>,
    pub user_id: Option<String>,
    pub reply_to: Option<String>,
}

impl OwnedConcerns {
    pub fn of(concerns: &Concerns<'_>) -> Self {
        Self {
            flags: concerns.flags,
            priority: concerns.priority,
            expiration: concerns.expiration.map(str::to_owned),
            user_id: concerns.user_id.map(str::to_owned),
            reply_to: concerns.reply_to.map(str::to_owned),
        }
    }

    pub fn matches(&self, other: &Concerns<'_>) -> bool {
        self.flags == other.flags
            && self.priority == other.priority
            && self.expiration.as_deref() == other.expiration
            && self.user_id.as_deref() == other.user_id
            && self.reply_to.as_deref() == other.reply_to
    }

    pub fn is_plain(&self) -> bool {
        self.priority == 0 && self.expiration.is_none() && self.user_id.is_none() && self.reply_to.is_none()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct RunEvent {
    pub channel: u16,
    pub concerns: OwnedConcerns,
    pub count: u32,
    /// Where in the buffer of runs it lies.
    pub place: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct ErrorEvent {
    pub channel: u16,
    pub code: u16,
    pub text: &'static str,
    pub class: u16,
    pub method: u16,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    Run(RunEvent),
    /// Acks of single deliveries, low to high without a gap.
    Ack {
        channel: u16,
        low: u64,
        high: u64,
    },
    /// One ack of everything up to a tag.
    AckMultiple {
        channel: u16,
        tag: u64,
    },
    Method {
        channel: u16,
        class: u16,
        method: u16,
        arguments: &'a [u8],
    },
    Heartbeat,
    Error(ErrorEvent),
}
