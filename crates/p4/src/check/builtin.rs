//! Built-in methods: validity of headers, stack operations, sizes (specification 8.17 to 8.19 and
//! 9), and the requirements of `core.p4`'s methods on their arguments.

use super::Checker;
use super::arguments::BoundCall;
use super::call::CallResult;
use super::code_context::ContextKind;
use super::messages::code;
use super::operand::{integer, typed};
use super::size::bits;
use crate::ast::{Argument, Name};
use crate::diagnostic::Diagnostic;
use crate::hir::{Arg, Expr, ExprKind, StmtKind};
use crate::source::Span;
use crate::types::Type;

const SIZES: [&str; 4] = ["minSizeInBits", "minSizeInBytes", "maxSizeInBits", "maxSizeInBytes"];

impl Checker<'_> {
    /// `value.method(args)`
    pub(super) fn builtin_method(
        &mut self,
        value: Expr,
        method: &Name,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        if value.ty == Type::Unknown {
            return CallResult::Broken;
        }
        if SIZES.contains(&&*method.text) {
            let ty = value.ty.clone();
            return self.size_of_type(&ty, method, args, span);
        }
        match (&value.ty, &*method.text) {
            (Type::Header(_) | Type::HeaderUnion(_), "isValid") => {
                self.no_arguments(method, args);
                let kind = ExprKind::IsValid(Box::new(value));
                CallResult::Value(typed(kind, Type::Bool, span))
            }
            (Type::Header(_), "setValid" | "setInvalid") => {
                self.no_arguments(method, args);
                if !self.check_writable(&value) {
                    return CallResult::Broken;
                }
                CallResult::Statement(StmtKind::SetValid(value, &*method.text == "setValid"))
            }
            (Type::Stack(element, _), "push_front" | "pop_front")
                if matches!(**element, Type::Header(_) | Type::HeaderUnion(_)) =>
            {
                self.move_stack(value, method, args, span)
            }
            (ty, _) => {
                let mut known: Vec<&str> = match ty {
                    Type::Header(_) => vec!["isValid", "setValid", "setInvalid"],
                    Type::HeaderUnion(_) => vec!["isValid"],
                    Type::Stack(..) => vec!["push_front", "pop_front"],
                    _ => vec![],
                };
                known.extend(SIZES);
                let what = format!("a value of type `{}`", self.show(ty));
                self.no_method(&what, method, &known);
                CallResult::Broken
            }
        }
    }

    fn no_arguments(&mut self, method: &Name, args: &[Argument]) {
        if let Some(arg) = args.first() {
            let message = format!("`{}` takes no arguments", method.text);
            self.error(code::ARGUMENTS, arg.span, message);
        }
    }

    fn move_stack(
        &mut self,
        stack: Expr,
        method: &Name,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        let count = match args {
            [Argument { value: Some(count), .. }] => count,
            _ => {
                let message = format!("`{}` takes one known number", method.text);
                self.error(code::ARGUMENTS, span, message);
                return CallResult::Broken;
            }
        };
        let at = count.span;
        let Some(count) = self.known_count(count, "how far a stack moves") else {
            return CallResult::Broken;
        };
        if count == 0 {
            self.error(code::OUT_OF_RANGE, at, "a stack moves by at least one element");
        }
        if matches!(self.place.kind, ContextKind::ParserState | ContextKind::ParserLocals) {
            let message = format!("`{}` of a stack is known only in controls", method.text);
            self.error(code::WRONG_PLACE, span, message);
            return CallResult::Broken;
        }
        if !self.check_writable(&stack) {
            return CallResult::Broken;
        }
        CallResult::Statement(match &*method.text {
            "push_front" => StmtKind::PushFront(stack, count),
            _ => StmtKind::PopFront(stack, count),
        })
    }

    /// `T.minSizeInBits()` and related methods.
    pub(super) fn size_of_type(
        &mut self,
        ty: &Type,
        method: &Name,
        args: &[Argument],
        span: Span,
    ) -> CallResult {
        if *ty == Type::Unknown {
            return CallResult::Broken;
        }
        if !SIZES.contains(&&*method.text) {
            let what = format!("the type `{}`", self.show(ty));
            self.no_method(&what, method, &SIZES);
            return CallResult::Broken;
        }
        self.no_arguments(method, args);
        let Some((least, most)) = bits(ty) else {
            let message = format!("`{}` has no size on the wire", self.show(ty));
            self.error(code::OPERANDS, span, message);
            return CallResult::Broken;
        };
        let size = match &*method.text {
            "minSizeInBits" => least,
            "minSizeInBytes" => least.div_ceil(8),
            "maxSizeInBits" => most,
            _ => most.div_ceil(8),
        };
        CallResult::Value(integer(size, Type::InfInt, span))
    }

    /// Requirements that the text of `core.p4` places on the type arguments of its generic methods.
    pub(super) fn check_core_method(
        &mut self,
        of: &str,
        method: &str,
        bound: &BoundCall,
        span: Span,
    ) {
        let Some(ty) = bound.type_args.first().filter(|ty| !matches!(ty, Type::Var(_))) else {
            return;
        };
        match (of, method, bound.args.len()) {
            ("packet_in", "extract", count) => self.check_extract(ty, count, bound, span),
            ("packet_in", "lookahead", _) if bits(ty).is_none_or(|(least, most)| least != most) => {
                self.core_error("lookahead", "a type of fixed size", ty, span);
            }
            ("packet_out", "emit", _) if !holds_headers(ty) => {
                self.core_error("emit", "a header, or what holds only headers", ty, span);
            }
            _ => {}
        }
    }

    fn check_extract(&mut self, ty: &Type, count: usize, bound: &BoundCall, span: Span) {
        let Type::Header(header) = ty else {
            if *ty != Type::Unknown {
                let dont_care = matches!(bound.args.first(), Some(Arg::DontCare));
                if !(dont_care && bits(ty).is_some()) {
                    self.core_error("extract", "a header", ty, span);
                }
            }
            return;
        };
        let variable = header.fields.iter().filter(|f| matches!(f.ty, Type::VarBit(_))).count();
        if count == 1 && variable > 0 {
            let wanted = "a header of fixed size; its second argument gives the `varbit`'s size";
            self.core_error("extract", wanted, ty, span);
        }
        if count == 2 && variable != 1 {
            let wanted = "with a size, a header with one `varbit` field";
            self.core_error("extract", wanted, ty, span);
        }
    }

    fn core_error(&mut self, method: &str, wanted: &str, found: &Type, span: Span) {
        let found = self.show(found);
        let message = format!("`{method}` takes {wanted}, found `{found}`");
        self.report(Diagnostic::error(code::ARGUMENTS, span, message));
    }
}

/// Headers, stacks, unions, and structs of these; p4c refuses tuples and lists.
fn holds_headers(ty: &Type) -> bool {
    match ty {
        Type::Header(_) | Type::HeaderUnion(_) | Type::Unknown | Type::Var(_) => true,
        Type::Stack(element, _) => holds_headers(element),
        Type::Struct(f) => f.fields.iter().all(|field| holds_headers(&field.ty)),
        _ => false,
    }
}
