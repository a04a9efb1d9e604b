//! Delay line: holds frames on their way to or from the switch, to emulate a link's delay and rate.
//!
//! A class of destinations has one delay, and its frames stay in order. All classes share the
//! link's rate, if it has one. The number of held frames is bounded. The module must not depend on
//! the reason for a delay.

use crate::LiveError;
use crate::flow_ids::FlowKey;
use sojourn_packet::{FlowId, Packet, Rate, Time};
use sojourn_switch::tm::serializer::Serializer;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::str::FromStr;

/// Maximum number of frames in one class; further ones are dropped and counted.
const MOST: usize = 1 << 18;
/// Maximum number of flows whose class is cached.
const REMEMBERED: usize = 1 << 16;

/// Address prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// True if the address has this prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        let differ = |bits: u32, of: u128| of.checked_shr(bits - u32::from(self.length));
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                differ(32, u128::from(own.to_bits() ^ other.to_bits())).is_none_or(|left| left == 0)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                differ(128, own.to_bits() ^ other.to_bits()).is_none_or(|left| left == 0)
            }
            _ => false,
        }
    }
}

impl FromStr for Prefix {
    type Err = LiveError;

    /// `10.0.0.0/9`, `fd00::/64`.
    fn from_str(text: &str) -> Result<Prefix, LiveError> {
        let wrong = || LiveError::Prefix(text.to_owned());
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length = length.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if length > most { Err(wrong()) } else { Ok(Prefix { address, length }) }
    }
}

/// Destinations with a delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayClass {
    /// Delay of their frames.
    pub delay: Time,
    /// Destination prefixes of the class.
    pub prefixes: Vec<Prefix>,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Rate of the direction; not zero. Frames without a class are not subject to it.
    pub rate: Option<Rate>,
    /// Delay classes of frames; the first class that contains the destination applies.
    pub classes: Vec<DelayClass>,
}

#[derive(Debug)]
struct ClassQueue {
    class: DelayClass,
    frames: VecDeque<(Time, Packet)>,
    /// Due time of the last frame: no later frame may overtake it.
    last: Time,
}

/// The delayed frames of one direction of a link.
///
/// ```
/// use sojourn_live::{DelayClass, DelayLine, Prefix, Way};
/// use sojourn_packet::{Packet, Time};
/// let far: Prefix = "10.1.0.0/16".parse()?;
/// assert!(far.contains("10.1.2.3".parse()?));
/// let class = DelayClass { delay: Time::from_millis(20), prefixes: vec![far] };
/// let mut line = DelayLine::new(Way { classes: vec![class], ..Way::default() });
/// let arp = Packet { bytes: vec![0; 60], ..Packet::default() };
/// assert!(line.hold(Time::ZERO, arp).is_some(), "it goes nowhere far");
/// assert_eq!(line.next(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DelayLine {
    line: Option<Serializer>,
    classes: Vec<ClassQueue>,
    /// The class of each flow, once determined.
    class_by_flow: Vec<Option<Option<usize>>>,
    /// Frames dropped because the line was full.
    pub dropped: u64,
}

impl DelayLine {
    /// Creates an empty line.
    pub fn new(way: Way) -> DelayLine {
        let queue = |class| ClassQueue { class, frames: VecDeque::new(), last: Time::ZERO };
        let classes = way.classes.into_iter().map(queue).collect();
        DelayLine {
            line: way.rate.map(Serializer::new),
            classes,
            class_by_flow: Vec::new(),
            dropped: 0,
        }
    }

    /// Sets the delay of a class, for later frames.
    pub fn set(&mut self, class: usize, delay: Time) {
        if let Some(queue) = self.classes.get_mut(class) {
            queue.class.delay = delay;
        }
    }

    /// Sets the rate, for later frames; not zero.
    pub fn set_rate(&mut self, rate: Rate) {
        match &mut self.line {
            Some(line) => line.set_rate(rate),
            None => self.line = Some(Serializer::new(rate)),
        }
    }

    /// Delays a frame that arrived at `now`; returns it if it has no delay.
    pub fn hold(&mut self, now: Time, frame: Packet) -> Option<Packet> {
        let Some(class) = self.class_of(&frame) else { return Some(frame) };
        let queue = &mut self.classes[class];
        if queue.frames.len() >= MOST {
            self.dropped += 1;
            return None;
        }
        let through = self.line.as_mut().map_or(now, |line| line.occupy_frame(now, frame.len()));
        let due = (through + queue.class.delay).max(queue.last);
        queue.last = due;
        queue.frames.push_back((due, frame));
        None
    }

    /// Due time of the next frame.
    pub fn next(&self) -> Option<Time> {
        self.first().map(|(_, due)| due)
    }

    /// The next frame that is due at `now`.
    pub fn due(&mut self, now: Time) -> Option<Packet> {
        let (class, _) = self.first().filter(|&(_, due)| due <= now)?;
        self.classes[class].frames.pop_front().map(|(_, frame)| frame)
    }

