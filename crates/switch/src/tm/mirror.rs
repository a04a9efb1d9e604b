//! Mirror sessions and the buffer in which copies wait for the traffic manager.
//!
//! A copy is truncated to the session's length, takes entries of 240 bytes in the mirror buffer,
//! and is written to its session's queue in order, at a finite rate. A full buffer drops copies,
//! which only the counters show. Must not depend on the use of a copy.

use crate::config::{MirrorConfig, MirrorSession};
use crate::statistics::MirrorStatistics;
use crate::tm::queued_packet::{Requested, Tag};
use crate::tm::serializer::Serializer;
use sojourn_packet::{Bytes, Packet, Time};
use sojourn_packet::{Mirror, MirrorOverrides, PacketMetadata};
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Bytes of one entry of the mirror buffer.
const ENTRY_BYTES: u64 = 240;

/// A copy on its way to a queue.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub session: MirrorSession,
    pub packet: Packet,
    pub packet_metadata: PacketMetadata,
    pub tag: Tag,
    pub deflect_on_drop: bool,
    slot: usize,
    entries: u32,
}

/// All sessions and their buffer.
#[derive(Clone, Debug)]
pub(crate) struct MirrorBuffer {
    sessions: Vec<Session>,
    /// Index into `sessions` by session number, plus one.
    by_number: Vec<u16>,
    free_entries: u32,
    session_entries: u32,
    numbers: RangeInclusive<u16>,
    drain: Serializer,
    waiting: VecDeque<Copy>,
    pub statistics: MirrorStatistics,
}

#[derive(Clone, Copy, Debug)]
struct Session {
    config: MirrorSession,
    held: u32,
}

impl MirrorBuffer {
    pub fn new(config: &MirrorConfig) -> MirrorBuffer {
        let mut by_number = vec![0; usize::from(*config.numbers.end()) + 1];
        for (i, session) in config.sessions.iter().enumerate() {
            by_number[usize::from(session.id)] = i as u16 + 1;
        }
        let new = |config: &MirrorSession| Session { config: *config, held: 0 };
        MirrorBuffer {
            sessions: config.sessions.iter().map(new).collect(),
            by_number,
            free_entries: config.buffer_entries,
            session_entries: config.session_entries,
            numbers: config.numbers.clone(),
            drain: Serializer::new(config.rate),
            waiting: VecDeque::new(),
            statistics: MirrorStatistics::default(),
        }
    }

    /// The numbers that a session may have.
    pub fn numbers(&self) -> RangeInclusive<u16> {
        self.numbers.clone()
    }

    /// A session, if there is one with that number.
    pub fn session(&self, id: u16) -> Option<MirrorSession> {
        let place = self.by_number.get(usize::from(id)).copied().filter(|place| *place > 0)?;
        Some(self.sessions[usize::from(place) - 1].config)
    }

    /// Sets a session; copies that wait go where it pointed when they were made.
    pub fn set_session(&mut self, config: MirrorSession) {
        self.sessions.push(Session { config, held: 0 });
        self.by_number[usize::from(config.id)] = self.sessions.len() as u16;
    }

    /// Takes a session away; false if there was none.
    pub fn remove_session(&mut self, id: u16) -> bool {
        let slot = self.by_number.get_mut(usize::from(id));
        slot.is_some_and(|slot| std::mem::take(slot) != 0)
    }

    /// Takes a copy that a pass at `request_time` wants and that its deparser has written at `written`.
    /// Returns when it gets to its queue, or nothing if it is lost.
    pub fn request(&mut self, mirror: Mirror, request_time: Time, written: Time) -> Option<Time> {
        self.statistics.requested += 1;
        let Some(slot) = self.serving(&mirror) else {
            self.statistics.no_session += 1;
            return None;
        };
        let session = &mut self.sessions[slot];
        let mut packet = mirror.packet;
        if session.config.max_length > 0 {
            packet.truncate(Bytes(u64::from(session.config.max_length)));
        }
        let entries = packet.len().0.div_ceil(ENTRY_BYTES).max(1) as u32;
        let held = session.held.saturating_add(entries);
        if entries > self.free_entries || held > self.session_entries {
            self.statistics.buffer_drops += 1;
            return None;
        }
        session.held += entries;
        self.free_entries -= entries;
        let arrival = self.drain.occupy(written, packet.len());
        let tag = Tag {
            arrived_length: packet.len().0 as u32,
            mirror_requested: Requested::at(request_time),
            ..Tag::default()
        };
        let MirrorOverrides { port, queue, cos, deflect_on_drop } = mirror.overrides;
        let deflect_on_drop = deflect_on_drop.unwrap_or(false);
        let config = session.config;
        let session = MirrorSession {
            port: port.or(config.port),
            queue: queue.unwrap_or(config.queue),
            cos: cos.unwrap_or(config.cos),
            ..config
        };
        let packet_metadata = mirror.packet_metadata;
        self.waiting.push_back(Copy {
            session,
            packet,
            packet_metadata,
            tag,
            deflect_on_drop,
            slot,
            entries,
        });
        Some(arrival)
    }

