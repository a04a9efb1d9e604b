//! Input limits of one gateway (T1015), after the arithmetic of `bf-p4c/mau/gateway.cpp`.
//!
//! A condition becomes rows, each a conjunction of comparisons. The compiler spreads rows over
//! gateways, but a row needs one gateway to itself: four bytes from the crossbar, and 12 bits more
//! through the hash. An equality of two fields takes bytes alone, an order bits alone. A `!=` is
//! turned into the `==` of the other branch, as a row cannot find a difference.

use super::condition::{Order, field_width, order};
use crate::fit::bits::{Bits, Copies, Place, is_constant};
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Binary, Expr, ExprKind, Unary, Unit};
use std::collections::BTreeSet;

/// Bytes that a gateway gets from the crossbar.
const BYTES: u32 = 4;
/// Bits that it gets through the hash.
const BITS: u32 = 12;
/// Bits that are compared in one go.
const COMPARED: u32 = 32;
/// Rows beyond which nothing is said.
const ROWS: usize = 32;

/// Checks the condition of an `if` in `apply`.
pub fn check(unit: &Unit, condition: &Expr, found: &mut Vec<Diagnostic>) {
    let Some(terms) = canonical(unit, condition) else { return };
    let Some(row) = rows(terms).into_iter().find(|row| !fits(row)) else { return };
    let (bytes, bits) = inputs(&row);
    let message = match bits {
        0 => format!("a condition reads {bytes} bytes at once"),
        _ => format!("a condition reads {bytes} bytes and {bits} bits at once"),
    };
    found.push(rules::GATEWAY_INPUT.refuse(condition.span, message).into());
}

/// Comparison that a term makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Equal,
    Different,
    Ordered,
}

/// One comparison of a row: bits with a constant or with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    relation: Relation,
    bits: Bits,
    with: Option<Bits>,
}

impl Term {
    fn negated(self) -> Term {
        let relation = match self.relation {
            Relation::Equal => Relation::Different,
            Relation::Different => Relation::Equal,
            Relation::Ordered => Relation::Ordered,
        };
        Term { relation, ..self }
    }

    /// A difference of one bit is an equality with its opposite.
    fn is_difference(&self) -> bool {
        self.relation == Relation::Different && self.bits.width() > 1
    }
}

/// Comparisons of which all hold.
type Row = BTreeSet<Term>;
/// Rows of which one holds; none at all never does, an empty one always.
type Rows = Vec<Row>;

/// The rows of a condition; none if there are too many.
fn canonical(unit: &Unit, condition: &Expr) -> Option<Rows> {
    truth(unit, condition, false).filter(|rows| rows.len() <= ROWS)
}

fn truth(unit: &Unit, expr: &Expr, negated: bool) -> Option<Rows> {
    match &expr.kind {
        ExprKind::Unary(Unary::Not, a) => truth(unit, a, !negated),
        ExprKind::Binary(op @ (Binary::And | Binary::Or), a, b) => {
            let (a, b) = (truth(unit, a, negated)?, truth(unit, b, negated)?);
            if (*op == Binary::And) == negated { Some(either(a, b)) } else { both(&a, &b) }
        }
        ExprKind::Binary(op @ (Binary::Eq | Binary::Ne), a, b) => {
            Some(equality(unit, (*op == Binary::Eq) != negated, a, b))
        }
        ExprKind::Binary(op @ (Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge), a, b) => {
            Some(ordered(unit, *op, negated, a, b))
        }
        ExprKind::Const(value) => {
            Some(if (*value != 0) == negated { Vec::new() } else { always() })
        }
        _ => {
            let relation = if negated { Relation::Different } else { Relation::Equal };
            Some(all(pieces(unit, expr).into_iter().map(|bits| Term {
                relation,
                bits,
                with: None,
            })))
        }
    }
}

fn always() -> Rows {
    vec![Row::new()]
}

fn either(mut a: Rows, b: Rows) -> Rows {
    a.extend(b);
    a
}

fn both(a: &Rows, b: &Rows) -> Option<Rows> {
    let joined = |x: &Row| b.iter().map(|y| x.union(y).copied().collect()).collect::<Rows>();
    (a.len() * b.len() <= ROWS).then(|| a.iter().flat_map(joined).collect())
}

fn all(terms: impl Iterator<Item = Term>) -> Rows {
    vec![terms.collect()]
}

