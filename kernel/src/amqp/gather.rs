//! Gathers publishes to runs and acks to ranges, without changing the order of what a client said.

use super::content::{read_properties, short_string, FLAG_COPIES, FLAG_DELAY, FLAG_IMMEDIATE, FLAG_MANDATORY};
use super::events::{Event, OwnedConcerns, RunEvent};
use super::run::RunWriter;
use crate::cursor::{utf8, Checked, Cursor, Malformed};

/// The run that further publishes may still join.
struct OpenRun {
    channel: u16,
    concerns: OwnedConcerns,
    writer: RunWriter,
}

/// Events of one call, and the ones that still grow.
pub struct Sink<'a, 'r> {
    events: Vec<Event<'a>>,
    runs: &'r mut Vec<u8>,
    run: Option<OpenRun>,
    ack: Option<(u16, u64, u64)>,
}

impl<'a, 'r> Sink<'a, 'r> {
    /// The bytes of runs are appended to `runs`.
    pub fn new(runs: &'r mut Vec<u8>) -> Self {
        Self { events: Vec::new(), runs, run: None, ack: None }
    }

    pub fn into_events(mut self) -> Vec<Event<'a>> {
        self.flush();
        self.events
    }

    pub fn flush(&mut self) {
        if let Some(run) = self.run.take() {
            let count = run.writer.count();
            let place = run.writer.finish(self.runs);
            self.events.push(Event::Run(RunEvent { channel: run.channel, concerns: run.concerns, count, place }));
        }
        if let Some((channel, low, high)) = self.ack.take() {
            self.events.push(Event::Ack { channel, low, high });
        }
    }

    pub fn push(&mut self, event: Event<'a>) {
        self.flush();
        self.events.push(event);
    }

    pub fn ack(&mut self, channel: u16, tag: u64) {
        match &mut self.ack {
            Some((same, _, high)) if *same == channel && high.checked_add(1) == Some(tag) => *high = tag,
            _ => {
                self.flush();
                self.ack = Some((channel, tag, tag));
            }
        }
    }

    #[inline(always)]
    pub fn publish(&mut self, channel: u16, target: &[u8], properties: &[u8], body: &[u8]) -> Checked<()> {
        let (exchange, key, bits) = read_target(target)?;
        let mut concerns = read_properties(properties)?;
        concerns.flags |= bits;
        if let Some(run) = &mut self.run {
            if run.channel == channel
                && concerns.flags & (FLAG_COPIES | FLAG_DELAY) == 0
                && run.concerns.matches(&concerns)
                && run.writer.is_for(self.runs, exchange, key)
                && !run.writer.is_full(self.runs)
            {
                run.writer.push(self.runs, properties, body);
                return Ok(());
            }
        }
        // Those that join the run have the same names, so once is enough.
        utf8(exchange)?;
        utf8(key)?;
        self.flush();
        let mut writer = RunWriter::begin(self.runs, exchange, key, concerns.flags);
        writer.push(self.runs, properties, body);
        self.run = Some(OpenRun { channel, concerns: OwnedConcerns::of(&concerns), writer });
        Ok(())
    }
}

/// Exchange, key and bits of a publish.
pub fn read_target(target: &[u8]) -> Checked<(&[u8], &[u8], u8)> {
    let mut cursor = Cursor::new(target);
    let exchange = short_string(&mut cursor)?;
    let key = short_string(&mut cursor)?;
    let bits = cursor.u8()?;
    if !cursor.is_at_end() || bits & !(FLAG_MANDATORY | FLAG_IMMEDIATE) != 0 {
        return Err(Malformed("the arguments of publish are malformed"));
    }
    Ok((exchange, key, bits))
}
