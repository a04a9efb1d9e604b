//! Digests for a controller: collected into lists, each message once until it is acknowledged.
//!
//! A state machine without transport or clock: its inputs are messages and acknowledgements with
//! their time, its outputs are lists. Source: P4Runtime 1.5, "DigestEntry".

use crate::wire::p4::v1::digest_entry::Config;
use sojourn_packet::Time;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Maximum number of unacknowledged messages of one digest.
const MOST: usize = 65_536;
/// Maximum number of messages in a list, unless the controller sets another.
const LIST: usize = 1_024;

/// A message: the bytes that the program wrote.
type Message = Box<[u8]>;

/// A list for the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The digest.
    pub digest: u32,
    /// The list's number.
    pub list: u64,
    /// Its messages.
    pub messages: Vec<Message>,
}

/// All digests of a program.
#[derive(Debug, Default)]
pub struct Digests {
    digests: BTreeMap<u32, DigestBatch>,
    last: u64,
}

#[derive(Debug, Default)]
struct DigestBatch {
    buffer: Vec<Message>,
    /// Time of the first message.
    first: Time,
    /// Messages in the buffer, and those sent.
    known: HashSet<Message>,
    /// Unacknowledged lists: number, time of sending, messages.
    sent: VecDeque<(u64, Time, Vec<Message>)>,
}

fn late(now: Time, since: Time, after: i64) -> bool {
    now.0.saturating_sub(since.0) >= after as u64
}

impl DigestBatch {
    /// Drops messages that were not acknowledged in time.
    fn forget(&mut self, config: &Config, now: Time) {
        while let Some((_, sent, _)) = self.sent.front()
            && late(now, *sent, config.ack_timeout_ns)
        {
            for message in self.sent.pop_front().map(|sent| sent.2).unwrap_or_default() {
                self.known.remove(&message);
            }
        }
    }
}

impl Digests {
    /// Adds a message of the program; returns a list if it is full.
    pub fn push(&mut self, id: u32, config: &Config, message: &[u8], now: Time) -> Option<List> {
        let gathered = self.digests.entry(id).or_default();
        gathered.forget(config, now);
        if gathered.known.len() >= MOST || gathered.known.contains(message) {
            return None;
        }
        if gathered.buffer.is_empty() {
            gathered.first = now;
        }
        gathered.buffer.push(message.into());
        gathered.known.insert(message.into());
        let most = usize::try_from(config.max_list_size).ok().filter(|most| *most > 0);
        let full = gathered.buffer.len() >= most.unwrap_or(LIST).min(LIST);
        (full || config.max_timeout_ns == 0).then(|| self.send(id, config, now)).flatten()
    }

    fn send(&mut self, id: u32, config: &Config, now: Time) -> Option<List> {
        let gathered = self.digests.get_mut(&id)?;
        if gathered.buffer.is_empty() {
            return None;
        }
        self.last += 1;
        let messages = std::mem::take(&mut gathered.buffer);
        if config.ack_timeout_ns > 0 {
            gathered.sent.push_back((self.last, now, messages.clone()));
        } else {
            gathered.known.clear();
        }
        Some(List { digest: id, list: self.last, messages })
    }

    /// Lists that are due. Also drops messages that were not acknowledged in time.
    pub fn due(&mut self, configs: &BTreeMap<u32, Config>, now: Time) -> Vec<List> {
        self.digests.retain(|id, _| configs.contains_key(id));
        let mut lists = Vec::new();
        for (id, config) in configs {
            let Some(gathered) = self.digests.get_mut(id) else { continue };
            gathered.forget(config, now);
            if late(now, gathered.first, config.max_timeout_ns) {
                lists.extend(self.send(*id, config, now));
            }
        }
        lists
    }

    /// Acknowledges a list.
    pub fn acknowledge(&mut self, id: u32, list: u64) {
        let Some(gathered) = self.digests.get_mut(&id) else { return };
        if let Some(at) = gathered.sent.iter().position(|(known, ..)| *known == list) {
            for message in gathered.sent.remove(at).map(|sent| sent.2).unwrap_or_default() {
                gathered.known.remove(&message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { max_timeout_ns: 100, max_list_size: 2, ack_timeout_ns: 1_000 };

    #[test]
    fn a_list_is_sent_when_it_is_full_or_its_first_message_is_old() {
        let (mut digests, configs) = (Digests::default(), BTreeMap::from([(7, CONFIG)]));
        assert_eq!(digests.push(7, &CONFIG, b"a", Time(0)), None);
        assert_eq!(digests.push(7, &CONFIG, b"a", Time(1)), None, "it is there already");
        let full = digests.push(7, &CONFIG, b"b", Time(2)).expect("two are a list");
        assert_eq!((full.list, full.messages.len()), (1, 2));
        assert_eq!(digests.push(7, &CONFIG, b"c", Time(50)), None);
        assert_eq!(digests.due(&configs, Time(149)), []);
        assert_eq!(digests.due(&configs, Time(150))[0].messages, [Box::from(*b"c")]);
        assert_eq!(digests.due(&configs, Time(300)), []);
    }

    #[test]
    fn a_digest_is_not_sent_again_until_it_is_acknowledged_or_expires() {
        let (mut digests, configs) = (Digests::default(), BTreeMap::from([(7, CONFIG)]));
        let push = |digests: &mut Digests, at| {
            digests.push(7, &CONFIG, b"a", Time(at));
            digests.due(&configs, Time(at + 100)).len()
        };
        assert_eq!(push(&mut digests, 0), 1);
        assert_eq!(push(&mut digests, 200), 0);
        digests.acknowledge(7, 1);
        assert_eq!(push(&mut digests, 400), 1);
        // Sent at 500, it is dropped a thousand later, and may then be sent again.
        assert_eq!(push(&mut digests, 1_300), 0);
        assert_eq!(push(&mut digests, 1_500), 1);
    }
}
