//! Header elision: emitted headers that are unchanged are already in the packet.
//!
//! Usually a deparser emits the headers that the parser extracted last, in the same order and
//! unmodified. Machine code then gives them back to the packet as if they had not been read, and
//! writes only the headers in front of them.

use super::code::{Elision, Emitted, Op, To, UnitCode};
use super::header::ROOM;

/// Bytes behind a header's end that may be written with it.
const BEHIND: usize = 8;

/// Known facts about a header in front of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeaderFacts {
    may_be_invalid: bool,
    may_be_valid: bool,
    /// If it is valid, it was extracted and its fields are unchanged.
    same: bool,
}

/// Known facts in front of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// By header of the emission under analysis.
    headers: Vec<HeaderFacts>,
    /// The bytes read so far end with the valid ones among the headers from this index on, in order
    /// and without gaps.
    from: usize,
    /// The read position is at a byte boundary.
    aligned: bool,
}

impl State {
    /// State at the start of a run: all headers are invalid.
    fn first(headers: usize) -> State {
        let invalid = HeaderFacts { may_be_invalid: true, may_be_valid: false, same: true };
        State { headers: vec![invalid; headers], from: 0, aligned: true }
    }

    /// Joins the facts of two paths.
    fn meet(&mut self, other: &State) {
        for (mine, theirs) in self.headers.iter_mut().zip(&other.headers) {
            mine.may_be_invalid |= theirs.may_be_invalid;
            mine.may_be_valid |= theirs.may_be_valid;
            mine.same &= theirs.same;
        }
        self.from = self.from.max(other.from);
        self.aligned &= other.aligned;
    }

    /// A header was extracted, with exactly the fields that are emitted.
    fn extracted(&mut self, header: usize) {
        let behind = self.headers.iter().rposition(|known| known.may_be_valid);
        let begins_here = self.from > header || behind >= Some(header);
        self.from = match behind {
            Some(behind) if behind > header => behind + 1,
            _ if begins_here => header,
            _ => self.from,
        };
        self.headers[header] =
            HeaderFacts { may_be_invalid: false, may_be_valid: true, same: true };
    }

    /// Other bits were taken off the packet.
    fn read_other(&mut self) {
        self.from = self.headers.len();
    }

    /// The validity of a header was set otherwise than by extraction.
    fn set_valid(&mut self, header: usize, value: Option<u64>) {
        self.from = self.from.max(header + 1);
        let (may_be_invalid, may_be_valid) = (value.is_none_or(|v| v == 0), value != Some(0));
        self.headers[header] = HeaderFacts { may_be_invalid, may_be_valid, same: !may_be_valid };
    }

    /// Index of the first header such that it and all later ones need not be written.
    fn first_kept(&self) -> usize {
        let written = self.headers.iter().rposition(|known| known.may_be_valid && !known.same);
        let unaligned = if self.aligned { 0 } else { self.headers.len() };
        self.from.max(written.map_or(0, |at| at + 1)).max(unaligned)
    }
}

impl UnitCode {
    /// Determines which emitted headers are elided. The first `front` bytes that are parsed are not
    /// in the packet.
    pub(super) fn keep(&mut self, front: usize) {
        let room = self.most_written();
        // Statements of the tree may write incomplete bytes.
        let by_tree = |op: &Op| matches!(op, Op::EmitRest { .. } | Op::Statement { .. });
        if room > ROOM || self.ops.iter().any(by_tree) {
            return;
        }
        self.room = Some(room);
        for at in 0..self.ops.len() {
            let Some(emitted) = self.emission(self.ops[at]) else { continue };
            if emitted.is_empty() || !self.ends_with(at) {
                continue;
            }
            let Some(state) = self.known(at, emitted, front) else { continue };
            let (Op::Emit { header } | Op::EmitEach { header, .. }) = self.ops[at] else {
                continue;
            };
            for (number, known) in state.headers.iter().enumerate().skip(state.first_kept()) {
                let always = !known.may_be_invalid;
                let kept = if always { Elision::Always } else { Elision::IfValid };
                self.emitted[header as usize + number].kept = kept;
            }
        }
    }

    /// Maximum number of bytes written, including those behind the last header.
    pub fn most_written(&self) -> usize {
        let emissions = self.ops.iter().map(|op| self.emission(*op).map_or(0, bytes));
        match emissions.sum() {
            0 => 0,
            most => most + BEHIND,
        }
    }

    /// The headers that an operation emits.
    fn emission(&self, op: Op) -> Option<&[Emitted]> {
        match op {
            Op::Emit { header } => Some(self.emitted(header, 1)),
            Op::EmitEach { header, count, .. } => Some(self.emitted(header, count)),
            _ => None,
        }
    }

