//! Where blocks begin, and which temporaries somebody still reads behind them.

use sojourn_p4::interp::machine::{At, Op, To, UnitCode};

/// A unit's code, cut into blocks.
#[derive(Debug)]
pub struct Blocks {
    /// By operation: whether a block begins there.
    pub begins: Vec<bool>,
    /// Operations at which whoever executes the rest may go on.
    pub entries: Vec<To>,
    /// By operation at which a block begins: the temporaries that are read there or behind, before
    /// they are written.
    live: Vec<Vec<u64>>,
    own: usize,
}

/// What one operation does to temporaries.
enum Touch {
    Reads(At),
    Writes(At),
}

/// True if the operation is executed without machine code.
pub fn is_exit(code: &UnitCode, op: &Op) -> bool {
    match op {
        Op::Applied { site } => !code.ends_unseen(*site),
        Op::Binary { .. } | Op::Unary { .. } => true,
        Op::Copy { count, .. } => *count > 8,
        Op::Read { .. } | Op::Emit { .. } | Op::EmitEach { .. } => false,
        other => !other.is_on_slots(),
    }
}

/// Where an operation jumps to, and whether it may go on behind itself.
fn flow(code: &UnitCode, at: usize) -> (Option<To>, bool) {
    let mut op = code.ops()[at];
    match op {
        Op::Jump { to } => (Some(to), false),
        Op::SetEach { to, .. } | Op::Read { to, .. } | Op::EmitEach { to, .. } => (Some(to), false),
        _ if is_exit(code, &op) => (None, false),
        _ => (op.target().copied(), true),
    }
}

impl Blocks {
    /// The blocks of a unit's code.
    pub fn of(code: &UnitCode) -> Blocks {
        let ops = code.ops();
        let mut begins = vec![false; ops.len()];
        let mut entries = vec![0];
        for (at, op) in ops.iter().enumerate() {
            let (to, falls) = flow(code, at);
            if let Some(to) = to {
                begins[to as usize] = true;
            }
            if to.is_some() && falls {
                begins[at + 1] = true;
            }
            // What reads or writes the packet may have to be done without machine code, too.
            if is_exit(code, op)
                || matches!(op, Op::Read { .. } | Op::Emit { .. } | Op::EmitEach { .. })
            {
                code.behind(at, |to| entries.push(to));
                begins[at] = true;
            }
        }
        entries.retain(|at| (*at as usize) < ops.len());
        entries.sort_unstable();
        entries.dedup();
        entries.iter().for_each(|at| begins[*at as usize] = true);
        let own = (0..code.slots()).take_while(|at| !code.is_temporary(*at as At)).count();
        let mut blocks = Blocks { begins, entries, live: Vec::new(), own };
        blocks.live = blocks.find_live(code);
        blocks
    }

    /// True if a temporary is read at a block's begin or behind, before it is written.
    pub fn is_live(&self, block: To, temporary: At) -> bool {
        let at = usize::from(temporary) - self.own;
        self.live[block as usize].get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// By operation: what is live in front of it. From the last operation to the first, until nothing
    /// changes.
    fn find_live(&self, code: &UnitCode) -> Vec<Vec<u64>> {
        let words = (code.slots() - self.own).div_ceil(64);
        let ops = code.ops();
        let mut live = vec![vec![0; words]; ops.len() + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..ops.len()).rev() {
                let mut now = vec![0; words];
                let mut follow = |to: To| {
                    now.iter_mut().zip(&live[to as usize]).for_each(|(a, b)| *a |= b);
                };
                let (to, falls) = flow(code, at);
                to.into_iter().for_each(&mut follow);
                if falls {
                    follow(at as To + 1);
                }
                if is_exit(code, &ops[at]) || matches!(ops[at], Op::Read { .. } | Op::Emit { .. }) {
                    code.behind(at, follow);
                }
                self.touch(code, at, &mut now);
                if live[at] != now {
                    live[at] = now;
                    changed = true;
                }
            }
        }
        live
    }

    fn touch(&self, code: &UnitCode, at: usize, live: &mut [u64]) {
        let mut reads = Vec::new();
        touches(code, at, &mut |touch| match touch {
            Touch::Reads(slot) => reads.push(slot),
            Touch::Writes(slot) => {
                if let Some(at) = usize::from(slot).checked_sub(self.own) {
                    live[at / 64] &= !(1 << (at % 64));
                }
            }
        });
        for slot in reads {
            if let Some(at) = usize::from(slot).checked_sub(self.own) {
                live[at / 64] |= 1 << (at % 64);
            }
        }
    }
}

/// Each slot that an operation reads or writes and that may be a temporary.
fn touches(code: &UnitCode, at: usize, touch: &mut impl FnMut(Touch)) {
    use Touch::{Reads, Writes};
    let op = &code.ops()[at];
    match *op {
        Op::Set { to, .. } | Op::SetLong { to, .. } | Op::Eval { to, .. } => touch(Writes(to)),
        Op::SetEach { list, .. } => code.sets(list).iter().for_each(|(to, _)| touch(Writes(*to))),
        Op::Move { to, a }
        | Op::AddConst { to, a, .. }
        | Op::SubFromConst { to, a, .. }
        | Op::SatSubConst { to, a, .. }
        | Op::SatSubFromConst { to, a, .. }
        | Op::AndConst { to, a, .. }
        | Op::OrConst { to, a, .. }
        | Op::XorConst { to, a, .. }
        | Op::ShlConst { to, a, .. }
        | Op::Shift { to, a, .. }
        | Op::EqualConst { to, a, .. }
        | Op::LessConst { to, a, .. }
        | Op::Unary { to, a, .. } => {
            touch(Reads(a));
            touch(Writes(to));
        }
        Op::Add { to, a, b, .. }
        | Op::Sub { to, a, b, .. }
        | Op::Mul { to, a, b, .. }
        | Op::SatAdd { to, a, b, .. }
        | Op::SatSub { to, a, b }
        | Op::And { to, a, b }
        | Op::Or { to, a, b }
        | Op::Xor { to, a, b }
        | Op::Shl { to, a, b, .. }
        | Op::Shr { to, a, b }
        | Op::Concat { to, a, b, .. }
        | Op::Equal { to, a, b }
        | Op::Less { to, a, b }
        | Op::LessSigned { to, a, b, .. }
        | Op::Binary { to, a, b, .. } => {
            touch(Reads(a));
            touch(Reads(b));
            touch(Writes(to));
        }
        // Keeps a part of what is there.
        Op::Insert { to, a, .. } => {
            touch(Reads(a));
            touch(Reads(to));
        }
        Op::Copy { to, from, count } => {
            (from..from + count).for_each(|slot| touch(Reads(slot)));
            (to..to + count).for_each(|slot| touch(Writes(slot)));
        }
        Op::JumpIf { a, .. }
        | Op::JumpUnless { a, .. }
        | Op::JumpEqualConst { a, .. }
        | Op::JumpNotEqualConst { a, .. }
        | Op::JumpLessConst { a, .. }
        | Op::JumpNotLessConst { a, .. } => touch(Reads(a)),
        Op::JumpEqual { a, b, .. }
        | Op::JumpNotEqual { a, b, .. }
        | Op::JumpLess { a, b, .. }
        | Op::JumpNotLess { a, b, .. } => {
            touch(Reads(a));
            touch(Reads(b));
        }
        _ => code.read_by(op, |slot| touch(Reads(slot))),
    }
}
