//! Facts on the path to a point of a control: the conditions that hold, and the uses so far.
//!
//! Depends on the IR's expressions. It must not depend on the meaning of a use: `walk` decides.

use sojourn_p4::ir::{Binary, Expr, ExprKind, ObjectId, Scalar, Slot, TableId, Unary};
use sojourn_p4::source::Span;
use std::collections::{BTreeMap, HashSet};

/// Object that a packet can use once in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// A register, through any of its actions.
    Register(ObjectId),
    /// A table.
    Table(TableId),
    /// A counter or meter.
    Counter(ObjectId),
}

/// Known fact about a slot on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// It is one of these, ends included.
    Within(u128, u128),
    /// It is not this.
    Not(u128),
}

impl Fact {
    /// It is exactly this.
    pub fn is(value: u128) -> Fact {
        Fact::Within(value, value)
    }

    fn contradicts(self, other: Fact) -> bool {
        match (self, other) {
            (Fact::Within(a, b), Fact::Within(c, d)) => b < c || d < a,
            (Fact::Within(a, b), Fact::Not(v)) | (Fact::Not(v), Fact::Within(a, b)) => {
                a == v && b == v
            }
            (Fact::Not(_), Fact::Not(_)) => false,
        }
    }
}

/// Conditions on slots, all of which hold.
pub type Facts = Vec<(Slot, Fact)>;

/// True if both cannot hold at once.
pub fn contradict(a: &[(Slot, Fact)], b: &[(Slot, Fact)]) -> bool {
    a.iter().any(|(slot, x)| b.iter().any(|(other, y)| slot == other && x.contradicts(*y)))
}

/// Kind of a register's use.
#[derive(Clone, Debug)]
pub enum Kind {
    /// By `Register.read` at this index, with nothing but plain statements of one list since then,
    /// which have computed these slots.
    Read(Option<Box<Expr>>, Vec<Slot>),
    /// By `Register.read` or `Register.write`.
    Plain,
    /// Otherwise.
    Other,
}

/// A use, and what was known when it happened.
#[derive(Clone, Debug)]
pub struct Use {
    /// Source span.
    pub span: Span,
    /// Kind.
    pub kind: Kind,
    /// Conditions on slots that have not been written since.
    pub facts: Facts,
    /// True if more than the facts had to hold.
    pub opaque: bool,
    /// True if it has happened whenever the path is reached.
    pub certain: bool,
}

/// Facts and uses on the way to a point.
#[derive(Clone, Default)]
pub struct Path {
    /// The uses so far.
    pub uses: BTreeMap<Thing, Vec<Use>>,
    /// Known facts.
    pub facts: Facts,
    /// True if more than the facts has to hold for a packet to come here.
    pub opaque: bool,
}

/// Maximum number of distinguished uses of one object.
const MAX_USES: usize = 16;

impl Path {
    /// Notes a use.
    pub fn record(&mut self, thing: Thing, span: Span, kind: Kind) {
        let (facts, opaque) = (self.facts.clone(), self.opaque);
        let uses = self.uses.entry(thing).or_default();
        if uses.len() < MAX_USES {
            uses.push(Use { span, kind, facts, opaque, certain: true });
        }
    }

    /// Forgets what was known about a slot that is written, also by earlier uses.
    pub fn forget(&mut self, slot: Slot) {
        self.facts.retain(|(known, _)| *known != slot);
        for used in self.uses.values_mut().flatten() {
            let before = used.facts.len();
            used.facts.retain(|(known, _)| *known != slot);
            used.opaque |= used.facts.len() != before;
        }
    }

    /// Of the uses that `before` did not have: they happen only if this holds.
    pub fn note_since(&mut self, before: &Path, slot: Slot, fact: Fact) {
        for (thing, uses) in &mut self.uses {
            let known = before.uses.get(thing).map_or(0, Vec::len);
            uses.iter_mut().skip(known).for_each(|used| used.facts.push((slot, fact)));
        }
    }

    /// A slot was computed; what depends on it is not written back in the access of a read before.
    pub fn computed(&mut self, slot: Slot) {
        for used in self.uses.values_mut().flatten() {
            if let Kind::Read(_, computed) = &mut used.kind {
                computed.push(slot);
            }
        }
    }

    /// Marks the earlier reads as complete: they cannot be written back in the same access.
    pub fn close_reads(&mut self) {
        for used in self.uses.values_mut().flatten() {
            if matches!(used.kind, Kind::Read(..)) {
                used.kind = Kind::Plain;
            }
        }
    }

    /// The path on which a fact holds; none if it cannot.
    pub fn learn(mut self, slot: Slot, fact: Fact) -> Option<Path> {
        if contradict(&self.facts, &[(slot, fact)]) {
            return None;
        }
        if !self.facts.contains(&(slot, fact)) {
            self.facts.push((slot, fact));
        }
        Some(self)
    }

    /// The path on which something holds that facts cannot say.
    pub fn unclear(mut self) -> Path {
        self.opaque = true;
        self
    }

    /// The path on which a condition is `truth`; none if it cannot be.
    pub fn assume(self, condition: &Expr, truth: bool) -> Option<Path> {
        match (&condition.kind, truth) {
            (ExprKind::Const(value), _) => ((*value != 0) == truth).then_some(self),
            (ExprKind::Unary(Unary::Not, inner), _) => self.assume(inner, !truth),
            (ExprKind::Binary(Binary::And, a, b), true) => self.assume(a, true)?.assume(b, true),
            (ExprKind::Binary(Binary::Or, a, b), false) => self.assume(a, false)?.assume(b, false),
            (ExprKind::Binary(op, a, b), _) => match comparison(*op, a, b, truth) {
                Some((slot, fact)) => self.learn(slot, fact?),
                None => Some(self.unclear()),
            },
            (ExprKind::Slot(slot), _) if condition.scalar == Scalar::Bool => {
                self.learn(*slot, Fact::is(u128::from(truth)))
            }
            _ => Some(self.unclear()),
        }
    }

