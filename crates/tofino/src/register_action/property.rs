//! Random register actions, as P4 text through the compiled instruction, against plain arithmetic.

use crate::testing::Parts;
use proptest::prelude::*;
use sojourn_packet::Packet;
use sojourn_packet::dataplane::{DataPlane, EgressInput};

/// A condition on the register `v` and the field `m.d`, with what it means.
type Condition = (&'static str, fn(u16, u16) -> bool);

const CONDITIONS: [Condition; 8] = [
    ("v == m.d", |v, d| v == d),
    ("v < m.d", |v, d| v < d),
    ("m.d <= v", |v, d| d <= v),
    ("m.d >= 100", |_, d| d >= 100),
    ("v != 3", |v, _| v != 3),
    ("v > m.d + 20", |v, d| i32::from(v) > i32::from(d) + 20),
    ("v + m.d > 500", |v, d| i32::from(v) + i32::from(d) > 500),
    ("m.d - v >= 7", |v, d| i32::from(d) - i32::from(v) >= 7),
];

/// A value for the register, with what it is.
type Value = (&'static str, fn(u16, u16) -> u16);

const VALUES: [Value; 12] = [
    ("v + 1", |v, _| v.wrapping_add(1)),
    ("v - m.d", |v, d| v.wrapping_sub(d)),
    ("m.d - v", |v, d| d.wrapping_sub(v)),
    ("7", |_, _| 7),
    ("1000", |_, _| 1000),
    ("m.d", |_, d| d),
    ("v & ~m.d", |v, d| v & !d),
    ("~(v ^ m.d)", |v, d| !(v ^ d)),
    ("max(v, m.d)", |v, d| v.max(d)),
    ("v |+| m.d", |v, d| v.saturating_add(d)),
    ("100 |-| m.d", |_, d| 100u16.saturating_sub(d)),
    ("(v & 255) | (m.d & 3840)", |v, d| v & 255 | d & 3840),
];

/// Junction of two conditions.
type Junction = (&'static str, fn(bool, bool) -> bool);

const JUNCTIONS: [Junction; 4] = [
    ("A && B", |a, b| a && b),
    ("A || !B", |a, b| a || !b),
    ("!(A && B)", |a, b| !(a && b)),
    ("!A", |a, _| !a),
];

#[derive(Clone, Debug)]
struct Action {
    conditions: [usize; 2],
    junction: usize,
    values: [usize; 2],
    /// Whether the output shows the new value, and whether only in the first branch.
    output: (bool, bool),
}

impl Action {
    fn text(&self) -> String {
        let [a, b] = self.conditions.map(|index| CONDITIONS[index].0);
        let condition = JUNCTIONS[self.junction].0.replace('A', &format!("({a})"));
        let condition = condition.replace('B', &format!("({b})"));
        let [x, y] = self.values.map(|index| VALUES[index].0);
        let (new, first_only) = self.output;
        let (before, after) = if new { ("", "r = v;") } else { ("r = v;", "") };
        let tail = if first_only { "" } else { after };
        let inner = if first_only { after } else { "" };
        let head = if first_only { "" } else { before };
        let inner_head = if first_only { before } else { "" };
        format!(
            "{head} if ({condition}) {{ {inner_head} v = {x}; {inner} }} else {{ v = {y}; }} {tail}"
        )
    }

    /// New value and output.
    fn meaning(&self, v: u16, d: u16) -> (u16, u16) {
        let [a, b] = self.conditions.map(|index| CONDITIONS[index].1(v, d));
        let first = JUNCTIONS[self.junction].1(a, b);
        let next = VALUES[self.values[usize::from(!first)]].1(v, d);
        let (new, first_only) = self.output;
        let output = if first_only && !first {
            0
        } else if new {
            next
        } else {
            v
        };
        (next, output)
    }
}

fn actions() -> impl Strategy<Value = Action> {
    let condition = || 0..CONDITIONS.len();
    let value = || 0..VALUES.len();
    let parts =
        (condition(), condition(), 0..JUNCTIONS.len(), value(), value(), any::<(bool, bool)>());
    parts.prop_map(|(a, b, junction, x, y, output)| Action {
        conditions: [a, b],
        junction,
        values: [x, y],
        output,
    })
}

/// Runs the action on an entry `v` with the field `d`: the new value and the output.
fn run(plane: &mut crate::Tofino, v: u16, d: u16) -> (u16, u16) {
    plane.register_mut("reg").unwrap().set(0, [v.into(), 0]);
    let mut bytes = [0u8; 14];
    bytes[12..].copy_from_slice(&d.to_be_bytes());
    let packet = Packet { bytes: bytes.to_vec(), ..Packet::default() };
    let out = plane.egress(&EgressInput::default(), packet).packet.unwrap();
    let output = u16::from_be_bytes([out.bytes[4], out.bytes[5]]);
    (plane.register_mut("reg").unwrap().get(0).unwrap()[0] as u16, output)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]
    #[test]
    fn an_instruction_does_what_the_text_of_its_action_says(
        action in actions(), inputs in proptest::collection::vec((0u16..1200, 0u16..1200), 24),
    ) {
        // Two splits into OR-ed halves do not fit two ALUs.
        prop_assume!(!(action.values.contains(&11) && action.values[0] != action.values[1]));
        let egress = format!(
            "Register<bit<16>, bit<9>>(16) reg;
             RegisterAction<bit<16>, bit<9>, bit<16>>(reg) act = {{
                 void apply(inout bit<16> v, out bit<16> r) {{ {} }}
             }};",
            action.text()
        );
        let apply = "m.d = h.ethernet.kind; h.ethernet.dst = (bit<48>)act.execute(0);";
        let mut plane = Parts { egress: &egress, apply, ..Parts::default() }.loaded().plane;
        for (v, d) in inputs.into_iter().chain([(3, 3), (100, 100), (0, 0), (1199, 0)]) {
            prop_assert_eq!(run(&mut plane, v, d), action.meaning(v, d), "{} {}", v, d);
        }
    }
}