/// `a == b` or `a != b`, cut where more bits are compared than in one go.
fn equality(unit: &Unit, equal: bool, a: &Expr, b: &Expr) -> Rows {
    let (field, other) = if is_constant(a) { (b, a) } else { (a, b) };
    let relation = if equal { Relation::Equal } else { Relation::Different };
    let terms: Vec<Term> = if is_constant(other) {
        let parts = pieces(unit, field).into_iter().flat_map(cut);
        parts.map(|bits| Term { relation, bits, with: None }).collect()
    } else {
        match (&pieces(unit, field)[..], &pieces(unit, other)[..]) {
            ([a], [b]) if a.width() == b.width() => {
                let with = cut(*b).into_iter().map(Some);
                let pairs = cut(*a).into_iter().zip(with);
                pairs.map(|(bits, with)| Term { relation, bits, with }).collect()
            }
            _ => Vec::new(),
        }
    };
    match equal || terms.is_empty() {
        true => all(terms.into_iter()),
        false => terms.into_iter().map(|term| Row::from([term])).collect(),
    }
}

fn ordered(unit: &Unit, op: Binary, negated: bool, a: &Expr, b: &Expr) -> Rows {
    let field = if is_constant(a) { b } else { a };
    let low = |shift: u32| {
        let whole = pieces(unit, field).into_iter().next();
        whole.filter(|bits| shift < bits.width()).map(|b| Bits { low: b.low + shift, ..b })
    };
    let (from, relation) = match order(op, a, b) {
        Order::Decided | Order::Fields => return always(),
        Order::Range(width) => (field_width(field).saturating_sub(width), Relation::Ordered),
        Order::Equality(shift) => {
            let below = matches!(op, Binary::Lt | Binary::Le) != is_constant(a);
            let equal = (below != negated) || field.scalar.is_signed();
            (shift, if equal { Relation::Equal } else { Relation::Different })
        }
    };
    let parts = low(from).into_iter().flat_map(|bits| match relation {
        Relation::Ordered => vec![bits],
        _ => cut(bits),
    });
    let terms: Vec<Term> = parts.map(|bits| Term { relation, bits, with: None }).collect();
    match relation == Relation::Different {
        true => terms.into_iter().map(|term| Row::from([term])).collect(),
        false => all(terms.into_iter()),
    }
}