    /// True if the packet is neither read nor written after an operation.
    fn ends_with(&self, at: usize) -> bool {
        let mut seen = vec![false; self.ops.len()];
        let mut next = vec![at];
        let mut ends = true;
        while let Some(at) = next.pop() {
            self.next(at, |to| {
                let to = to as usize;
                if !std::mem::replace(&mut seen[to], true) {
                    ends &= !uses_packet(&self.ops[to]);
                    next.push(to);
                }
            });
        }
        ends
    }

    /// Known facts about emitted headers in front of their emission; `None` if it is unreachable.
    fn known(&self, emission: usize, emitted: &[Emitted], front: usize) -> Option<State> {
        let mut states: Vec<Option<State>> = vec![None; self.ops.len()];
        states[0] = Some(State::first(emitted.len()));
        let mut next = vec![0];
        // The front of the packet is read first.
        let first = self.ops.iter().position(|op| matches!(op, Op::Read { .. }));
        while let Some(at) = next.pop() {
            let Some(before) = states[at].clone() else { continue };
            let front = if Some(at) == first { front } else { 0 };
            self.next(at, |to| {
                let mut state = before.clone();
                self.step(at, to, front, emitted, &mut state);
                let there = &mut states[to as usize];
                let met = match there {
                    Some(known) => {
                        let mut met = known.clone();
                        met.meet(&state);
                        met
                    }
                    None => state,
                };
                if there.as_ref() != Some(&met) {
                    *there = Some(met);
                    next.push(to as usize);
                }
            });
        }
        states.swap_remove(emission)
    }

    /// Calls `goes_on` with each successor of an operation.
    fn next(&self, at: usize, goes_on: impl FnMut(To)) {
        let mut goes_on = goes_on;
        match self.ops[at] {
            Op::EmitEach { to, .. } | Op::SetEach { to, .. } => goes_on(to),
            _ => self.followed_by(at, goes_on),
        }
    }

    /// Applies the effect of an operation on the way to a successor.
    fn step(&self, at: usize, to: To, front: usize, emitted: &[Emitted], state: &mut State) {
        match self.ops[at] {
            Op::Read { to: all, .. } => {
                let mut bits = 0;
                let taken = at..if to == all { all as usize } else { at + 1 };
                for op in &self.ops[taken] {
                    self.take(*op, front, &mut bits, emitted, state);
                }
            }
            op @ (Op::Extract { .. } | Op::Skip { .. }) => {
                self.take(op, 0, &mut 0, emitted, state);
            }
            Op::Advance { .. } => {
                state.read_other();
                state.aligned = false;
            }
            Op::Set { to, value } => write((to, Some(value)), emitted, state),
            Op::SetEach { list, .. } => {
                let sets = self.sets(list).iter();
                sets.for_each(|(to, value)| write((*to, Some(*value)), emitted, state));
            }
            op => match self.written_by(&op) {
                Some(written) => {
                    written.into_iter().for_each(|slot| write((slot, None), emitted, state));
                }
                // A callee may write any slot.
                None => {
                    (0..emitted.len()).for_each(|header| state.set_valid(header, None));
                }
            },
        }
    }

    /// Takes bits off the packet; `bits` counts those of the same read.
    fn take(&self, op: Op, front: usize, bits: &mut u64, emitted: &[Emitted], state: &mut State) {
        let op = match op {
            // The second operation of a read may begin a further read.
            Op::Read { run, .. } => self.runs[run as usize].first,
            op => op,
        };
        match op {
            Op::Skip { bits: skipped } => {
                *bits += skipped;
                state.read_other();
                state.aligned &= skipped.is_multiple_of(8);
            }
            Op::Extract { header } => {
                let extracted = &self.extracted[header as usize];
                let begin = *bits;
                *bits += u64::from(extracted.bits);
                let known = emitted.iter().position(|header| header.valid == extracted.valid);
                let Some(known) = known else { return state.read_other() };
                let wire = extracted.wire.as_ref();
                let is_same = wire.is_some_and(|wire| emitted[known].writer.writes(wire));
                if is_same && begin >= 8 * front as u64 {
                    state.extracted(known);
                } else {
                    state.set_valid(known, None);
                    state.read_other();
                }
            }
            _ => {}
        }
    }
}

/// A slot is written; `value` is `None` if unknown.
fn write((slot, value): (super::code::At, Option<u64>), emitted: &[Emitted], state: &mut State) {
    for (number, header) in emitted.iter().enumerate() {
        if header.valid == slot {
            state.set_valid(number, value);
        }
        if header.writer.reads(slot) {
            state.headers[number].same = !state.headers[number].may_be_valid;
        }
    }
}

fn bytes(emitted: &[Emitted]) -> usize {
    emitted.iter().map(|header| header.writer.bytes).sum()
}

