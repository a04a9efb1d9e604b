//! Analysis of basic blocks: block starts, slots live at each operation, and slots that differ from
//! the frame.
//!
//! At a stop of machine code the frame must hold every slot that is read afterwards: by the
//! operation that runs without machine code, by later operations, or by the caller. A slot that is
//! read behind a regular stop stays in the frame at all times. Any other slot becomes a value when
//! machine code changes it, and is stored to the frame at an exceptional stop.

use sojourn_p4::interp::jit_tier::{At, Op, To, UnitCode};

/// A set of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots(Box<[u64]>);

impl Slots {
    fn none(code: &UnitCode) -> Slots {
        Slots(vec![0; code.slots().div_ceil(64)].into())
    }

    /// The unit's own slots.
    fn own(code: &UnitCode) -> Slots {
        let mut slots = Slots::none(code);
        let own = (0..code.slots() as At).take_while(|at| !code.is_temporary(*at));
        own.for_each(|at| slots.add(at));
        slots
    }

    fn add(&mut self, at: At) {
        self.0[usize::from(at) / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, at: At) {
        self.0[usize::from(at) / 64] &= !(1 << (at % 64));
    }

    fn remove_all(&mut self, others: &Slots) {
        self.0.iter_mut().zip(&others.0).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    fn add_all(&mut self, others: &Slots) {
        self.0.iter_mut().zip(&others.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// True if a slot is one of them.
    pub fn has(&self, at: At) -> bool {
        self.0[usize::from(at) / 64] >> (at % 64) & 1 != 0
    }

    /// Slots in both sets, in order.
    pub fn both<'a>(&'a self, others: &'a Slots) -> impl Iterator<Item = At> + 'a {
        let words = self.0.iter().zip(&others.0).map(|(a, b)| a & b).enumerate();
        words.flat_map(|(number, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| (number * 64 + bit) as At)
        })
    }
}

/// A unit's code, divided into blocks.
#[derive(Debug)]
pub struct Blocks {
    /// By operation: whether a block begins there.
    pub begins: Vec<bool>,
    /// By operation: whether a later operation may jump there.
    pub looped: Vec<bool>,
    /// Operations at which execution may enter from outside machine code.
    pub entries: Vec<To>,
    /// By operation: the slots read there or later, before they are written.
    live: Vec<Slots>,
    /// By operation: the slots needed as values.
    pub values: Vec<Slots>,
    /// By operation: the slots that may differ from the frame.
    pub changed: Vec<Slots>,
    /// Slots that never differ from the frame.
    pub framed: Slots,
}

/// True if the operation is executed without machine code.
pub fn is_exit(code: &UnitCode, at: usize) -> bool {
    match &code.ops()[at] {
        Op::Applied { site } => !code.ends_unseen(*site),
        Op::Apply { .. } => code.lookup(at).is_none(),
        Op::Binary { .. } | Op::Unary { .. } => true,
        Op::Copy { count, .. } => *count > 8,
        Op::Stay { .. } => false,
        other => !other.is_on_slots() && !is_rare_exit(code, at),
    }
}

/// True if machine code rarely stops in front of the operation, although it may.
fn is_rare_exit(code: &UnitCode, at: usize) -> bool {
    match code.ops()[at] {
        Op::Read { .. } | Op::Emit { .. } | Op::EmitEach { .. } => true,
        Op::Skip { bits } => bits.is_multiple_of(8),
        Op::Eval { .. } => code.looks_ahead(at).is_some(),
        Op::Apply { .. } => code.lookup(at).is_some(),
        _ => false,
    }
}

/// True if it is an end: no slot is read after it.
fn is_end(op: &Op) -> bool {
    matches!(op, Op::Accept | Op::Done)
}

/// Jump targets of an operation, and whether it may continue behind itself.
fn flow(code: &UnitCode, at: usize) -> (Vec<To>, bool) {
    let mut op = code.ops()[at];
    if let Some(lookup) = code.lookup(at) {
        return (lookup.actions.iter().copied().chain([lookup.none]).collect(), false);
    }
    match op {
        Op::Jump { to } => (vec![to], false),
        Op::SetEach { to, .. } | Op::Read { to, .. } | Op::EmitEach { to, .. } => (vec![to], false),
        _ if is_exit(code, at) => (Vec::new(), false),
        // Continues behind the check of its failure.
        Op::Eval { .. } => (vec![at as To + 2], false),
        _ => (op.target().copied().into_iter().collect(), true),
    }
}

impl Blocks {
    /// The blocks of a unit's code.
    pub fn new(code: &UnitCode) -> Blocks {
        let ops = code.ops();
        let [mut begins, mut looped] = [(); 2].map(|()| vec![false; ops.len()]);
        let mut entries = vec![0];
        for at in 0..ops.len() {
            let (to, falls) = flow(code, at);
            if !to.is_empty() && falls {
                begins[at + 1] = true;
            }
            for to in to.into_iter().map(|to| to as usize) {
                begins[to] = true;
                looped[to] |= to <= at;
            }
            if is_exit(code, at) || is_rare_exit(code, at) {
                code.behind(at, |to| entries.push(to));
                begins[at] = true;
            }
        }
        entries.retain(|at| (*at as usize) < ops.len());
        entries.sort_unstable();
        entries.dedup();
        entries.iter().for_each(|at| begins[*at as usize] = true);
        let live = live(code);
        let framed = framed(code, &live, &changed(code, &Slots::none(code)));
        let changed = changed(code, &framed);
        let values = values(code, &live, &changed);
        Blocks { begins, looped, entries, live, values, changed, framed }
    }

    /// The slots in the frame that are read at the beginning or later.
    pub fn framed_at_first(&self) -> impl Iterator<Item = At> {
        self.framed.both(&self.live[0])
    }

    /// The slots that the frame must hold where machine code stops in front of an operation.
    pub fn needed(&self, code: &UnitCode, at: To) -> Slots {
        needed(code, at as usize, &self.live)
    }
}

/// Slots read by an operation that is executed without machine code, or behind it.
fn needed(code: &UnitCode, at: usize, live: &[Slots]) -> Slots {
    let read = code.read_by(&code.ops()[at]);
    let mut needed = if read.own { Slots::own(code) } else { Slots::none(code) };
    read.slots.into_iter().for_each(|slot| needed.add(slot));
    code.behind(at, |to| {
        // A suspended call is repeated, and reads its slots again.
        if to as usize != at {
            needed.add_all(&live[to as usize]);
        }
    });
    needed
}

/// By operation: the slots read there or later, where `reads` gives those of an operation, either
/// as machine code or, by a stop, together with those read afterwards. Iterates backwards until
/// nothing changes.
fn read_behind(code: &UnitCode, reads: impl Fn(usize, &[Slots]) -> Slots) -> Vec<Slots> {
    let ops = code.ops();
    let mut live = vec![Slots::none(code); ops.len() + 1];
    let mut changes = true;
    while changes {
        changes = false;
        for at in (0..ops.len()).rev() {
            let mut now = Slots::none(code);
            let (to, falls) = flow(code, at);
            to.into_iter().for_each(|to| now.add_all(&live[to as usize]));
            if falls {
                now.add_all(&live[at + 1]);
            }
            touched(code, at).writes.iter().for_each(|slot| now.remove(*slot));
            now.add_all(&reads(at, &live));
            if live[at] != now {
                live[at] = now;
                changes = true;
            }
        }
    }
    live
}

/// By operation: the slots read there or later.
fn live(code: &UnitCode) -> Vec<Slots> {
    read_behind(code, |at, live| {
        let mut read = if is_exit(code, at) || is_rare_exit(code, at) {
            needed(code, at, live)
        } else {
            Slots::none(code)
        };
        touched(code, at).reads.iter().for_each(|slot| read.add(*slot));
        read
    })
}

/// By operation: the slots read there or later as values.
fn values(code: &UnitCode, live: &[Slots], changed: &[Slots]) -> Vec<Slots> {
    let read: Vec<Slots> = (0..code.ops().len())
        .map(|at| {
            let mut read = Slots::none(code);
            touched(code, at).reads.iter().for_each(|slot| read.add(*slot));
            if is_exit(code, at) || is_rare_exit(code, at) {
                read.add_all(&needed(code, at, live));
            }
            let mut values = Slots::none(code);
            read.both(&changed[at]).for_each(|slot| values.add(slot));
            values
        })
        .collect();
    read_behind(code, |at, _| read[at].clone())
}

/// The slots that a regular stop would have to store in the frame. At an end, those of them that
/// come from the packet: too many to remain values until then.
fn framed(code: &UnitCode, live: &[Slots], changed: &[Slots]) -> Slots {
    let mut extracted = Slots::none(code);
    for at in 0..code.ops().len() {
        if matches!(code.ops()[at], Op::Read { .. }) {
            touched(code, at).writes.iter().for_each(|slot| extracted.add(*slot));
        }
    }
    let mut framed = Slots::none(code);
    for (at, op) in code.ops().iter().enumerate() {
        if is_exit(code, at) && !code.is_rare(at) {
            let needed = needed(code, at, live);
            let wanted = needed.both(&changed[at]);
            let data = wanted.filter(|slot| !is_end(op) || extracted.has(*slot));
            data.for_each(|slot| framed.add(slot));
        }
    }
    framed
}

/// By operation: the slots that machine code may have changed since it was entered, except those
/// kept in the frame. Iterates forwards until nothing changes.
fn changed(code: &UnitCode, framed: &Slots) -> Vec<Slots> {
    let ops = code.ops();
    let mut changed = vec![Slots::none(code); ops.len() + 1];
    if let Some(around) = code.around().filter(|around| !around.cleared) {
        // The frame still contains the previous packet's values.
        let mut begun = Slots::none(code);
        around.begun.iter().cloned().flatten().for_each(|slot| begun.add(slot));
        begun.remove_all(framed);
        changed[0] = begun;
    }
    let mut changes = true;
    while changes {
        changes = false;
        for at in 0..ops.len() {
            let mut now = changed[at].clone();
            touched(code, at).writes.iter().for_each(|slot| now.add(*slot));
            now.remove_all(framed);
            let (to, falls) = flow(code, at);
            let behind = falls.then_some(at as To + 1);
            for to in to.into_iter().chain(behind) {
                let before = changed[to as usize].clone();
                changed[to as usize].add_all(&now);
                changes |= changed[to as usize] != before;
            }
        }
    }
    changed
}

/// Slots that an operation accesses as machine code.
#[derive(Default)]
struct Touched {
    reads: Vec<At>,
    /// Slots written in full.
    writes: Vec<At>,
}

fn touched(code: &UnitCode, at: usize) -> Touched {
    let mut touched = Touched::default();
    let Touched { reads, writes } = &mut touched;
    let op = &code.ops()[at];
    if is_exit(code, at) {
        return touched;
    }
    // An action has its own data, read only by it.
    writes.extend(code.written_by(op).into_iter().flatten());
    reads.extend(code.lookup(at).map(|lookup| lookup.key));
    match *op {
        Op::Read { run, .. } => {
            let reader = code.reader(run);
            writes.extend(reader.reads.iter().map(|field| field.to));
            writes.extend(reader.long_reads.iter().map(|field| field.to));
            writes.extend(&reader.valid);
            writes.extend(reader.front.iter().map(|field| field.to));
            reads.extend(reader.front.iter().flat_map(|field| field.words));
        }
        Op::Move { a, .. }
        | Op::AddConst { a, .. }
        | Op::SubFromConst { a, .. }
        | Op::SatSubConst { a, .. }
        | Op::SatSubFromConst { a, .. }
        | Op::AndConst { a, .. }
        | Op::OrConst { a, .. }
        | Op::XorConst { a, .. }
        | Op::ShlConst { a, .. }
        | Op::Shift { a, .. }
        | Op::EqualConst { a, .. }
        | Op::LessConst { a, .. }
        | Op::Map { a, .. } => reads.push(a),
        Op::Add { a, b, .. }
        | Op::Sub { a, b, .. }
        | Op::Mul { a, b, .. }
        | Op::SatAdd { a, b, .. }
        | Op::SatSub { a, b, .. }
        | Op::And { a, b, .. }
        | Op::Or { a, b, .. }
        | Op::Xor { a, b, .. }
        | Op::Shl { a, b, .. }
        | Op::Shr { a, b, .. }
        | Op::Concat { a, b, .. }
        | Op::Equal { a, b, .. }
        | Op::Less { a, b, .. }
        | Op::LessSigned { a, b, .. } => reads.extend([a, b]),
        // They keep the previous value in part, or in full if there is no such cell.
        Op::Insert { to, a, .. } | Op::Load { to, a, .. } => reads.extend([a, to]),
        Op::Store { a, b, .. } => reads.extend([a, b]),
        Op::Copy { from, count, .. } => reads.extend(from..from + count),
        Op::JumpIf { a, .. }
        | Op::JumpUnless { a, .. }
        | Op::JumpEqualConst { a, .. }
        | Op::JumpNotEqualConst { a, .. }
        | Op::JumpLessConst { a, .. }
        | Op::JumpNotLessConst { a, .. } => reads.push(a),
        Op::JumpEqual { a, b, .. }
        | Op::JumpNotEqual { a, b, .. }
        | Op::JumpLess { a, b, .. }
        | Op::JumpNotLess { a, b, .. } => reads.extend([a, b]),
        Op::Emit { .. } | Op::EmitEach { .. } => reads.extend(code.read_by(op).slots),
        _ => {}
    }
    touched
}
