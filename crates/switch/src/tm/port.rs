//! Port: its queues, its shaper and its wire. It selects the next packet and its time.
//!
//! The port depends on scheduler, shaper and line. It must not depend on a packet's fate after its
//! turn.

use crate::config::{ConfigError, PortConfig};
use crate::discipline::Discipline;
use crate::statistics::Count;
use crate::tm::active_sharing::Drain;
use crate::tm::link_trace::Opportunities;
use crate::tm::nodes::Nodes;
use crate::tm::queue::Queue;
use crate::tm::queue_pacing::Pace;
use crate::tm::queued_packet::Queued;
use crate::tm::scheduler::{Band, MAX_QUEUES, QueueSet, Scheduler, Turn};
use crate::tm::serializer::Serializer;
use crate::tm::shaper::{ShaperConfig, TokenBucket, Unencodable};
use sojourn_packet::{Bytes, PortId, ShaperRegisters, Time};
use std::collections::VecDeque;

/// Possible action of a port at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Serve this queue now.
    Serve(Turn),
    /// Nothing before that instant.
    Wait(Time),
    /// Nothing until a packet comes.
    Idle,
}

/// A port of the switch.
#[derive(Debug)]
pub(crate) struct Port {
    pub id: PortId,
    pub queues: Vec<Queue>,
    /// Queues with packets.
    backlog: QueueSet,
    /// Shaper, pace and wire let nothing go before that instant, whatever comes to the queues, and then
    /// something as soon as it is there; zero if it is to be found out, which a packet that goes makes so.
    held_until: Time,
    scheduler: Scheduler,
    /// Scheduling between queues and port, if it was ever set.
    pub nodes: Option<Box<Nodes>>,
    /// There is one queue, and nothing of its own holds it back: whenever the port may send, it is
    /// its turn.
    single: bool,
    /// Besides, there is neither shaper nor pace, capture, recirculation nor management.
    plain: bool,
    pub shaper: Option<TokenBucket>,
    pace: Pace,
    /// Opportunities of a recorded trace, if there is one.
    opportunities: Option<Box<Opportunities>>,
    line: Serializer,
    /// Bytes that shapers add to a packet's length.
    compensation: u32,
    pub recirculation: Option<Time>,
    /// Recirculated packets on their way back to ingress.
    pub returning: VecDeque<sojourn_packet::Packet>,
    pub observed: bool,
    pub capture: bool,
    /// The place of the port by which everything leaves that comes in by this one, if there is one.
    pub peer: Option<u16>,
    /// The timer that is set for this port.
    pub wake: Option<Time>,
    pub received: Count,
    pub sent: Count,
    /// Parts of its queues, if active buffer management needs them.
    drain: Option<Box<Drain>>,
}

impl Port {
    /// A port whose queues have the disciplines given, or drop from the tail.
    pub fn new(
        config: &PortConfig,
        mut disciplines: impl FnMut(u8) -> Option<Box<dyn Discipline>>,
        shapers: ShaperRegisters,
        compensation: u32,
    ) -> Result<Port, ConfigError> {
        Port::check(config)?;
        let refused = |unencodable| refused(config.id, unencodable);
        let make =
            |(number, queue): (u8, &_)| Queue::new(number, queue, disciplines(number), shapers);
        let queues = (0..)
            .zip(&config.queues)
            .map(make)
            .map(|made| made.map_err(refused))
            .collect::<Result<Vec<_>, _>>()?;
        let shaper = config.shaper.as_ref().map(|s| TokenBucket::new(s, shapers));
        let ranks: Vec<_> =
            config.queues.iter().map(|q| (q.min_priority, q.priority, q.weight)).collect();
        let mut port = Port {
            id: config.id,
            queues,
            backlog: 0,
            held_until: Time::ZERO,
            scheduler: Scheduler::new(&ranks),
            nodes: None,
            single: false,
            plain: false,
            shaper: shaper.transpose().map_err(refused)?,
            pace: Pace::new(config.packet_pace, None),
            opportunities: config.trace.clone().map(|trace| Box::new(Opportunities::new(trace))),
            line: Serializer::new(config.speed),
            compensation,
            recirculation: config.recirculation,
            returning: VecDeque::new(),
            observed: config.observed,
            capture: config.capture,
            peer: None,
            wake: None,
            received: Count::default(),
            sent: Count::default(),
            drain: None,
        };
        let is_active = config.queues.iter().any(|queue| queue.active);
        port.drain = (is_active && config.queues.len() > 1)
            .then(|| Box::new(Drain::new(config.queues.len())));
        port.update_fast_path();
        Ok(port)
    }

