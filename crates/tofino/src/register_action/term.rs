//! Term: the value of an expression inside a register action, before it is fitted to the units.
//!
//! Terms name the fetched memory words, fields of the packet, constants and the math unit's result.
//! Two terms are equal if the silicon would compute the same, wherever they are written.

use sojourn_p4::ir::{Binary, Expr, ExprKind, ObjectId};
use sojourn_p4::source::Span;

/// A half of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// The only word, or the first field.
    Lo,
    /// The second field.
    Hi,
}

/// An expression over the inputs of a stateful ALU.
#[derive(Clone, Debug)]
pub struct Term {
    /// Kind of the expression.
    pub kind: TermKind,
    /// Its width in bits.
    pub width: u32,
    /// Source span.
    pub span: Span,
}

/// The forms of a [`Term`].
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The variants say what their fields are.
pub enum TermKind {
    /// A memory word as fetched.
    Memory(Half),
    /// A half as it is after this access; outputs only.
    Updated(Half),
    /// A field of the packet, or bits of fields that the input crossbar can gather.
    Field(Box<Expr>),
    /// A constant, negative if its type is signed and it is.
    Constant(i128),
    /// The value of a `RegisterParam`.
    Parameter(ObjectId),
    /// The result of a math unit.
    Math(ObjectId, Box<Term>),
    /// The outcome of the comparisons, one bit for each.
    Predicate,
    /// The address of the entry.
    Address,
    /// The quotient of two terms.
    Quotient(Box<Term>, Box<Term>),
    /// The remainder of two terms.
    Remainder(Box<Term>, Box<Term>),
    /// The element that a search finds.
    Extreme(Box<SearchTerm>),
    /// The number of that element.
    ExtremeIndex(Box<SearchTerm>),
    /// `~a`
    Complement(Box<Term>),
    /// `-a`
    Negate(Box<Term>),
    /// Two operands.
    Operation(Operation, Box<Term>, Box<Term>),
    /// The low bits of a term; the width says how many.
    Low(Box<Term>),
    /// Bits of a term from this one on; the width says how many.
    Part(Box<Term>, u32),
}

/// A search of the whole word of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchTerm {
    /// For the largest element, otherwise for the smallest.
    pub largest: bool,
    /// Elements have 16 bits, otherwise 8.
    pub wide: bool,
    /// Elements that take part.
    pub mask: Term,
    /// Addend to the element that is found.
    pub change: Option<Term>,
}

/// Operations that update ALUs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `signed` says how a saturating or choosing operation reads its operands.
pub enum Operation {
    Add,
    Sub,
    SatAdd { signed: bool },
    SatSub { signed: bool },
    Min { signed: bool },
    Max { signed: bool },
    And,
    Or,
    Xor,
}

impl Operation {
    /// The operation of a P4 operator, if update ALUs have it.
    pub fn from_operator(operator: Binary, signed: bool) -> Option<Operation> {
        Some(match operator {
            Binary::Add => Operation::Add,
            Binary::Sub => Operation::Sub,
            Binary::SatAdd => Operation::SatAdd { signed },
            Binary::SatSub => Operation::SatSub { signed },
            Binary::BitAnd => Operation::And,
            Binary::BitOr => Operation::Or,
            Binary::BitXor => Operation::Xor,
            _ => return None,
        })
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        use TermKind as K;
        match (&self.kind, &other.kind) {
            (K::Memory(a), K::Memory(b)) | (K::Updated(a), K::Updated(b)) => a == b,
            (K::Predicate, K::Predicate) | (K::Address, K::Address) => true,
            (K::Quotient(a, b), K::Quotient(x, y)) | (K::Remainder(a, b), K::Remainder(x, y)) => {
                a == x && b == y
            }
            (K::Extreme(a), K::Extreme(b)) | (K::ExtremeIndex(a), K::ExtremeIndex(b)) => a == b,
            (K::Part(a, low), K::Part(b, first)) => {
                low == first && self.width == other.width && a == b
            }
            (K::Field(a), K::Field(b)) => same_expression(a, b),
            (K::Constant(a), K::Constant(b)) => a == b,
            (K::Parameter(a), K::Parameter(b)) => a == b,
            (K::Math(a, x), K::Math(b, y)) => a == b && x == y,
            (K::Complement(a), K::Complement(b)) | (K::Negate(a), K::Negate(b)) => a == b,
            (K::Operation(o, a, b), K::Operation(p, x, y)) => o == p && a == x && b == y,
            (K::Low(a), K::Low(b)) => self.width == other.width && a == b,
            _ => false,
        }
    }
}

impl Term {
    /// True for the constant 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.kind, TermKind::Constant(0))
    }
}

/// True if two expressions are the same text over the same slots.
pub fn same_expression(a: &Expr, b: &Expr) -> bool {
    use ExprKind as K;
    let same = |x: &Expr, y: &Expr| same_expression(x, y);
    a.scalar.width() == b.scalar.width()
        && match (&a.kind, &b.kind) {
            (K::Const(x), K::Const(y)) => x == y,
            (K::WideConst(x), K::WideConst(y)) => x == y,
            (K::Slot(x), K::Slot(y)) => x == y,
            (K::WideSlot(x), K::WideSlot(y)) => x == y,
            (K::Unary(o, x), K::Unary(p, y)) => o == p && same(x, y),
            (K::Binary(o, x1, x2), K::Binary(p, y1, y2)) => o == p && same(x1, y1) && same(x2, y2),
            (K::Slice(x, low), K::Slice(y, other)) => low == other && same(x, y),
            (K::Cast(x), K::Cast(y)) => x.scalar == y.scalar && same(x, y),
            _ => false,
        }
}