    /// The first earlier use that can happen for the same packet as one here, and its certainty.
    /// `outcomes` are the slots that hold the action that a table ran.
    pub fn conflict(
        &self,
        thing: Thing,
        free: &HashSet<Slot>,
        outcomes: &HashSet<Slot>,
    ) -> Option<(&Use, Overlap)> {
        let uses = self.uses.get(&thing)?.iter();
        // The compiler takes two calls of a counter as exclusive for their branches and for the
        // action that a table runs, not for what conditions ask.
        let counted = matches!(thing, Thing::Counter(_));
        let here: Facts = self
            .facts
            .iter()
            .copied()
            .filter(|(slot, _)| !counted || outcomes.contains(slot))
            .collect();
        let meeting = uses.filter(|first| !contradict(&first.facts, &here));
        meeting.map(|first| (first, self.overlap(first, free))).min_by_key(|(_, overlap)| *overlap)
    }

    fn overlap(&self, first: &Use, free: &HashSet<Slot>) -> Overlap {
        let here_holds_there =
            !self.opaque && self.facts.iter().all(|fact| first.facts.contains(fact));
        let there_holds_here =
            !first.opaque && first.facts.iter().all(|fact| self.facts.contains(fact));
        if first.certain {
            return Overlap::Always;
        }
        // Values from packets occur in every combination.
        let differing = || {
            let here = self.facts.iter().filter(|fact| !first.facts.contains(fact));
            here.chain(first.facts.iter().filter(|fact| !self.facts.contains(fact)))
        };
        let one_slot = || differing().all(|(slot, _)| differing().all(|(other, _)| other == slot));
        let independent = || one_slot() || differing().all(|(slot, _)| free.contains(slot));
        let understood = !self.opaque && !first.opaque && independent();
        if here_holds_there || there_holds_here || understood {
            Overlap::Possible
        } else {
            Overlap::Unknown
        }
    }
}

/// Overlap of two uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// Whenever the second happens, the first has.
    Always,
    /// There are packets for which both happen.
    Possible,
    /// Nothing is known that excludes it.
    Unknown,
}

/// Several paths that come together.
pub fn join(paths: impl IntoIterator<Item = Option<Path>>) -> Option<Path> {
    paths.into_iter().flatten().reduce(|mut a, b| {
        a.facts.retain(|fact| b.facts.contains(fact));
        a.opaque |= b.opaque;
        for (thing, known) in &mut a.uses {
            for used in known {
                used.certain &= has(b.uses.get(thing), used.span);
            }
        }
        for (thing, uses) in b.uses {
            let known = a.uses.entry(thing).or_default();
            for mut second in uses {
                second.certain &= has(Some(known), second.span);
                let same = |first: &Use| {
                    first.span == second.span
                        && first.facts == second.facts
                        && first.opaque == second.opaque
                };
                if !known.iter().any(same) && known.len() < MAX_USES {
                    known.push(second);
                }
            }
        }
        a
    })
}

fn has(uses: Option<&Vec<Use>>, span: Span) -> bool {
    uses.is_some_and(|uses| uses.iter().any(|used| used.certain && used.span == span))
}

/// Fact from a comparison of a slot with a constant, if its result is `truth`: `None` if no fact
/// can represent it, `Some((slot, None))` if the result is impossible.
fn comparison(op: Binary, a: &Expr, b: &Expr, truth: bool) -> Option<(Slot, Option<Fact>)> {
    let (slot, ExprKind::Const(value)) = (plain_slot(a)?, &b.kind) else { return None };
    let (value, scalar) = (*value, a.scalar);
    let op = if truth { op } else { opposite(op)? };
    let top = u128::MAX >> (128 - scalar.width().clamp(1, 128));
    let within = |low: u128, high: u128| (low <= high).then_some(Fact::Within(low, high));
    let fact = match op {
        Binary::Eq => Some(Fact::is(value)),
        Binary::Ne => Some(Fact::Not(value)),
        // Patterns of signed numbers are in another order.
        _ if scalar.is_signed() => return None,
        Binary::Lt => value.checked_sub(1).and_then(|high| within(0, high)),
        Binary::Le => within(0, value),
        Binary::Gt => value.checked_add(1).and_then(|low| within(low, top)),
        Binary::Ge => within(value, top),
        _ => return None,
    };
    Some((slot, fact))
}

fn opposite(op: Binary) -> Option<Binary> {
    Some(match op {
        Binary::Eq => Binary::Ne,
        Binary::Ne => Binary::Eq,
        Binary::Lt => Binary::Ge,
        Binary::Le => Binary::Gt,
        Binary::Gt => Binary::Le,
        Binary::Ge => Binary::Lt,
        _ => return None,
    })
}

/// A slot as it is, or cast to another type of its width.
fn plain_slot(expr: &Expr) -> Option<Slot> {
    match &expr.kind {
        ExprKind::Slot(slot) => Some(*slot),
        ExprKind::Cast(inner) if inner.scalar.width() == expr.scalar.width() => plain_slot(inner),
        ExprKind::Slice(inner, 0) if inner.scalar.width() == expr.scalar.width() => {
            plain_slot(inner)
        }
        _ => None,
    }
}
