//! Control-plane declarations of a program, in source order, as a complement to the IR.
//!
//! They hold the types that the IR reduces to scalars and the annotations of inlined declarations.
//! Execution does not need them. They name the same tables, objects and value sets as the IR, in
//! the same order, and must not depend on any architecture.

use crate::ast::Annotation;
use crate::ir::UnitId;
use crate::source::Span;
use crate::types::{FieldsType, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Declarations for the control plane, collected during elaboration.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Tables, indexed as the IR's.
    pub tables: Vec<DeclaredTable>,
    /// Source order of each object, indexed as the IR's objects.
    pub objects: Vec<SourceOrder>,
    /// Value sets, indexed as the IR's.
    pub value_sets: Vec<DeclaredSet>,
    /// Actions that a table may run or that a control calls, once for each name.
    pub actions: Vec<DeclaredAction>,
    /// Statements in actions, each with the name of its outermost action: the IR has them inlined
    /// at the call, a compiler in an action of its own.
    pub in_actions: HashMap<Span, Span>,
    /// Each `exit` of a control outside of its actions, once for each time that the IR has it.
    pub exits: Vec<Span>,
    /// Loops over a list or over numbers without a width, each with the unit that it stands in: the IR
    /// has their rounds, a compiler may refuse the loop.
    pub unrolled: Vec<(UnitId, Span)>,
    /// Header types.
    pub headers: Vec<Arc<FieldsType>>,
    /// Blocks of statements with annotations; the IR has their statements alone.
    pub annotated_blocks: Vec<AnnotatedBlock>,
}

/// A block of statements with annotations.
#[derive(Clone, Debug)]
pub struct AnnotatedBlock {
    /// The whole block.
    pub span: Span,
    /// Its annotations.
    pub annotations: Vec<Annotation>,
}

/// Source order of a declaration: by unit, and within a unit in the order of the text, with the
/// declarations of an instance at the position of the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceOrder {
    /// The unit; none at top level.
    pub unit: Option<UnitId>,
    /// First bytes of the declarations, from the outermost instance inward.
    pub path: Vec<u32>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct DeclaredTable {
    /// Source order.
    pub place: SourceOrder,
    /// The types of its key elements.
    pub keys: Vec<Type>,
    /// For each of its actions, the annotations of the list's entry.
    pub references: Vec<Arc<[Annotation]>>,
}

/// A value set.
#[derive(Clone, Debug)]
pub struct DeclaredSet {
    /// Source order.
    pub place: SourceOrder,
    /// The type of a member.
    pub element: Type,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
}

/// An action.
#[derive(Clone, Debug)]
pub struct DeclaredAction {
    /// The name for the control plane.
    pub name: Arc<str>,
    /// Source order; a top-level action precedes everything else in the unit that uses it.
    pub place: SourceOrder,
    /// Parameters that a table sets.
    pub params: Vec<DeclaredParam>,
    /// True if a control calls it, too.
    pub called: bool,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
}

/// A parameter of an action.
#[derive(Clone, Debug)]
pub struct DeclaredParam {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Arc<[Annotation]>,
}