    /// The copy whose arrival is due, oldest first.
    pub fn arrive(&mut self) -> Option<Copy> {
        let copy = self.waiting.pop_front()?;
        self.sessions[copy.slot].held -= copy.entries;
        self.free_entries += copy.entries;
        Some(copy)
    }

    /// Copies waiting.
    pub fn held(&self) -> usize {
        self.waiting.len()
    }

    fn serving(&self, mirror: &Mirror) -> Option<usize> {
        let index = *self.by_number.get(usize::from(mirror.session))?;
        let slot = usize::from(index.checked_sub(1)?);
        self.sessions[slot].config.direction.serves(mirror.direction).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SessionDirection;
    use sojourn_packet::Rate;
    use sojourn_packet::{MirrorDirection, PortId};

    fn buffer(max_length: u32) -> MirrorBuffer {
        let mut session = MirrorSession::egress(7, PortId(68), 0);
        session.max_length = max_length;
        let rate = Rate(8_000_000_000);
        MirrorBuffer::new(&MirrorConfig { sessions: vec![session], rate, ..Default::default() })
    }

    fn request(session: u16, length: u32) -> Mirror {
        Mirror {
            session,
            direction: MirrorDirection::Egress,
            packet: Packet { zeros: length, ..Packet::default() },
            header_len: 8,
            packet_metadata: PacketMetadata::default(),
            overrides: MirrorOverrides::default(),
        }
    }

    #[test]
    fn a_packet_can_choose_the_port_and_the_queue_of_its_copy() {
        let mut buffer = buffer(0);
        let overrides =
            MirrorOverrides { port: Some(PortId(3)), queue: Some(5), ..Default::default() };
        buffer.request(Mirror { overrides, ..request(7, 64) }, Time::ZERO, Time::ZERO);
        buffer.request(request(7, 64), Time::ZERO, Time::ZERO);
        let place = |copy: Copy| (copy.session.port, copy.session.queue);
        assert_eq!(buffer.arrive().map(place), Some((Some(PortId(3)), 5)));
        assert_eq!(buffer.arrive().map(place), Some((Some(PortId(68)), 0)));
    }

    #[test]
    fn a_copy_is_cut_to_the_sessions_length() {
        let mut buffer = buffer(100);
        // 100 bytes at one byte per nanosecond.
        assert_eq!(buffer.request(request(7, 1514), Time(5), Time(10)), Some(Time(110)));
        assert_eq!(buffer.arrive().unwrap().packet.len(), Bytes(100));
    }

    #[test]
    fn length_zero_means_no_truncation() {
        let mut buffer = buffer(0);
        buffer.request(request(7, 1514), Time(0), Time(0));
        assert_eq!(buffer.arrive().unwrap().packet.len(), Bytes(1514));
    }

    #[test]
    fn a_session_loses_what_exceeds_its_56_entries_and_recovers() {
        let mut buffer = buffer(0);
        // 1514 bytes are seven entries: eight copies fill the session's part.
        for _ in 0..8 {
            assert!(buffer.request(request(7, 1514), Time(0), Time(0)).is_some());
        }
        assert!(buffer.request(request(7, 64), Time(0), Time(0)).is_none());
        assert_eq!((buffer.statistics.buffer_drops, buffer.held()), (1, 8));
        buffer.arrive();
        assert!(buffer.request(request(7, 64), Time(0), Time(0)).is_some());
    }

    #[test]
    fn requests_without_a_session_are_counted_and_gone() {
        let mut buffer = buffer(0);
        let wrong_way = Mirror { direction: MirrorDirection::Ingress, ..request(7, 64) };
        for mirror in [request(8, 64), request(0, 64), request(5000, 64), wrong_way] {
            assert!(buffer.request(mirror, Time(0), Time(0)).is_none());
        }
        assert_eq!(buffer.statistics.no_session, 4);
        assert!(SessionDirection::Both.serves(MirrorDirection::Ingress));
    }
}