    /// Looks what is to be decided here; to be called after each change of what holds packets back.
    pub fn update_fast_path(&mut self) {
        let alone = match &self.queues[..] {
            [queue] if self.nodes.is_none() => {
                (queue.is_unshaped() && !queue.is_paused()).then_some(queue)
            }
            _ => None,
        };
        self.single = alone.is_some() && self.scheduler.serves_first();
        self.plain = self.single
            && alone.is_some_and(|queue| !queue.managed)
            && self.shaper.is_none()
            && self.pace.is_none()
            && self.opportunities.is_none()
            && self.recirculation.is_none()
            && !self.capture;
        self.held_until = Time::ZERO;
    }

    /// A queue has sent a packet of so many bytes.
    #[inline]
    pub fn note_drain(&mut self, queue: usize, bytes: u32) {
        if let Some(drain) = &mut self.drain {
            drain.sent(queue, bytes, self.queues.iter_mut().map(|queue| &mut queue.share));
        }
    }

    /// True if a discipline here may mark packets.
    pub fn marks(&self) -> bool {
        self.queues.iter().any(|queue| queue.discipline.marks())
    }

    /// True if a packet that comes now, and for which nothing but a port was chosen, is sent at once.
    #[inline]
    pub fn is_free(&self, now: Time) -> bool {
        self.plain && self.backlog == 0 && self.line.ready() <= now
    }

    /// Holds the wire for a frame and the gap behind it; when the frame is through.
    #[inline]
    pub fn hold_wire(&mut self, now: Time, frame: Bytes) -> Time {
        self.held_until = Time::ZERO;
        let through = self.line.occupy_frame(now, frame);
        match &mut self.opportunities {
            None => through,
            Some(opportunities) => {
                opportunities.charge(now, frame.0 as u32);
                through.max(opportunities.passed())
            }
        }
    }

    /// True if nothing can be sent now, and the timer is set for when something can.
    #[inline]
    pub fn waits(&self, now: Time) -> bool {
        self.held_until > now && self.wake.is_some_and(|set| set <= self.held_until)
    }

    fn check(config: &PortConfig) -> Result<(), ConfigError> {
        if config.speed.0 == 0 || config.packet_pace == Some(0) {
            return Err(ConfigError::ZeroSpeed(config.id));
        }
        let count = config.queues.len();
        if count == 0 || count > MAX_QUEUES {
            return Err(ConfigError::QueueCount { port: config.id, count });
        }
        config.queues.iter().enumerate().try_for_each(|(i, q)| Queue::check(config.id, i, q))
    }

    /// Replaces or removes the shaper from `now` on; the debt of the old one remains.
    pub fn reshape(
        &mut self,
        now: Time,
        shaper: Option<&ShaperConfig>,
        shapers: ShaperRegisters,
    ) -> Result<(), ConfigError> {
        let fresh = shaper.map(|s| TokenBucket::new(s, shapers)).transpose();
        let mut fresh = fresh.map_err(|unencodable| refused(self.id, unencodable))?;
        if let (Some(old), Some(fresh)) = (&mut self.shaper, &mut fresh) {
            fresh.take_over(now, old);
        }
        self.shaper = fresh;
        self.update_fast_path();
        Ok(())
    }

    /// A shaper with its state, or none.
    pub fn set_shaper(&mut self, shaper: Option<TokenBucket>) {
        self.shaper = shaper;
        self.update_fast_path();
    }

    /// Another pace of a queue.
    pub fn repace(&mut self, queue: usize, pace: Pace) {
        self.queues[queue].pace = pace;
        self.update_fast_path();
    }

    /// Weight of a queue among those of its priority.
    pub fn weight(&self, queue: usize) -> u16 {
        self.scheduler.weight(queue)
    }

    /// Changes a queue's weight.
    pub fn reweigh(&mut self, queue: usize, weight: u16) {
        self.scheduler.set_weight(queue, weight);
        if let Some(nodes) = &mut self.nodes {
            nodes.reweigh(queue, weight);
        }
        self.update_fast_path();
    }

    /// Strict priority of a queue.
    pub fn level(&self, queue: usize) -> u8 {
        self.scheduler.level(queue)
    }

    /// Changes a queue's strict priority.
    pub fn set_level(&mut self, queue: usize, level: u8) {
        self.scheduler.set_level(queue, level);
        if let Some(nodes) = &mut self.nodes {
            nodes.set_level(queue, level);
        }
    }

    /// The nodes of the port, to be changed; made now if there were none, `home` its own.
    pub fn nodes_from(&mut self, home: u8) -> (&mut Nodes, &Scheduler) {
        let (count, scheduler) = (self.queues.len(), &self.scheduler);
        let made = || Box::new(Nodes::new(home, count, scheduler));
        (self.nodes.get_or_insert_with(made), scheduler)
    }