/// True for an operation that may read or write the packet.
fn uses_packet(op: &Op) -> bool {
    matches!(
        op,
        Op::Read { .. }
            | Op::Extract { .. }
            | Op::Skip { .. }
            | Op::Advance { .. }
            | Op::Eval { .. }
            | Op::Emit { .. }
            | Op::EmitEach { .. }
            | Op::EmitRest { .. }
            | Op::Call { .. }
            | Op::Statement { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile_with;
    use crate::interp::bytecode::{NoCode, chain};
    use crate::interp::unit_chain::Link;
    use crate::interp::unit_chain::tests::whole;
    use crate::ir::UnitId;
    use crate::preprocess::{MemoryLoader, PreprocessOptions};

    /// The front of the packet, three headers and one more; tests replace `PARSE`, `DO` and `EMIT`.
    const PROGRAM: &str = "
        error { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout }
        extern packet_in { void extract<T>(out T headers); void advance(in bit<32> bits); }
        extern packet_out { void emit<T>(in T headers); }
        header front_t { bit<64> x; }
        header a_t { bit<16> kind; }
        header b_t { bit<8> x; bit<8> y; }
        struct hs_t { a_t more; a_t a; b_t b; b_t c; }
        parser P(packet_in packet, out hs_t hdr, out front_t front) {
            state start { packet.extract(front); packet.extract(hdr.a); PARSE }
            state b { packet.extract(hdr.b); transition accept; }
            state c { packet.extract(hdr.c); transition accept; }
        }
        control C(inout hs_t hdr, inout front_t front) { apply { DO } }
        control D(packet_out packet, inout hs_t hdr) { apply { EMIT } }
        parser AnyP<H, F>(packet_in packet, out H hdr, out F front);
        control AnyC<H, F>(inout H hdr, inout F front);
        control AnyD<H>(packet_out packet, inout H hdr);
        package S<H, F>(AnyP<H, F> p, AnyC<H, F> c, AnyD<H> d);
        S(P(), C(), D()) main;";

    const ALL: &str =
        "packet.emit(hdr.more); packet.emit(hdr.a); packet.emit(hdr.b); packet.emit(hdr.c);";
    const SELECT: &str = "transition select(hdr.a.kind) { 1: b; 2: c; default: accept; }";

    /// Elision of the emitted headers, in order: a letter for each.
    fn kept(parse: &str, body: &str, emit: &str) -> String {
        let text = PROGRAM.replace("PARSE", parse).replace("DO", body).replace("EMIT", emit);
        let loader = MemoryLoader::new().with("kept.p4", text);
        let program = compile_with(&loader, "kept.p4".as_ref(), &PreprocessOptions::default())
            .expect("it compiles")
            .program;
        let link = |name: &str| {
            let at = program.units.iter().position(|unit| &*unit.name == name);
            Link::plain(UnitId(at.expect("it is one of the units") as u32))
        };
        let links = ["P", "C", "D"].map(link);
        let mut code = chain(&program, &whole(&links, 0), 0, &NoCode).expect("there is one");
        code.keep(8);
        let letter = |header: &Emitted| match header.kept {
            Elision::No => '-',
            Elision::IfValid => 'v',
            Elision::Always => 'A',
        };
        code.emitted.iter().map(letter).collect()
    }

    #[test]
    fn a_header_extracted_last_and_emitted_last_stays_in_place() {
        assert_eq!(kept("transition b;", "", ALL), "-AAv");
        assert_eq!(kept(SELECT, "", ALL), "-Avv");
        assert_eq!(kept("transition b;", "hdr.more.setValid();", ALL), "-AAv");
    }

    #[test]
    fn changed_headers_and_those_in_front_of_them_are_written() {
        assert_eq!(kept("transition b;", "hdr.a.kind = 1;", ALL), "--Av");
        assert_eq!(kept(SELECT, "if (hdr.a.kind == 7) { hdr.b.x = 1; }", ALL), "---v");
        assert_eq!(kept("transition b;", "hdr.b.setInvalid();", ALL), "---v");
        assert_eq!(kept("transition b;", "hdr.c.setValid();", ALL), "----");
    }

    #[test]
    fn a_header_in_the_middle_of_the_parsed_bytes_is_written_again() {
        assert_eq!(kept("packet.advance(8); transition accept;", "", ALL), "----");
        assert_eq!(kept("packet.advance(4); transition b;", "", ALL), "----");
        assert_eq!(kept("transition b;", "", "packet.emit(hdr.a);"), "-");
        assert_eq!(kept("transition b;", "", "packet.emit(hdr.b); packet.emit(hdr.a);"), "--");
        let apart = "packet.emit(hdr.a); if (hdr.a.kind == 1) { packet.emit(hdr.b); }";
        assert_eq!(kept("transition b;", "", apart), "-A");
    }
}
