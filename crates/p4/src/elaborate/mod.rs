//! Elaboration: from the typed tree to the IR, every instance inlined, every value a slot.
//!
//! Uses `hir` and `ir`. `main` is evaluated as specification chapter 18 says; each parser or
//! control passed to a package becomes a unit with a frame of its own. The order of evaluation,
//! copy-in and copy-out are those of chapter 6.8; if the result is the same, arguments are passed
//! by reference instead of by copy. Must not depend on an architecture: of core.p4 it knows
//! `packet_in`, `packet_out` and `verify`.
//!
//! One idea a file: `instance` packages, units, objects and their names; `constant` known values;
//! `layout` frames; `lvalue` lvalues; `value` and `expr` expressions; `call` and `inline` calls;
//! `packet` core.p4's packets; `stmt` and `loops` statements; `parser` states; `keyset` patterns;
//! `table` tables; `declare` declarations for the control plane.

mod call;
mod components;
mod constant;
mod declare;
mod effects;
mod expr;
mod inline;
mod instance;
mod keyset;
mod layout;
mod loops;
mod lvalue;
mod packet;
mod parser;
mod size;
mod stmt;
mod table;
mod value;

use crate::diagnostic::Diagnostic;
use crate::escape::visible_name;
use crate::hir::{self, InstanceId, VarId};
use crate::ir::{self, Label, Layout, ObjectId, SlotInfo, Stmt, StmtKind, UnitId};
use crate::source::Span;
use crate::types::Type;
use constant::Constant;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of statements of a program: inlining can multiply without end.
const MAX_STATEMENTS: u32 = 400_000;
/// Maximum number of inlined calls and instances of a program: those without statements can double
/// without end, too.
const MAX_INLINED: u32 = 1 << 16;
/// Maximum size of the names of all slots of a program, bytes: each includes the names of all
/// levels above.
const MAX_NAME_BYTES: usize = 1 << 28;
/// Maximum number of slots of a unit's frame.
const MAX_SLOTS: usize = 1 << 20;
/// Maximum nesting of instances.
const MAX_DEPTH: usize = 64;
/// Stack size of elaboration, bytes: enough for the deepest tree that the checker produces.
const STACK: usize = 256 << 20;

/// Fields of a header after `setValid` makes it valid, which the language leaves undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fresh {
    /// Unchanged.
    #[default]
    Kept,
    /// Zero.
    Zero,
}

/// Elaborates a checked program.
///
/// # Errors
/// Diagnostics for constructs that cannot be elaborated: constants without a known value, frames
/// that are too large, constructs without a form in the IR.
pub fn elaborate(program: &hir::Program) -> Result<ir::Program, Vec<Diagnostic>> {
    elaborate_with(program, Fresh::default())
}

/// [`elaborate`] for an architecture that defines more than the language.
///
/// # Errors
/// As for [`elaborate`].
pub fn elaborate_with(
    program: &hir::Program,
    fresh: Fresh,
) -> Result<ir::Program, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let run = || Elaborator::new(program, fresh).program();
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let failed = |what: &str| {
            Err(vec![Diagnostic::error("E1301", Span::DUMMY, format!("elaboration {what}"))])
        };
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => failed("ended unexpectedly; this is a defect of the tool"),
            Err(_) => failed("could not start a thread"),
        }
    })
}

/// Current binding of a name.
#[derive(Clone, Debug)]
enum Binding {
    /// A variable in the frame.
    Place(Layout),
    /// A known value.
    Constant(Constant),
    /// An extern object.
    Object(ObjectId),
    /// A control or parser instance: an index into [`UnitState::scopes`].
    Block(usize),
    /// `packet_in` or `packet_out`.
    Packet,
}

