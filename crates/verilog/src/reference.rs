//! Native CoDel and FQ-CoDel with the control law of `hardware/control_law.sv`, as a reference for
//! modules where their ROM makes a difference (after 1023 drops in one drop state).
//!
//! Uses the native CoDel of the switch, except for INTERVAL / sqrt(count). The ROM's entries are
//! computed here from the module's parameters, by another method than in the module.

use crate::discipline::{PARAMETERS, same_in_all};
use sojourn_packet::{Bytes, Time};
use sojourn_switch::discipline::codel::{Params, State};
use sojourn_switch::discipline::{
    Backlog, Discipline, DisciplineError, Drops, QueueLength, Queued, Registered, Settings,
    fq_codel,
};

/// Registry entry. The `@` excludes it from the lists that users see.
pub(crate) static REFERENCE: Registered = Registered {
    name: "codel@rom",
    summary: "RFC 8289 CoDel with the control law of hardware/control_law.sv: a reference",
    parameters: PARAMETERS,
    build,
};

/// FQ-CoDel with this law in each of its flows.
pub(crate) static FQ_REFERENCE: Registered = Registered {
    name: "fq_codel@rom",
    summary: "RFC 8290 FQ-CoDel with the control law of hardware/control_law.sv: a reference",
    parameters: fq_codel::REGISTRATION.parameters,
    build: |settings| fq_codel::build_by(spacing, settings),
};

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let dut = same_in_all(settings)?;
    let params = Params {
        target: Time(dut.target.into()),
        interval: Time(dut.interval.into()),
        maxpacket: Bytes(dut.maxpacket.into()),
    };
    Ok(Box::new(Reference { params, state: State::default() }))
}

/// INTERVAL / sqrt(count) as in the module, with count = j * 4^k and j of ten bits: INTERVAL *
/// round(2^34 * 16 / sqrt(j)) / 2^(34 + k + 4), rounded, halves up.
fn spacing(interval: Time, count: u32) -> Time {
    let count = count.max(1);
    let pairs = count.leading_zeros() / 2;
    let j = (count << (2 * pairs)) >> 22;
    let doubled = ((1_u128 << 78) / u128::from(j)).isqrt();
    let entry = doubled.div_ceil(2).min((1 << 34) - 1);
    let product = u128::from(interval.0) * entry;
    let doubled = product >> 33 >> (15 - pairs);
    Time(doubled.div_ceil(2) as u64)
}

/// AQM for a queue that its caller stores.
#[derive(Debug)]
struct Reference {
    params: Params,
    state: State,
}

impl Discipline for Reference {
    fn enqueue(&mut self, _now: Time, packet: Queued, drops: &mut Drops) {
        drops.push(packet, sojourn_switch::discipline::DropKind::Tail);
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Queued> {
        None
    }

    fn length(&self) -> QueueLength {
        Backlog::default().length()
    }

    fn decides(&mut self, now: Time, sojourn: Time, backlog: Bytes, _: Bytes) -> Option<bool> {
        Some(self.state.drops_by(spacing, &self.params, now, sojourn, backlog))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_switch::discipline::codel;

    #[test]
    fn up_to_1023_it_is_the_nearest_nanosecond_and_beyond_at_most_a_512th_too_long() {
        let interval = Time::from_millis(100);
        for count in 1..1024 {
            assert_eq!(spacing(interval, count), codel::spacing(interval, count), "{count}");
        }
        for count in (1024..3_000_000).step_by(997).chain([u32::MAX]) {
            let (mine, exact) = (spacing(interval, count).0, codel::spacing(interval, count).0);
            assert!(exact <= mine && mine <= exact + exact / 512 + 1, "{count}: {mine} {exact}");
        }
    }
}
