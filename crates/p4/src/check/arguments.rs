//! Arguments and parameters: binding, overload resolution and type arguments (specification 6.7,
//! 6.8.1, 8.20).
//!
//! Arguments are bound to parameters by position or name, which also resolves overloads; then their
//! types are unified with the parameters'; then each is cast to its parameter's type.

use super::Checker;
use super::infer::{Substitution, substitute};
use super::messages::code;
use super::operand::{Operand, broken};
use super::signature::{Param, Signature};
use super::type_ref::DontCare;
use crate::ast::{self, Argument, Direction, TypeRef};
use crate::diagnostic::{Diagnostic, near_name};
use crate::hir::{self, Arg, Expr, Object};
use crate::source::Span;
use crate::types::Type;

/// Argument bound to a parameter.
#[derive(Clone, Copy)]
pub(super) enum Slot<'e> {
    Given(&'e Argument),
    Default,
    Absent,
}

/// Error in the binding of arguments to parameters.
enum BindError {
    Mixed(Span),
    TooMany { taken: usize, given: usize },
    Missing(Vec<String>),
    NoSuchParameter(ast::Name),
    Twice(ast::Name),
}

/// Kind of a call, where the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// A function or `apply`: directionless arguments are known when compiled.
    Ordinary,
    /// An extern function or method: its implementation decides the requirements on its arguments.
    Extern,
    /// An action called directly: directionless parameters behave as `in`.
    Action,
    /// A constructor: all arguments are known; unused type arguments may remain uninferred.
    Constructor,
    /// A constructor of a parser or control: its type arguments may follow from its use.
    Block,
}

/// The type of a number without width, passed to an object whose own type is open
/// (`RegisterAction<T, _, U>`): 32 bits, as in the compiler's back ends.
fn number_of_object(param: &Param, ty: Type, object: &Substitution) -> Type {
    match &param.ty {
        Type::Var(var) if ty == Type::InfInt && object.contains_key(&var.id) => Type::Bit(32),
        _ => ty,
    }
}

/// Arguments in the order of the parameters.
pub(super) struct BoundCall {
    pub type_args: Vec<Type>,
    pub args: Vec<Arg>,
    pub returns: Type,
}

/// An argument after its own checking.
enum Checked {
    Value(Expr),
    CodeContext(Expr),
    Object(Object, Type, Span),
    DontCare,
    Broken,
}

fn bind<'e>(params: &[Param], args: &'e [Argument]) -> Result<Vec<Slot<'e>>, BindError> {
    let named = args.iter().filter(|arg| arg.name.is_some()).count();
    if named != 0 && named != args.len() {
        let odd = args.iter().find(|arg| arg.name.is_none());
        return Err(BindError::Mixed(odd.map_or(Span::DUMMY, |arg| arg.span)));
    }
    if named == 0 && args.len() > params.len() {
        return Err(BindError::TooMany { taken: params.len(), given: args.len() });
    }
    let mut slots: Vec<Option<Slot<'e>>> = vec![None; params.len()];
    for (at, arg) in args.iter().enumerate() {
        let at = match &arg.name {
            None => at,
            Some(name) => {
                let found = params.iter().position(|param| param.name == name.text);
                found.ok_or_else(|| BindError::NoSuchParameter(name.clone()))?
            }
        };
        if slots[at].replace(Slot::Given(arg)).is_some() {
            return Err(BindError::Twice(
                arg.name
                    .clone()
                    .unwrap_or(ast::Name { text: params[at].name.clone(), span: arg.span }),
            ));
        }
    }
    let mut missing = Vec::new();
    let mut bound = Vec::with_capacity(params.len());
    for (slot, param) in slots.into_iter().zip(params) {
        match slot {
            Some(slot) => bound.push(slot),
            None if param.default.is_some() => bound.push(Slot::Default),
            None if param.optional => bound.push(Slot::Absent),
            None => missing.push(format!("`{}`", param.name)),
        }
    }
    if missing.is_empty() { Ok(bound) } else { Err(BindError::Missing(missing)) }
}