/// An instance of a control or parser within a unit.
#[derive(Debug, Default)]
struct Scope {
    /// Class of the instance.
    of: Option<hir::InstanceOf>,
    /// Its full name in the control plane; empty for none.
    name: String,
    /// Constructor parameters.
    constants: Vec<(VarId, Binding)>,
    /// Instances in it.
    members: HashMap<InstanceId, Binding>,
    /// Tables that were lowered.
    tables: HashMap<hir::TableId, table::Lowered>,
    /// Value sets.
    value_sets: HashMap<hir::ValueSetId, ir::ValueSetId>,
    /// Layouts of the instance's variables and parameters.
    vars: HashMap<VarId, Layout>,
    /// True once its objects' methods are lowered.
    entered: bool,
    /// Levels of instances above it.
    depth: usize,
    /// Source positions of the enclosing instances, outermost first.
    path: Vec<u32>,
}

/// Target of `exit`.
#[derive(Clone, Copy, Debug)]
struct ExitTarget {
    label: Label,
    /// True if the target continues afterwards: a flag then records the exit.
    flagged: bool,
}

/// Target of `return`, and the destination of its value.
#[derive(Clone, Debug)]
struct ReturnTarget {
    label: Label,
    result: Option<Layout>,
}

/// Targets of `break` and `continue`.
#[derive(Clone, Copy, Debug)]
struct LoopTarget {
    leave: Label,
    next: Label,
}

/// The unit under construction.
#[derive(Debug, Default)]
struct UnitState {
    id: Option<UnitId>,
    slots: Vec<SlotInfo>,
    wide_slots: Vec<SlotInfo>,
    labels: u32,
    scopes: Vec<Scope>,
    /// The scope being lowered.
    current: usize,
    exit: Option<ExitTarget>,
    exit_flag: Option<ir::Slot>,
    returns: Vec<ReturnTarget>,
    loops: Vec<LoopTarget>,
    /// States of a parser.
    states: Vec<ir::State>,
    /// The state being filled, in a parser.
    state: Option<ir::StateId>,
    /// True in the body of an implemented method.
    in_method: bool,
    /// The name of the outermost action, in the body of one.
    in_action: Option<Span>,
    /// The object whose method is being lowered.
    this: Option<ObjectId>,
}

/// The state of an elaboration.
struct Elaborator<'h> {
    hir: &'h hir::Program,
    fresh: Fresh,
    out: ir::Program,
    diagnostics: Vec<Diagnostic>,
    bindings: HashMap<VarId, Binding>,
    top_objects: HashMap<InstanceId, ObjectId>,
    packages: HashMap<InstanceId, ir::Package>,
    units: HashMap<InstanceId, UnitId>,
    unit: UnitState,
    /// Statements of the list under construction.
    code: Vec<Stmt>,
    statements: u32,
    /// Bytes of the names of slots.
    name_bytes: usize,
    /// Number of inlined calls and instances.
    inlined: u32,
    /// True once the program is too large: no more is generated.
    exhausted: bool,
}

