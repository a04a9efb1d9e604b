//! A traced run reports every step, and has the same result as an untraced one.

use crate::common::Machine;
use sojourn_p4::interp::trace::{Node, Trace, What};
use sojourn_p4::interp::{Access, Context, Externs, Frame, Halt, PacketIn, copy_layout};
use sojourn_p4::ir::{ExternCall, UnitId};

const PROGRAM: &str = "#include <core.p4>
    extern bit<32> count(in bit<32> by);
    header h_t { bit<8> kind; bit<8> ttl; }
    struct hs { h_t h; }
    parser P(packet_in pkt, out hs hdr) {
        state start { pkt.extract(hdr.h); transition select(hdr.h.kind) { 1: more; 2: accept; } }
        state more { transition accept; }
    }
    control C(inout hs hdr, inout bit<32> seen) {
        action none() {}
        action lower(bit<8> by) { hdr.h.ttl = hdr.h.ttl - by; }
        table t {
            key = { hdr.h.kind: exact; }
            actions = { none; lower; }
            const entries = { 1: lower(3); }
            default_action = none();
        }
        apply {
            if (hdr.h.isValid()) { t.apply(); }
            seen = count((bit<32>)hdr.h.ttl);
        }
    }
    parser Parses<H>(packet_in pkt, out H hdr);
    control Controls<H>(inout H hdr, inout bit<32> seen);
    package X<H>(Parses<H> p, Controls<H> c);
    X(P(), C()) main;";

/// Counts, and keeps a trace.
#[derive(Default)]
struct Counts {
    trace: Option<Box<Trace>>,
    sum: u32,
}

impl Externs for Counts {
    fn call(&mut self, call: &ExternCall, ctx: &mut Context<'_>) -> Result<(), Halt> {
        if let (Some(sojourn_p4::ir::Arg::In(by)), Some(result)) = (call.args.first(), &call.result)
        {
            self.sum += ctx.eval_value(by) as u32;
            ctx.set(result, self.sum.into());
        }
        Ok(())
    }

    fn trace(&mut self) -> Option<&mut Option<Box<Trace>>> {
        Some(&mut self.trace)
    }

    fn reached(&self, call: &ExternCall, _: &Context<'_>) -> Option<Access> {
        let (memory, words) = (call.name.clone(), vec![self.sum.into()]);
        Some(Access { memory, index: 0, words, unit: Vec::new() })
    }
}

/// Runs parser and control on two packets; the frames, and what was seen if that is wanted.
fn run(packet: &[u8], follow: bool) -> (Vec<Frame>, u32, Vec<Node>) {
    let mut machine = Machine::new(PROGRAM);
    let Machine { interpreter, tables, frames } = &mut machine;
    let mut counts = Counts { trace: follow.then(Box::default), sum: 100 };
    let [parsed, frame] = &mut frames[..] else { panic!("two units") };
    let packet = PacketIn::new(packet, 0);
    interpreter.run_parser(UnitId(0), parsed, packet, tables, &mut counts).expect("it ends");
    let units = &interpreter.program().units;
    copy_layout(parsed, &units[0].params[1].layout, frame, &units[1].params[0].layout);
    interpreter.run_control(UnitId(1), frame, None, tables, &mut counts).expect("it ends");
    let seen = counts.trace.map(|mut trace| trace.take()).unwrap_or_default();
    // Slots behind a unit's own are temporaries of the code.
    let own = interpreter.program().units.iter().map(|unit| unit.slots.len());
    frames.iter_mut().zip(own).for_each(|(frame, own)| frame.narrow.truncate(own));
    (machine.frames, counts.sum, seen)
}

/// The tree, a line each, in short.
fn lines(nodes: &[Node], depth: usize, into: &mut Vec<String>) {
    for node in nodes {
        let named = |of: &sojourn_p4::interp::trace::Named| format!("{}={}", of.name, of.value);
        let all = |of: &[_]| of.iter().map(named).collect::<Vec<_>>().join(" ");
        let text = match &node.what {
            What::Unit { name, parsed, .. } => {
                format!("{name} {:?}", parsed.as_ref().map(|p| (p.accepted, &*p.error, p.consumed)))
            }
            What::State { name } => format!("state {name}"),
            What::Goes { to, keys } => format!("-> {to} on {}", all(keys)),
            What::Branch { on } => format!("if {}", on.value),
            What::Table(t) => {
                let keys: Vec<_> =
                    t.keys.iter().map(|(kind, key)| format!("{kind} {}", named(key))).collect();
                let entry = t.entry.as_ref().map(|e| e.handle.0);
                let action = t.action.as_ref().map(|(name, data)| format!("{name}({})", all(data)));
                format!(
                    "{} [{}] hit {} entry {entry:?} {}",
                    t.table,
                    keys.join(" "),
                    t.hit,
                    action.unwrap_or_default()
                )
            }
            What::Call(c) => {
                let access =
                    c.access.as_ref().map(|(old, new)| format!("{:?} -> {new:?}", old.words));
                format!(
                    "{}({}) = {} {}",
                    c.name,
                    all(&c.args),
                    all(&c.results),
                    access.unwrap_or_default()
                )
            }
            What::Extract { header, fields } => {
                format!("extract {header}: {}", fields.as_deref().map_or("too short".into(), all))
            }
            What::Emit { .. } => "emit".into(),
            What::Set { writes } => {
                let one = |w: &sojourn_p4::interp::trace::Write| {
                    format!("{} was {}", named(&w.now), w.old)
                };
                writes.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        };
        into.push(format!("{}{}", "  ".repeat(depth), text.trim_end()));
        lines(&node.steps, depth + 1, into);
    }
}

fn told(packet: &[u8]) -> Vec<String> {
    let mut into = Vec::new();
    lines(&run(packet, true).2, 0, &mut into);
    into
}

#[test]
fn every_step_of_a_packet_is_reported_in_order() {
    assert_eq!(
        told(&[1, 64]),
        [
            "P Some((true, \"NoError\", 16))",
            "  state start",
            "    extract hdr.h: hdr.h.kind=1 hdr.h.ttl=64",
            "    -> more on hdr.h.kind=1",
            "  state more",
            "    -> accept on",
            "C None",
            "  if 1",
            "    C.t [exact hdr.h.kind=1] hit true entry Some(0) C.lower(by=3)",
            "      hdr.h.ttl=61 was 64",
            "  count(=61) = seen=161 [100] -> [161]",
        ]
    );
}

#[test]
fn a_failed_parser_reports_its_error() {
    assert_eq!(
        told(&[1])[..3],
        ["P Some((false, \"PacketTooShort\", 0))", "  state start", "    extract hdr.h: too short"]
    );
    let no_match = told(&[9, 64]);
    assert_eq!(no_match[0], "P Some((false, \"NoMatch\", 16))");
    assert_eq!(no_match[3], "    -> reject on hdr.h.kind=9");
}

#[test]
fn following_a_run_changes_nothing_of_it() {
    for packet in [&[1, 64][..], &[2, 7], &[9, 1], &[1], &[]] {
        let (frames, sum, seen) = run(packet, true);
        let (alone, sum_alone, nothing) = run(packet, false);
        assert_eq!((frames, sum), (alone, sum_alone), "{packet:?}");
        assert!(!seen.is_empty() && nothing.is_empty());
    }
}