    /// Advanced flow control pauses or resumes a queue.
    pub fn pause(&mut self, queue: usize, paused: bool) {
        self.queues[queue].paused = paused;
        self.update_fast_path();
    }

    /// The control plane pauses or resumes a queue.
    pub fn disable(&mut self, queue: usize, disabled: bool) {
        self.queues[queue].disabled = disabled;
        self.update_fast_path();
    }

    /// Notes whether a queue has packets; to be called after each change.
    #[inline]
    pub fn note_backlog(&mut self, queue: usize) {
        if self.queues[queue].is_empty() {
            self.backlog &= !(1 << queue);
        } else {
            self.backlog |= 1 << queue;
        }
    }

    /// The action that is possible now.
    #[inline]
    pub fn decide(&mut self, now: Time) -> Decision {
        if self.backlog == 0 {
            return Decision::Idle;
        }
        // A port that had nothing to send has missed what its trace would have let through.
        if self.held_until == Time::ZERO || (self.opportunities.is_some() && self.held_until < now)
        {
            let shaped = self.shaper.as_mut().map_or(Time::ZERO, |s| s.ready(now));
            let held = shaped.max(self.pace.ready());
            self.held_until = match &mut self.opportunities {
                None => held.max(self.line.ready()),
                // Packets of one opportunity queue up at the line.
                Some(opportunities) => held.max(opportunities.ready(now)),
            };
        }
        if self.held_until > now {
            return Decision::Wait(self.held_until);
        }
        if self.single {
            return Decision::Serve(Turn { queue: 0, band: Band::Remaining, node: None });
        }
        self.choose(now)
    }

    /// The next queue, once the port may send.
    fn choose(&mut self, now: Time) -> Decision {
        let (mut guaranteed, mut remaining, mut soonest) = (0, 0, Time::MAX);
        let mut left = self.backlog;
        while left != 0 {
            let (bit, queue) = (left & left.wrapping_neg(), left.trailing_zeros() as usize);
            left &= left - 1;
            let queue = &mut self.queues[queue];
            if queue.is_paused() {
                continue;
            }
            let shaped = queue.max_shaper.as_mut().map_or(now, |s| s.ready(now));
            let ready = shaped.max(queue.pace.ready());
            if ready > now {
                soonest = soonest.min(ready);
                continue;
            }
            remaining |= bit;
            if queue.min_shaper.as_mut().is_some_and(|s| s.ready(now) == now) {
                guaranteed |= bit;
            }
        }
        let picked = match &mut self.nodes {
            None => self.scheduler.pick(guaranteed, remaining),
            Some(nodes) => match nodes.pick(now, guaranteed, remaining) {
                Ok(turn) => Some(turn),
                Err(ready) => {
                    soonest = soonest.min(ready);
                    None
                }
            },
        };
        match picked {
            Some(turn) => Decision::Serve(turn),
            None if soonest < Time::MAX => Decision::Wait(soonest),
            None => Decision::Idle,
        }
    }

    /// A packet was taken from the queue of that turn: pays for it.
    #[inline]
    pub fn charge(&mut self, now: Time, turn: Turn, packet: &Queued) {
        let length = packet.length();
        self.held_until = Time::ZERO;
        if !self.single {
            return self.charge_all(now, turn, length);
        }
        let shaped = length + self.compensation;
        if let Some(bucket) = &mut self.shaper {
            bucket.charge(now, shaped);
        }
        self.pace.charge(now, shaped);
    }

    /// The same where there are several queues, or one that is held back.
    fn charge_all(&mut self, now: Time, turn: Turn, length: u32) {
        let shaped = length + self.compensation;
        let queue = &mut self.queues[turn.queue];
        let min = queue.min_shaper.as_mut().filter(|_| turn.band == Band::Guaranteed);
        for bucket in [self.shaper.as_mut(), queue.max_shaper.as_mut(), min].into_iter().flatten() {
            bucket.charge(now, shaped);
        }
        queue.pace.charge(now, shaped);
        self.pace.charge(now, shaped);
        let empty = queue.is_empty();
        let Some(nodes) = &mut self.nodes else {
            return self.scheduler.served(turn, length, empty);
        };
        let backlog = if empty { self.backlog & !(1 << turn.queue) } else { self.backlog };
        nodes.served(now, turn, length, shaped, backlog);
    }
}

fn refused(port: PortId, Unencodable { what, value, allowed }: Unencodable) -> ConfigError {
    ConfigError::Shaper { port, what, value, allowed }
}