impl<'h> Elaborator<'h> {
    fn new(hir: &'h hir::Program, fresh: Fresh) -> Elaborator<'h> {
        Elaborator {
            hir,
            fresh,
            out: ir::Program { errors: hir.errors.clone(), ..ir::Program::default() },
            diagnostics: Vec::new(),
            bindings: HashMap::new(),
            top_objects: HashMap::new(),
            packages: HashMap::new(),
            units: HashMap::new(),
            unit: UnitState::default(),
            code: Vec::new(),
            statements: 0,
            name_bytes: 0,
            inlined: 0,
            exhausted: false,
        }
    }

    fn program(mut self) -> Result<ir::Program, Vec<Diagnostic>> {
        let hir = self.hir;
        for &id in &hir.top_level {
            if matches!(hir.instances[id.index()].of, hir::InstanceOf::Extern { .. }) {
                self.top_object(id);
            }
        }
        if let Some(main) = hir.main {
            self.out.main = self.package(main, 0);
        }
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(self.diagnostics);
        }
        self.out.constants = hir.constants.clone();
        self.out.declared.headers = hir.headers.clone();
        self.out.declared.annotated_blocks = hir.annotated_blocks.clone();
        Ok(self.out)
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // The same position is lowered once per instance; one message is enough.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Appends a statement.
    fn push(&mut self, kind: StmtKind, span: Span) {
        if self.exhausted {
            return;
        }
        self.statements = self.statements.saturating_add(size::units(&kind));
        if self.statements > MAX_STATEMENTS {
            self.exhausted = true;
            let message = "inlining makes this program too large";
            self.report(Diagnostic::error("E1302", span, message).with_note(format!(
                "calls, sub-controls and loops over elements are written out; the limit is \
                 {MAX_STATEMENTS} statements, each of up to 64 operands"
            )));
            return;
        }
        if let Some(action) = self.unit.in_action {
            self.out.declared.in_actions.insert(span, action);
        }
        self.code.push(Stmt { kind, span });
    }

    /// Counts a call or an instance to be inlined at `span`; false if it exceeds the limit, or no
    /// more is generated anyway.
    fn may_inline(&mut self, span: Span) -> bool {
        if self.exhausted {
            return false;
        }
        self.inlined += 1;
        if self.inlined <= MAX_INLINED {
            return true;
        }
        self.exhausted = true;
        let message = "inlining makes this program too large";
        self.report(Diagnostic::error("E1302", span, message).with_note(format!(
            "each call is written out, and each instance with all instances in it; the limit is \
             {MAX_INLINED} of them"
        )));
        false
    }

    /// The statements appended by `fill`, as a separate list.
    fn nested(&mut self, fill: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.code);
        fill(self);
        std::mem::replace(&mut self.code, outer)
    }

    fn label(&mut self) -> Label {
        self.unit.labels += 1;
        Label(self.unit.labels - 1)
    }

    /// Appends statements that may leave by `label`, without a block where none is needed.
    fn close_block(&mut self, label: Label, mut body: Vec<Stmt>, span: Span) {
        while matches!(body.last(), Some(Stmt { kind: StmtKind::Leave(to), .. }) if *to == label) {
            body.pop();
        }
        if mentions(&body, label) {
            self.push(StmtKind::Block { label, body }, span);
        } else {
            self.code.extend(body);
        }
    }

    fn scope(&self) -> &Scope {
        &self.unit.scopes[self.unit.current]
    }

    fn scope_mut(&mut self) -> &mut Scope {
        &mut self.unit.scopes[self.unit.current]
    }

    fn var(&self, id: VarId) -> &'h hir::Var {
        &self.hir.vars[id.index()]
    }

    fn var_type(&self, id: VarId) -> &'h Type {
        &self.var(id).ty
    }
}

/// True if a statement leaves by `label`.
fn mentions(stmts: &[Stmt], label: Label) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Leave(to) => *to == label,
        StmtKind::If { then, otherwise, .. } => mentions(then, label) || mentions(otherwise, label),
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().any(|(_, body)| mentions(body, label)) || mentions(default, label)
        }
        StmtKind::Block { body, .. } | StmtKind::Loop { body, .. } => mentions(body, label),
        _ => false,
    })
}

/// The type behind new types.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::New(new) => plain(&new.target),
        other => other,
    }
}

/// The name given by `@name`, if there is one.
fn annotated_name(annotations: &[crate::ast::Annotation]) -> Option<Arc<str>> {
    use crate::ast::AnnotationBody;
    let annotation = annotations.iter().find(|annotation| &*annotation.name.text == "name")?;
    let name = match &annotation.body {
        AnnotationBody::Tokens(tokens) => {
            tokens.iter().find(|token| token.is_string).map(|token| token.text.clone())
        }
        AnnotationBody::Expressions(values) => {
            values.iter().find_map(|value| value.text()).cloned()
        }
        _ => None,
    };
    name.map(visible_name)
}
