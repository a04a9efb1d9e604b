//! The checker: from the syntax tree to the typed tree.
//!
//! One pass over the declarations in source order, since P4 requires every name to be declared
//! before its use. It resolves names, infers types, folds constants at any width, and enforces the
//! rules of the language (specification 1.2.5). Uses `ast`, `types` and `hir`. Must not depend on
//! an architecture. An error in one place must not cause messages in another ([`Type::Unknown`]
//! matches everything).
//!
//! One idea a file: `scope` names, `type_ref` written types, `nesting` valid containers and
//! elements, `infer` unification, `constant` folding, `memory_budget` its memory, `convert` casts, `expr`
//! and its neighbours expressions, `arguments` and `call` calls, `instance` constructors,
//! `statement` and its neighbours statements, `parser`, `control`, `table` blocks, `declare` and
//! its neighbours declarations.

mod aggregate;
mod annotations;
mod arguments;
mod block;
mod builtin;
mod call;
mod code_context;
pub(crate) mod constant;
mod control;
mod convert;
mod declare;
mod elements;
mod entries;
mod expr;
mod externs;
mod fields;
mod flow;
mod function;
mod generic;
mod infer;
mod initializer;
mod instance;
mod key_name;
mod keyset;
mod lvalue;
mod member;
mod memory_budget;
mod messages;
mod nesting;
mod operand;
mod operators;
mod parser;
mod scope;
mod signature;
mod size;
mod statement;
mod switch;
mod symbol_index;
mod table;
#[cfg(test)]
mod tests;
mod type_ref;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir;
use crate::source::SourceMap;
use crate::types::{DeclarationId, Type};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Stack size of checking, bytes: enough for [`MAX_DEPTH`] levels in an unoptimised build.
const STACK: usize = 256 << 20;
/// Maximum nesting of expressions, statements and types.
const MAX_DEPTH: u32 = 1000;
/// Maximum number of instantiations of generic functions.
const MAX_COPIES: usize = 2000;

/// Checks a program. The typed tree is present if and only if no diagnostic is an error.
///
/// Never panics, whatever the tree: nesting is bounded, and every error leaves a typed placeholder
/// so that checking continues.
pub fn check(
    program: &ast::Program,
    sources: &SourceMap,
) -> (Option<hir::Program>, Vec<Diagnostic>) {
    std::thread::scope(|scope| {
        let work = || Checker::new(sources).run(program);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => (None, vec![messages::no_thread(&error)]),
        }
    })
}

pub use symbol_index::{Named, names};

/// State of the checker during its pass over a program.
struct Checker<'a> {
    /// Provides the text of expressions, which names keys.
    sources: &'a SourceMap,
    /// The program so far.
    program: hir::Program,
    /// The diagnostics so far.
    diagnostics: Vec<Diagnostic>,
    /// Names in scope.
    scopes: scope::Scopes,
    /// The next [`DeclarationId`].
    next_declaration: u32,
    /// The next number of a type variable.
    next_type_var: u32,
    /// Inference variables, with their types once inferred.
    bindings: HashMap<u32, Option<Type>>,
    /// Extern objects, in the order of `program.externs`.
    externs: Vec<std::rc::Rc<externs::ExternInfo>>,
    /// Extern functions, in the order of `program.extern_functions`.
    extern_functions: Vec<std::rc::Rc<signature::Signature>>,
    /// Package types, in the order of `program.packages`.
    packages: Vec<std::rc::Rc<signature::Signature>>,
    /// Parser declarations, in the order of `program.parsers`.
    parsers: Vec<std::rc::Rc<block::BlockInfo>>,
    /// Control declarations, in the order of `program.controls`.
    controls: Vec<std::rc::Rc<block::BlockInfo>>,
    /// Parsers and controls with type parameters.
    generic_blocks: HashMap<DeclarationId, generic::GenericBlock<'a>>,
    /// Instances of generic blocks without type arguments, which must follow from their use.
    open_blocks: Vec<hir::InstanceId>,
    /// Actions, in the order of `program.actions`.
    actions: Vec<std::rc::Rc<signature::Signature>>,
    /// Function declarations; a generic one has no fixed place in `program.functions`.
    functions: Vec<std::rc::Rc<function::FunctionInfo<'a>>>,
    /// Control-plane names of actions by control; absolute ones and those of the top level have no
    /// control.
    action_names: HashMap<(Option<hir::ControlId>, Arc<str>), crate::source::Span>,
    /// For each parser or control type, which parameters are `@optional`.
    optional_params: HashMap<DeclarationId, Arc<[bool]>>,
    /// Context of the code being checked.
    place: code_context::CodeContext,
    /// The parser or control being checked.
    block: block::OpenBlock,
    /// Current nesting depth.
    depth: u32,
    /// Remaining memory budget of copies of constants.
    budget: memory_budget::Budget,
    /// Directionless parameters of actions: not known at compile time, unlike others.
    action_data: HashSet<hir::VarId>,
    /// Resolved names, if the caller requests them.
    named: Option<symbol_index::Found>,
}

impl<'a> Checker<'a> {
    fn new(sources: &'a SourceMap) -> Checker<'a> {
        Checker {
            sources,
            program: hir::Program::default(),
            diagnostics: Vec::new(),
            scopes: scope::Scopes::new(),
            next_declaration: 1,
            next_type_var: 1,
            bindings: HashMap::new(),
            externs: Vec::new(),
            extern_functions: Vec::new(),
            packages: Vec::new(),
            parsers: Vec::new(),
            controls: Vec::new(),
            generic_blocks: HashMap::new(),
            open_blocks: Vec::new(),
            actions: Vec::new(),
            functions: Vec::new(),
            action_names: HashMap::new(),
            optional_params: HashMap::new(),
            place: code_context::CodeContext::top_level(),
            block: block::OpenBlock::default(),
            depth: 0,
            budget: memory_budget::Budget::default(),
            action_data: HashSet::new(),
            named: None,
        }
    }

    fn run(mut self, program: &'a ast::Program) -> (Option<hir::Program>, Vec<Diagnostic>) {
        self.go_through(program);
        let failed = self.diagnostics.iter().any(Diagnostic::is_error);
        let diagnostics = messages::in_order(self.diagnostics);
        (if failed { None } else { Some(self.program) }, diagnostics)
    }

    fn go_through(&mut self, program: &'a ast::Program) {
        for declaration in &program.declarations {
            self.top_level_declaration(declaration);
        }
        self.check_open_blocks();
        self.check_main();
    }

    /// A new id for a declaration of a nominal type.
    fn declaration_id(&mut self) -> DeclarationId {
        self.next_declaration += 1;
        DeclarationId(self.next_declaration)
    }

    /// A new variable of the typed tree.
    fn new_var(&mut self, var: hir::Var) -> hir::VarId {
        let id = hir::VarId(self.program.vars.len() as u32);
        self.program.vars.push(var);
        id
    }
}
