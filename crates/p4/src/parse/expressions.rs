//! Expressions, arguments and keysets.
//!
//! Every function here stores the height of its subtree in [`Parser::height`], which bounds the
//! tree where the recursion does not: `a + a + a ...` is parsed in a loop but creates a high tree.

use super::{Parsed, Parser, Reported, names::Meaning, scan::begins_type};
use crate::{
    ast::{Argument, BinaryOp, Expr, ExprKind, Keyset, TypeRef, TypeRefKind, UnaryOp},
    diagnostic::Diagnostic,
    lex::{Keyword, Kind},
};

impl Parser {
    /// `expression`
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let condition = p.binary(0)?;
            if !p.is(Kind::Question) {
                return Ok(condition);
            }
            p.bump();
            let mut height = p.height;
            let yes = p.expression()?;
            height = height.max(p.height);
            p.expect(Kind::Colon)?;
            let no = p.binary(0)?;
            p.height = height.max(p.height) + 1;
            p.check_height(p.height)?;
            if p.is(Kind::Question) {
                return Err(p.chained_condition());
            }
            let span = condition.span.to(no.span);
            let kind = ExprKind::Mux(Box::new(condition), Box::new(yes), Box::new(no));
            Ok(Expr { kind, span })
        })
    }

    /// The grammar does not associate `?` and `:` to either side: `a ? b : c ? d : e` is rejected.
    fn chained_condition(&mut self) -> Reported {
        let message = "a `?:` behind another needs parentheses";
        let error = Diagnostic::error("E0307", self.span(), message);
        self.fail(error.with_help("write `a ? b : (c ? d : e)`"))
    }

    /// The binary operator at the current token, its precedence and its number of tokens.
    fn binary_operator(&self) -> Option<(BinaryOp, u8, usize)> {
        let next = self.kind_at(1);
        Some(match self.kind() {
            Kind::OrOr => (BinaryOp::Or, 1, 1),
            Kind::AndAnd => (BinaryOp::And, 2, 1),
            Kind::EqEq => (BinaryOp::Eq, 3, 1),
            Kind::NotEq => (BinaryOp::Ne, 3, 1),
            Kind::Gt if next == Kind::Ge && self.joined(1) => return None, // >>=
            Kind::Gt if next == Kind::Gt && self.joined(1) => (BinaryOp::Shr, 8, 2),
            Kind::Lt => (BinaryOp::Lt, 4, 1),
            Kind::Gt => (BinaryOp::Gt, 4, 1),
            Kind::Le => (BinaryOp::Le, 4, 1),
            Kind::Ge => (BinaryOp::Ge, 4, 1),
            Kind::Or => (BinaryOp::BitOr, 5, 1),
            Kind::Caret => (BinaryOp::BitXor, 6, 1),
            Kind::And => (BinaryOp::BitAnd, 7, 1),
            Kind::Shl => (BinaryOp::Shl, 8, 1),
            Kind::Plus if next == Kind::Colon => return None, // [low +: width]
            Kind::PlusPlus => (BinaryOp::Concat, 9, 1),
            Kind::Plus => (BinaryOp::Add, 9, 1),
            Kind::Minus => (BinaryOp::Sub, 9, 1),
            Kind::SatAdd => (BinaryOp::SatAdd, 9, 1),
            Kind::SatSub => (BinaryOp::SatSub, 9, 1),
            Kind::Star => (BinaryOp::Mul, 10, 1),
            Kind::Slash => (BinaryOp::Div, 10, 1),
            Kind::Percent => (BinaryOp::Mod, 10, 1),
            _ => return None,
        })
    }

    /// Operators that bind tighter than `above`; all are left-associative.
    fn binary(&mut self, above: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut height = self.height;
        while let Some((op, precedence, length)) = self.binary_operator() {
            if precedence <= above {
                break;
            }
            for _ in 0..length {
                self.bump();
            }
            let right = self.binary(precedence)?;
            height = height.max(self.height) + 1;
            self.check_height(height)?;
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = Expr { kind, span };
        }
        self.height = height;
        Ok(left)
    }

    fn unary_operator(&self) -> Option<UnaryOp> {
        match self.kind() {
            Kind::Not => Some(UnaryOp::Not),
            Kind::Tilde => Some(UnaryOp::Complement),
            Kind::Minus => Some(UnaryOp::Negate),
            Kind::Plus => Some(UnaryOp::Plus),
            _ => None,
        }
    }

    /// Prefix operators and casts.
    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if let Some(op) = self.unary_operator() {
            return self.nested(|p| {
                p.bump();
                let operand = p.unary()?;
                p.height += 1;
                let kind = ExprKind::Unary(op, Box::new(operand));
                Ok(Expr { kind, span: p.span_from(start) })
            });
        }
        if self.is(Kind::LParen) && self.casts() {
            return self.nested(|p| {
                p.bump();
                let ty = p.type_ref()?;
                let height = p.height;
                p.expect(Kind::RParen)?;
                let operand = p.unary()?;
                p.height = height.max(p.height) + 1;
                let kind = ExprKind::Cast(ty, Box::new(operand));
                Ok(Expr { kind, span: p.span_from(start) })
            });
        }
        self.postfix()
    }

    /// A primary expression with members, indices and calls behind it.
    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut expr = self.primary()?;
        self.refuse_lone_type(&expr)?;
        let mut height = self.height;
        loop {
            let kind = match self.kind() {
                Kind::Dot => {
                    self.bump();
                    self.height = 0;
                    ExprKind::Member(Box::new(expr), self.name("the name of a member")?)
                }
                Kind::LBracket => self.index(expr)?,
                Kind::LParen => self.call(expr, Vec::new())?,
                Kind::Lt if self.type_args_of_call() => {
                    let type_args = self.type_args()?;
                    height = height.max(self.height);
                    self.call(expr, type_args)?
                }
                _ => break,
            };
            height = height.max(self.height) + 1;
            self.check_height(height)?;
            expr = Expr { kind, span: self.span_from(start) };
        }
        self.height = height;
        Ok(expr)
    }

    /// Rejects a type on its own, which is only a part of an expression: `Type.member`,
    /// `Type(...)`.
    fn refuse_lone_type(&mut self, expr: &Expr) -> Parsed<()> {
        let ExprKind::Type(TypeRef { kind: TypeRefKind::Named { name, .. }, .. }) = &expr.kind
        else {
            return Ok(());
        };
        if matches!(self.kind(), Kind::Dot | Kind::LParen) || self.type_args_of_call() {
            return Ok(());
        }
        let message = format!("`{}` is a type, not a value", name.text);
        Err(self.fail(Diagnostic::error("E0305", name.span, message)))
    }

    /// `[i]`, `[high:low]` or `[low +: width]`
    fn index(&mut self, base: Expr) -> Parsed<ExprKind> {
        let opened = self.expect(Kind::LBracket)?;
        let base = Box::new(base);
        let first = Box::new(self.expression()?);
        let mut height = self.height;
        let kind = match self.kind() {
            Kind::Colon => {
                self.bump();
                let low = Box::new(self.expression()?);
                ExprKind::Slice { base, high: first, low }
            }
            Kind::Plus if self.kind_at(1) == Kind::Colon => {
                self.bump();
                self.bump();
                let width = Box::new(self.expression()?);
                ExprKind::SliceFrom { base, low: first, width }
            }
            _ => ExprKind::Index(base, first),
        };
        height = height.max(self.height);
        self.expect_close(Kind::RBracket, opened)?;
        self.height = height;
        Ok(kind)
    }

    fn call(&mut self, callee: Expr, type_args: Vec<TypeRef>) -> Parsed<ExprKind> {
        let args = self.arguments()?;
        let (callee, type_args) = match (callee.kind, type_args) {
            // `Type<args>(...)` constructs a specialised type.
            (ExprKind::Type(TypeRef { kind: TypeRefKind::Named { name, global }, .. }), args)
                if !args.is_empty() =>
            {
                let last = args.last().map_or(callee.span, |arg| arg.span);
                let span = callee.span.to(last);
                let kind = TypeRefKind::Specialized { name, global, args };
                (Expr { kind: ExprKind::Type(TypeRef { kind, span }), span }, Vec::new())
            }
            (kind, type_args) => (Expr { kind, span: callee.span }, type_args),
        };
        Ok(ExprKind::Call { callee: Box::new(callee), type_args, args })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.height = 1;
        let kind = match self.kind() {
            Kind::Number => ExprKind::Integer(self.integer()?),
            Kind::String => ExprKind::String(self.string()),
            Kind::Dots => self.word(ExprKind::Dots),
            Kind::InvalidHeader => self.word(ExprKind::InvalidHeader),
            Kind::Key(Keyword::True) => self.word(ExprKind::Bool(true)),
            Kind::Key(Keyword::False) => self.word(ExprKind::Bool(false)),
            Kind::Key(Keyword::This) => self.word(ExprKind::This),
            Kind::Key(Keyword::Error) => {
                self.bump();
                self.expect(Kind::Dot)?;
                ExprKind::ErrorMember(self.name("the name of an error")?)
            }
            Kind::Name(_) => self.plain_name(false)?,
            Kind::Dot if matches!(self.kind_at(1), Kind::Name(_)) => {
                self.bump();
                self.plain_name(true)?
            }
            Kind::LParen => {
                let opened = self.bump().span;
                let inner = self.expression()?;
                self.expect_close(Kind::RParen, opened)?;
                self.height += 1;
                ExprKind::Paren(Box::new(inner))
            }
            Kind::LBrace => return self.nested(Parser::braced_list),
            Kind::Key(word) if begins_type(word) => {
                let message = format!("expected an expression, found the type `{}`", word.text());
                let error = Diagnostic::error("E0301", start, message);
                return Err(self.fail(error.with_help("a cast is written `(type) expression`")));
            }
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr { kind, span: self.span_from(start) })
    }

    fn word(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    /// A name that denotes a value or, before a dot or parenthesis, a type.
    fn plain_name(&mut self, global: bool) -> Parsed<ExprKind> {
        let name = self.name("a name")?;
        let meaning = match global {
            true => self.names.global(&name.text),
            false => self.names.meaning(&name.text),
        };
        if meaning != Some(Meaning::Type) {
            return Ok(ExprKind::Name { name, global });
        }
        let span = name.span;
        Ok(ExprKind::Type(TypeRef { kind: TypeRefKind::Named { name, global }, span }))
    }

    /// `{ a, b }`, `{ k = a, k = b }`, `{ k = a, ... }`
    fn braced_list(&mut self) -> Parsed<Expr> {
        let opened = self.open_brace()?;
        let keyed = self.is_name() && self.kind_at(1) == Kind::Eq;
        let kind = if keyed {
            let mut has_dots = false;
            let entries = self.comma_list(Kind::RBrace, true, |p| {
                if p.is(Kind::Dots) && matches!(p.kind_at(1), Kind::RBrace | Kind::Comma) {
                    p.bump();
                    has_dots = true;
                    return Ok(None);
                }
                if has_dots {
                    return Err(p.expected("`}` behind `...`"));
                }
                p.key_value().map(Some)
            })?;
            ExprKind::KeyValueList { entries: entries.into_iter().flatten().collect(), has_dots }
        } else {
            ExprKind::List(self.comma_list(Kind::RBrace, true, Parser::expression)?)
        };
        let height = self.height + 1;
        if !self.is(Kind::RBrace) {
            return Err(self.close_list(Kind::RBrace, opened).err().unwrap_or(Reported));
        }
        self.open_braces.pop();
        self.bump();
        self.height = height;
        Ok(Expr { kind, span: self.span_from(opened) })
    }

    /// `( argumentList )`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.enclosed(Kind::LParen, Kind::RParen, Parser::argument)
    }

    /// `argument`
    fn argument(&mut self) -> Parsed<Argument> {
        let start = self.span();
        let name = if self.is_name() && self.kind_at(1) == Kind::Eq {
            let name = self.name("the name of a parameter")?;
            self.bump();
            Some(name)
        } else {
            None
        };
        let value = if self.eat(Kind::Underscore) { None } else { Some(self.expression()?) };
        Ok(Argument { name, value, span: self.span_from(start) })
    }

    /// `keysetExpression`: the keysets in front of the `:` of a select case or table entry.
    pub(super) fn keysets(&mut self) -> Parsed<Vec<Keyset>> {
        let tuple = self.is(Kind::LParen)
            && self.behind_brackets(self.at).is_some_and(|at| {
                matches!(self.tokens.get(at).map(|token| token.kind), Some(Kind::Colon))
            });
        if tuple {
            return self.enclosed(Kind::LParen, Kind::RParen, Parser::keyset);
        }
        Ok(vec![self.keyset()?])
    }

    /// `simpleKeysetExpression`
    fn keyset(&mut self) -> Parsed<Keyset> {
        let span = self.span();
        if self.eat(Kind::Underscore) || self.eat_key(Keyword::Default) {
            return Ok(Keyset::Default(span));
        }
        let first = self.expression()?;
        let height = self.height;
        let keyset = if self.eat(Kind::Mask) {
            Keyset::Mask(first, self.expression()?)
        } else if self.eat(Kind::Range) {
            Keyset::Range(first, self.expression()?)
        } else {
            Keyset::Value(first)
        };
        self.height = height.max(self.height);
        Ok(keyset)
    }
}

/// True for expressions allowed left of `=`: names, members, indices and slices.
pub(super) fn is_lvalue(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name { .. } | ExprKind::This => true,
        ExprKind::Member(base, _)
        | ExprKind::Index(base, _)
        | ExprKind::Slice { base, .. }
        | ExprKind::SliceFrom { base, .. }
        | ExprKind::Paren(base) => is_lvalue(base),
        _ => false,
    }
}

/// True for expressions that a statement can call: a name, or a member of a name.
pub(super) fn is_callable(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Type(_)) || is_lvalue(expr)
}