impl Checker<'_> {
    /// The signature that takes these arguments, by their number and names.
    pub(super) fn choose<'e>(
        &mut self,
        candidates: &[&Signature],
        args: &'e [Argument],
        span: Span,
    ) -> Option<(usize, Vec<Slot<'e>>)> {
        let mut fitting: Vec<(usize, Vec<Slot<'e>>)> = Vec::new();
        for (at, candidate) in candidates.iter().enumerate() {
            if let Ok(slots) = bind(&candidate.params, args) {
                fitting.push((at, slots));
            }
        }
        let given = |slots: &[Slot<'_>]| slots.len();
        fitting.sort_by_key(|(_, slots)| given(slots));
        let ambiguous = fitting.len() > 1 && given(&fitting[0].1) == given(&fitting[1].1);
        if ambiguous {
            let message = format!("more than one `{}` takes these arguments", candidates[0].name);
            let mut diagnostic = Diagnostic::error(code::NO_OVERLOAD, span, message);
            for (at, _) in &fitting {
                diagnostic = diagnostic.with_place(candidates[*at].span, "this one does");
            }
            self.report(diagnostic);
            return None;
        }
        if fitting.is_empty() {
            self.no_candidate(candidates, args, span);
            return None;
        }
        Some(fitting.swap_remove(0))
    }

    fn no_candidate(&mut self, candidates: &[&Signature], args: &[Argument], span: Span) {
        match candidates {
            [] => {}
            [only] => {
                if let Err(error) = bind(&only.params, args) {
                    self.bind_error(only, error, span);
                }
            }
            [first, ..] => {
                let plural = if args.len() == 1 { "" } else { "s" };
                let (name, given) = (&first.name, args.len());
                let message = format!("no `{name}` takes {given} argument{plural} like these");
                let mut diagnostic = Diagnostic::error(code::NO_OVERLOAD, span, message);
                for candidate in candidates {
                    let text = format!("takes {}", self.show_params(candidate));
                    diagnostic = diagnostic.with_place(candidate.span, text);
                }
                self.report(diagnostic);
            }
        }
        for arg in args {
            if let Some(value) = &arg.value {
                self.silently(|checker| checker.operand(value, Some(&Type::Unknown)));
            }
        }
    }

    fn show_params(&self, signature: &Signature) -> String {
        let params = signature.params.iter();
        let params = params.map(|param| format!("{} {}", self.show(&param.ty), param.name));
        format!("({})", params.collect::<Vec<_>>().join(", "))
    }

    fn bind_error(&mut self, signature: &Signature, error: BindError, span: Span) {
        let name = &signature.name;
        let diagnostic = match error {
            BindError::Mixed(odd) => {
                let message = "either all arguments are named or none";
                Diagnostic::error(code::ARGUMENTS, odd, message)
            }
            BindError::TooMany { taken, given } => {
                let plural = if taken == 1 { "" } else { "s" };
                let message = format!("`{name}` takes {taken} argument{plural}, found {given}");
                Diagnostic::error(code::ARGUMENTS, span, message)
            }
            BindError::Missing(missing) => {
                let message = format!("`{name}` also needs {}", missing.join(", "));
                Diagnostic::error(code::ARGUMENTS, span, message)
            }
            BindError::NoSuchParameter(wrong) => {
                let known = signature.params.iter().map(|param| &*param.name);
                let near = near_name(&wrong.text, known).map(str::to_string);
                let message = format!("`{name}` has no parameter `{}`", wrong.text);
                let diagnostic = Diagnostic::error(code::ARGUMENTS, wrong.span, message);
                match near {
                    Some(near) => {
                        let text = format!("did you mean `{near}`?");
                        diagnostic.with_suggestion(wrong.span, near, text)
                    }
                    None => diagnostic,
                }
            }
            BindError::Twice(twice) => {
                let message = format!("the argument `{}` is given twice", twice.text);
                Diagnostic::error(code::ARGUMENTS, twice.span, message)
            }
        };
        self.report(if signature.span.is_dummy() {
            diagnostic
        } else {
            diagnostic.with_place(signature.span, "declared here")
        });
    }

    /// Type arguments as written, or an inference variable for each parameter.
    pub(super) fn type_arguments(
        &mut self,
        signature: &Signature,
        written: &[TypeRef],
        span: Span,
    ) -> Option<Vec<Type>> {
        if written.is_empty() {
            let params = signature.type_params.iter();
            return Some(params.map(|param| self.fresh(&param.name)).collect());
        }
        let args: Vec<Type> =
            written.iter().map(|arg| self.type_argument(arg, DontCare::Infer)).collect();
        if args.len() == signature.type_params.len() {
            return Some(args);
        }
        let (wanted, found) = (signature.type_params.len(), args.len());
        let message = format!("`{}` takes {wanted} type arguments, found {found}", signature.name);
        let diagnostic = Diagnostic::error(code::TYPE_ARGUMENTS, span, message);
        self.report(diagnostic.with_place(signature.span, "declared here"));
        None
    }

    /// Checks the arguments of a call. `outer` are the type arguments of the enclosing declaration
    /// (an extern's, for its methods).
    pub(super) fn bound_call(
        &mut self,
        signature: &Signature,
        slots: &[Slot<'_>],
        type_args: Vec<Type>,
        outer: &Substitution,
        kind: CallKind,
        span: Span,
    ) -> Option<BoundCall> {
        let mut by = outer.clone();
        by.extend(super::infer::substitution(&signature.type_params, &type_args));
        let wanted: Vec<Type> =
            signature.params.iter().map(|param| substitute(&param.ty, &by)).collect();
        let mut checked = self.check_slots(signature, slots, &wanted);
        let fits = self.unify_arguments(signature, &mut checked, &wanted);
        let type_args = self.settle(signature, &type_args, kind, fits, span)?;
        let generic = !by.is_empty();
        let mut args = Vec::with_capacity(slots.len());
        for (at, (slot, checked)) in slots.iter().zip(checked).enumerate() {
            let param = &signature.params[at];
            let ty = self.resolved(&wanted[at]);
            let ty = if generic { self.well_formed(ty, span) } else { ty };
            let ty = if kind == CallKind::Extern { number_of_object(param, ty, outer) } else { ty };
            args.push(match slot {
                Slot::Absent => Arg::Absent,
                Slot::Default => self.default_arg(param, &ty, &by, span),
                Slot::Given(arg) => self.finished(param, checked, &ty, kind, arg.span),
            });
        }
        let returns = self.resolved(&substitute(&signature.returns, &by));
        let returns = if generic { self.well_formed(returns, span) } else { returns };
        Some(BoundCall { type_args, args, returns })
    }

    fn check_slots(
        &mut self,
        signature: &Signature,
        slots: &[Slot<'_>],
        wanted: &[Type],
    ) -> Vec<Checked> {
        // Evaluated in the order of the text, which named arguments may change.
        let mut order: Vec<usize> = (0..slots.len()).collect();
        order.sort_by_key(|at| match slots[*at] {
            Slot::Given(arg) => arg.span.start,
            _ => u32::MAX,
        });
        let mut checked: Vec<Checked> = slots.iter().map(|_| Checked::Broken).collect();
        for at in order {
            if let Slot::Given(arg) = slots[at] {
                checked[at] = self.argument(&signature.params[at], arg, &wanted[at]);
            }
        }
        checked
    }

    fn argument(&mut self, param: &Param, arg: &Argument, wanted: &Type) -> Checked {
        let Some(value) = &arg.value else {
            if param.direction != Direction::Out {
                let message = "`_` may stand only for an `out` argument";
                let diagnostic = Diagnostic::error(code::ARGUMENTS, arg.span, message);
                self.report(diagnostic.with_place(param.span, "the parameter"));
            }
            return Checked::DontCare;
        };
        if matches!(param.direction, Direction::Out | Direction::InOut) {
            let place = self.lvalue(value);
            return if place.ty == Type::Unknown {
                Checked::Broken
            } else {
                Checked::CodeContext(place)
            };
        }
        let wanted = self.resolved(wanted);
        let expected = if self.is_open(&wanted) { None } else { Some(&wanted) };
        match self.operand(value, expected) {
            Operand::Object(object, ty) => Checked::Object(object, ty, value.span),
            Operand::Broken => Checked::Broken,
            Operand::Value(value) if value.ty == Type::Unknown => Checked::Broken,
            Operand::Value(value) if value.ty != Type::Void => Checked::Value(value),
            _ => {
                // Reports its errors.
                self.expr(value, expected);
                Checked::Broken
            }
        }
    }

    /// Unifies the types of arguments with those of parameters; plain numbers last, since they
    /// take any width.
    fn unify_arguments(
        &mut self,
        signature: &Signature,
        checked: &mut [Checked],
        wanted: &[Type],
    ) -> bool {
        let mut fits = true;
        for plain_numbers in [false, true] {
            for (at, wanted) in wanted.iter().enumerate() {
                let (ty, span) = match &checked[at] {
                    Checked::Value(value) | Checked::CodeContext(value) => {
                        (value.ty.clone(), value.span)
                    }
                    Checked::Object(_, ty, span) => (ty.clone(), *span),
                    Checked::DontCare | Checked::Broken => continue,
                };
                let is_plain = ty == Type::InfInt && self.open_var(wanted).is_some();
                if is_plain != plain_numbers && (is_plain || plain_numbers) {
                    continue;
                }
                if !self.unify(wanted, &ty) {
                    self.wrong_argument(&signature.params[at], &ty, wanted, span);
                    checked[at] = Checked::Broken;
                    fits = false;
                }
            }
        }
        fits && !checked.iter().any(|checked| matches!(checked, Checked::Broken))
    }

    fn wrong_argument(&mut self, param: &Param, found: &Type, wanted: &Type, span: Span) {
        let (wanted, found) = (self.show(wanted), self.show(found));
        let message =
            format!("argument for `{}`: expected `{wanted}`, found `{found}`", param.name);
        let diagnostic = Diagnostic::error(code::MISMATCH, span, message)
            .with_label(format!("this is `{found}`"));
        self.report(if param.span.is_dummy() {
            diagnostic
        } else {
            diagnostic.with_place(param.span, format!("`{wanted}` is wanted here"))
        });
    }

    /// Inferred type arguments; reports a type parameter that could not be inferred.
    fn settle(
        &mut self,
        signature: &Signature,
        type_args: &[Type],
        kind: CallKind,
        fits: bool,
        span: Span,
    ) -> Option<Vec<Type>> {
        let mut settled = Vec::with_capacity(type_args.len());
        for (arg, param) in type_args.iter().zip(&signature.type_params) {
            if self.is_open(arg) {
                if kind == CallKind::Block && fits {
                    settled.push(self.resolved(arg));
                    continue;
                }
                if kind != CallKind::Constructor && fits {
                    let message = format!("the type `{}` cannot be inferred", param.name);
                    let name = &signature.name;
                    let diagnostic = Diagnostic::error(code::CANNOT_INFER, span, message)
                        .with_place(signature.span, "declared here")
                        .with_help(format!("write it out: `{name}<...>(...)`"));
                    self.report(diagnostic);
                    return None;
                }
                self.close(arg);
            }
            let arg = self.resolved(arg);
            if arg == Type::InfInt && kind == CallKind::Ordinary {
                let message =
                    format!("the width of the number for `{}` cannot be inferred", param.name);
                let diagnostic = Diagnostic::error(code::CANNOT_INFER, span, message)
                    .with_place(signature.span, "declared here")
                    .with_help("write a width, as in `8w5`");
                self.report(diagnostic);
                return None;
            }
            settled.push(arg);
        }
        Some(settled)
    }

    /// Closes inference variables that are still open: any type matches them.
    pub(super) fn close(&mut self, ty: &Type) {
        let mut open = Vec::new();
        super::infer::map_vars(&self.resolved(ty), &mut |var| {
            open.push(var.clone());
            None
        });
        for var in open {
            if self.bindings.get(&var.id) == Some(&None) {
                self.bindings.insert(var.id, Some(Type::Unknown));
            }
        }
    }

    fn default_arg(&mut self, param: &Param, ty: &Type, by: &Substitution, span: Span) -> Arg {
        match param.default.clone() {
            Some(Arg::In(value)) => {
                Arg::In(self.convert(value, ty, "the default value", Some(span)))
            }
            Some(Arg::Object(object)) => Arg::Object(self.default_object(object, by, span)),
            Some(other) => other,
            None => Arg::Absent,
        }
    }

    /// The argument in its final form, of the parameter's type.
    fn finished(
        &mut self,
        param: &Param,
        checked: Checked,
        ty: &Type,
        kind: CallKind,
        span: Span,
    ) -> Arg {
        match checked {
            Checked::Broken => Arg::In(broken(span)),
            Checked::DontCare => Arg::DontCare,
            Checked::Object(object, found, _) => {
                let is_block = matches!(found, Type::Parser(_) | Type::Control(_));
                let constructs = matches!(kind, CallKind::Constructor | CallKind::Block);
                if !constructs && (is_block || matches!(found, Type::Package(..))) {
                    let message = "only constructors take parsers, controls and packages";
                    self.error(code::ARGUMENTS, span, message);
                } else if param.direction != Direction::None {
                    let message = "an instance is handed only to a parameter without direction";
                    self.error(code::DIRECTION, span, message);
                }
                Arg::Object(self.default_object(object, &Substitution::new(), span))
            }
            Checked::CodeContext(place) => {
                if let Err(place) = self.same_type(place.clone(), ty) {
                    self.wrong_argument(param, &place.ty, ty, place.span);
                }
                if param.direction == Direction::Out { Arg::Out(place) } else { Arg::InOut(place) }
            }
            Checked::Value(value) if !self.has_type_at_run_time(&value, param, ty) => {
                Arg::In(broken(value.span))
            }
            Checked::Value(value) => {
                let what = format!("argument for `{}`", param.name);
                let declared = Some(param.span);
                let value = self.convert(value, ty, &what, declared);
                if param.direction == Direction::None
                    && !matches!(kind, CallKind::Action | CallKind::Extern)
                {
                    self.check_known(&value, param);
                }
                Arg::In(value)
            }
        }
    }

    /// Checks that an argument of a generic parameter with a direction exists at run time; reports
    /// it if not.
    fn has_type_at_run_time(&mut self, value: &Expr, param: &Param, ty: &Type) -> bool {
        let generic = matches!(param.ty, Type::Var(_)) && param.direction != Direction::None;
        let (message, help) = match ty {
            _ if !generic => return true,
            Type::InfInt => ("the width of this number cannot be inferred", "write it as in `8w5`"),
            Type::String => ("a text is handed only to a parameter without direction", ""),
            Type::Struct(f) if f.name.is_empty() => {
                ("the type of this literal cannot be inferred", "write it with a cast: `(T) {...}`")
            }
            _ => return true,
        };
        let diagnostic = Diagnostic::error(code::CANNOT_INFER, value.span, message)
            .with_place(param.span, "the parameter has no type of its own");
        self.report(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) });
        false
    }

    fn same_type(&mut self, place: Expr, ty: &Type) -> Result<(), Expr> {
        let number = |ty: &Type| matches!(ty, Type::Bit(_) | Type::Int(_) | Type::InfInt);
        if number(ty) || matches!(place.ty, Type::SerializableEnum(_)) {
            return if place.ty == *ty { Ok(()) } else { Err(place) };
        }
        self.try_convert(place, ty).map(|_| ())
    }

    fn check_known(&mut self, value: &Expr, param: &Param) {
        if value.ty == Type::Unknown || self.is_known(value) {
            return;
        }
        let message =
            format!("the argument for `{}` must be known when the program is compiled", param.name);
        let diagnostic = Diagnostic::error(code::NOT_CONSTANT, value.span, message)
            .with_place(param.span, "the parameter has no direction");
        self.report(diagnostic);
    }

    /// A default value: a known value, or a constructor call.
    pub(super) fn default_argument(&mut self, default: &ast::Expr, ty: &Type) -> Option<hir::Arg> {
        let expected = (!super::infer::has_vars(ty)).then_some(ty);
        match self.operand(default, expected) {
            Operand::Object(object, found) => {
                if !super::infer::has_vars(ty) && !self.unify(ty, &found) {
                    let (wanted, found) = (self.show(ty), self.show(&found));
                    let message = format!("default value: expected `{wanted}`, found `{found}`");
                    self.error(code::MISMATCH, default.span, message);
                }
                Some(Arg::Object(object))
            }
            Operand::Value(value) => {
                let value = match expected {
                    Some(ty) => self.convert(value, ty, "the default value", None),
                    None => value,
                };
                if !self.is_known(&value) {
                    let message = "a default value must be known when the program is compiled";
                    self.error(code::NOT_CONSTANT, default.span, message);
                }
                Some(Arg::In(value))
            }
            Operand::Broken => None,
            _ => {
                self.expr(default, expected);
                None
            }
        }
    }
}