    fn first(&self) -> Option<(usize, Time)> {
        let front = |queue: &ClassQueue| queue.frames.front().map(|&(due, _)| due);
        let fronts = self.classes.iter().enumerate();
        fronts.filter_map(|(at, queue)| Some((at, front(queue)?))).min_by_key(|&(_, due)| due)
    }

    fn class_of(&mut self, frame: &Packet) -> Option<usize> {
        if self.classes.is_empty() || frame.flow == FlowId(0) {
            return None;
        }
        let flow = frame.flow.0 as usize;
        if let Some(Some(class_by_flow)) = self.class_by_flow.get(flow) {
            return *class_by_flow;
        }
        let to = FlowKey::new(frame)?.destination();
        let has =
            |queue: &ClassQueue| queue.class.prefixes.iter().any(|prefix| prefix.contains(to));
        let found = self.classes.iter().position(has);
        if flow <= REMEMBERED {
            if self.class_by_flow.len() <= flow {
                self.class_by_flow.resize(flow + 1, None);
            }
            self.class_by_flow[flow] = Some(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_ids::Flows;

    fn udp(flows: &mut Flows, to: [u8; 4]) -> Packet {
        let mut bytes = vec![0; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
        bytes.extend([10, 128, 0, 1]);
        bytes.extend(to);
        bytes.extend([0, 1, 0, 53]);
        let mut packet = Packet { bytes, ..Packet::default() };
        packet.flow = flows.number(&packet);
        packet
    }

    fn line(classes: Vec<DelayClass>) -> DelayLine {
        DelayLine::new(Way { rate: None, classes })
    }

    fn class(milliseconds: u64, prefix: &str) -> DelayClass {
        let prefixes = vec![prefix.parse().expect("a prefix")];
        DelayClass { delay: Time::from_millis(milliseconds), prefixes }
    }

    #[test]
    fn a_frame_comes_after_the_delay_of_the_class_that_its_destination_is_in() {
        let (mut flows, mut line) =
            (Flows::default(), line(vec![class(20, "10.0.0.1/32"), class(5, "10.0.0.2/31")]));
        for last in [1, 3, 2] {
            assert!(line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, last])).is_none());
        }
        assert!(line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, 9])).is_some(), "in no class");
        assert_eq!(line.next(), Some(Time::from_millis(5)));
        assert!(line.due(Time(4_999_999)).is_none());
        let mut seen = Vec::new();
        while let Some(due) = line.next() {
            let frame = line.due(due).expect("due");
            seen.push((due.0 / 1_000_000, frame.bytes[33]));
        }
        assert_eq!(seen, [(5, 3), (5, 2), (20, 1)]);
    }

    #[test]
    fn a_shorter_delay_does_not_reorder_frames() {
        let mut flows = Flows::default();
        let mut line = line(vec![class(10, "10.0.0.0/8")]);
        line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, 1]));
        line.set(0, Time::from_millis(1));
        line.hold(Time(1), udp(&mut flows, [10, 0, 0, 2]));
        let order = [line.due(Time::from_millis(10)), line.due(Time::from_millis(10))];
        assert_eq!(order.map(|frame| frame.expect("due").bytes[33]), [1, 2]);
    }

    #[test]
    fn frames_of_all_classes_follow_each_other_at_the_rate_of_the_link() {
        let mut flows = Flows::default();
        let classes = vec![class(10, "10.0.0.1/32"), class(0, "10.0.0.2/32")];
        // The shortest frame takes 84 bytes on the wire, 12 of them the gap behind it: 672 us at 1
        // Mbit/s.
        let mut line = DelayLine::new(Way { rate: Some(Rate(1_000_000)), classes });
        line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, 1]));
        line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, 2]));
        line.set_rate(Rate(2_000_000));
        line.hold(Time::ZERO, udp(&mut flows, [10, 0, 0, 2]));
        let mut seen = Vec::new();
        while let Some(due) = line.next() {
            line.due(due);
            seen.push(due.0 / 1_000);
        }
        assert_eq!(seen, [672 + 576, 2 * 672 + 576 / 2, 10_000 + 576]);
    }

    #[test]
    fn frames_that_are_not_ip_are_not_held() {
        let mut line = line(vec![class(10, "0.0.0.0/0")]);
        let arp = Packet { bytes: vec![0x08; 42], ..Packet::default() };
        assert!(line.hold(Time::ZERO, arp).is_some());
    }

    #[test]
    fn a_prefix_without_its_length_or_with_too_much_of_it_is_refused() {
        for text in ["10.0.0.1", "10.0.0.1/33", "fd00::/129", "ten/8", "10.0.0.1/-1"] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
        let all: Prefix = "::/0".parse().expect("a prefix");
        assert!(all.contains("fd00::1".parse().expect("an address")));
    }
}