/// The bits that are compared, the highest first; none if what is compared is computed.
fn pieces(unit: &Unit, expr: &Expr) -> Vec<Bits> {
    let whole = |bits: Bits| match bits.place {
        Place::Narrow(slot) if unit.slots.get(slot.index()).is_some_and(|info| info.temporary) => {
            Vec::new()
        }
        _ => vec![bits],
    };
    match &expr.kind {
        ExprKind::Slot(slot) => whole(Bits::whole(unit, *slot)),
        ExprKind::WideSlot(slot) => whole(Bits::whole_wide(unit, *slot)),
        ExprKind::Cast(inner) if inner.scalar.width() <= expr.scalar.width() => pieces(unit, inner),
        ExprKind::Cast(_) | ExprKind::Slice(..) => sliced(expr),
        ExprKind::Binary(Binary::Concat, a, b) => {
            pieces(unit, a).into_iter().chain(pieces(unit, b)).collect()
        }
        ExprKind::Binary(Binary::BitAnd, a, b) => match (&a.kind, &b.kind) {
            (_, ExprKind::Const(mask)) => masked(pieces(unit, a), *mask),
            (ExprKind::Const(mask), _) => masked(pieces(unit, b), *mask),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A slice of a field.
fn sliced(expr: &Expr) -> Vec<Bits> {
    let is_field = |expr: &Expr| matches!(expr.kind, ExprKind::Slot(_) | ExprKind::WideSlot(_));
    let inner = match &expr.kind {
        ExprKind::Cast(inner) | ExprKind::Slice(inner, _) => inner,
        _ => return Vec::new(),
    };
    let mut read = Vec::new();
    if is_field(inner) {
        Copies::default().read_all(expr, &mut |bits| read.push(bits));
    }
    read
}

/// The bits between the lowest and the highest one of a mask.
fn masked(pieces: Vec<Bits>, mask: u128) -> Vec<Bits> {
    let [bits] = pieces[..] else { return Vec::new() };
    if mask == 0 {
        return Vec::new();
    }
    let high = (127 - mask.leading_zeros()).min(bits.width() - 1);
    let low = mask.trailing_zeros().min(high);
    vec![Bits { low: bits.low + low, high: bits.low + high, ..bits }]
}

/// Parts that are compared in one go; the first ends at a byte of its field.
fn cut(bits: Bits) -> Vec<Bits> {
    let mut parts = Vec::new();
    let mut low = bits.low;
    while bits.high - low >= COMPARED {
        let next = low + COMPARED - low % 8;
        parts.push(Bits { low, high: next - 1, ..bits });
        low = next;
    }
    parts.push(Bits { low, ..bits });
    parts
}

/// Rows with the branch that they lead to, the last one for all that is left.
type Branches = Vec<(Rows, bool)>;

/// The rows that the gateways of a condition match, differences turned into equalities.
fn rows(condition: Rows) -> Rows {
    let mut branches: Branches = condition.into_iter().map(|row| (vec![row], true)).collect();
    branches.push((always(), false));
    for _ in 0..2 {
        if !branches.iter().any(needs_negation) || branches.len() > ROWS {
            break;
        }
        let Some(next) = without_differences(branches) else { return Vec::new() };
        branches = next;
    }
    let is_open = branches.iter().any(needs_negation);
    if is_open { Vec::new() } else { branches.into_iter().flat_map(|(rows, _)| rows).collect() }
}

fn needs_negation((rows, _): &(Rows, bool)) -> bool {
    rows.iter().flatten().any(Term::is_difference)
}

/// Moves rows with differences to the end and negates them.
fn without_differences(branches: Branches) -> Option<Branches> {
    let (mut kept, mut moved): (Branches, Branches) = (Vec::new(), Vec::new());
    let mut rest = branches.into_iter().peekable();
    while let Some((mut rows, to)) = rest.next() {
        if rest.peek().is_none() {
            kept.push((rows, to));
            break;
        }
        if needs_negation(&(rows.clone(), to)) {
            moved.push((rows, to));
            continue;
        }
        for (other, _) in moved.iter().filter(|(_, other)| *other != to) {
            rows = both(&rows, &negation(other)?)?;
        }
        kept.push((rows, to));
    }
    while let Some(&(_, last)) = moved.last() {
        let (back, to) = kept.last_mut()?;
        for (other, _) in moved.iter().filter(|(_, other)| *other != *to) {
            *back = both(back, &negation(other)?)?;
        }
        if back.iter().any(|row| !row.is_empty()) {
            kept.push((always(), last));
        }
        moved.remove(0);
    }
    let split = |(rows, to): (Rows, bool)| rows.into_iter().map(move |row| (vec![row], to));
    Some(kept.into_iter().flat_map(split).collect())
}

fn negation(rows: &Rows) -> Option<Rows> {
    rows.iter().try_fold(always(), |so_far, row| {
        let either: Rows = row.iter().map(|term| Row::from([term.negated()])).collect();
        both(&so_far, &either)
    })
}

fn fits(row: &Row) -> bool {
    let (bytes, bits) = inputs(row);
    bytes <= BYTES && bits <= BITS
}

/// Bytes and bits that a row reads.
fn inputs(row: &Row) -> (u32, u32) {
    let pairs: BTreeSet<(Bits, Bits)> =
        row.iter().filter_map(|term| Some((term.bits, term.with?))).collect();
    let mut bytes: u32 = pairs.iter().map(|(bits, _)| bits.bytes()).sum();
    let mut bits = 0;
    let alone = row.iter().filter(|term| term.with.is_none());
    let ordered: BTreeSet<Bits> =
        alone.clone().filter(|t| t.relation == Relation::Ordered).map(|t| t.bits).collect();
    let equal: BTreeSet<Bits> = alone.map(|term| term.bits).collect();
    let mut single: Vec<u32> = Vec::new();
    for field in &equal {
        let is_small = bytes + 1 > BYTES && field.bytes() == 1 && bits + field.width() <= BITS;
        if ordered.contains(field) || is_small {
            bits += field.width();
        } else {
            let last = (field.width() - 1) % 8 + 1;
            single.extend(std::iter::repeat_n(8, field.bytes() as usize - 1).chain([last]));
        }
    }
    single.sort_unstable_by(|a, b| b.cmp(a));
    for width in single {
        if bytes < BYTES { bytes += 1 } else { bits += width }
    }
    (bytes, bits)
}
