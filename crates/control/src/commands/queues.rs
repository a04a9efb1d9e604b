//! Commands about the switch's ports and queues: rates, depths, interfaces.

use super::super::value_parser::{handle, index, small};
use super::super::{Operation, QueueSetting};
use super::session::{CommandError, Outcome, Session, one, take, these};

/// `set_queue_rate PACKETS_PER_SECOND [PORT [PRIORITY]]`
pub(super) fn rate(words: &[&str], _: &mut Session) -> Outcome {
    let (value, queues) = queues(words)?;
    let rate = Some(index(value, "packets per second", u64::MAX)?);
    one(Operation::SetQueue(QueueSetting { packets_per_second: rate, ..queues }))
}

/// `set_queue_bitrate BITS_PER_SECOND [PORT [PRIORITY]]`
pub(super) fn bitrate(words: &[&str], _: &mut Session) -> Outcome {
    let (value, queues) = queues(words)?;
    let rate = Some(index(value, "bits per second", u64::MAX)?);
    one(Operation::SetQueue(QueueSetting { bits_per_second: rate, ..queues }))
}

/// `set_queue_depth PACKETS [PORT [PRIORITY]]`
pub(super) fn depth(words: &[&str], _: &mut Session) -> Outcome {
    let (value, queues) = queues(words)?;
    let depth = Some(handle(value, "packets")?);
    one(Operation::SetQueue(QueueSetting { depth, ..queues }))
}

/// `pause_queue [PORT [PRIORITY]]`
pub(super) fn pause(words: &[&str], _: &mut Session) -> Outcome {
    one(Operation::SetQueue(QueueSetting { paused: Some(true), ..place(take(words, 0, 2)?)? }))
}

/// `resume_queue [PORT [PRIORITY]]`
pub(super) fn resume(words: &[&str], _: &mut Session) -> Outcome {
    one(Operation::SetQueue(QueueSetting { paused: Some(false), ..place(take(words, 0, 2)?)? }))
}

/// `port_add INTERFACE PORT`: a run has its ports already, and no interfaces.
pub(super) fn port_add(words: &[&str], _: &mut Session) -> Outcome {
    let [_, port] = these(words)?;
    small(port, "port")?;
    Ok(Vec::new())
}

/// The value, and the queues that it applies to.
fn queues<'t>(words: &[&'t str]) -> Result<(&'t str, QueueSetting), CommandError> {
    let words = take(words, 1, 3)?;
    Ok((words[0], place(&words[1..])?))
}

/// The queues at `[PORT [PRIORITY]]`, with nothing set.
fn place(words: &[&str]) -> Result<QueueSetting, CommandError> {
    let port = words.first().map(|port| small(port, "port")).transpose()?;
    let priority = words.get(1).map(|word| index(word, "priority", u8::MAX.into())).transpose()?;
    let priority = priority.map(|priority| priority as u8);
    Ok(QueueSetting { port, priority, ..QueueSetting::default() })
}
