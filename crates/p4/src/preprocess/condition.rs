//! The value of an `#if`: integer expressions as C has them.
//!
//! Values are 128 bits wide, so that no literal of a program changes its sign. A word that is no
//! macro counts as 0, as in C, but `true` counts as 1.

use super::{Preprocessor, Stop};
use crate::{
    diagnostic::Diagnostic,
    lex::{Kind, Token},
    source::Span,
};

/// Parentheses and operators that may be open within one another.
const MAX_DEPTH: usize = 200;

impl Preprocessor<'_> {
    /// True if a macro of this name exists.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || matches!(name, "__FILE__" | "__LINE__")
    }

    /// The value of the expression on the rest of the line. An error counts as false.
    pub(super) fn condition(&mut self, directive: &str, hash: &Token) -> Result<bool, Stop> {
        let tokens = self.rest_of_directive();
        let tokens = self.resolve_defined(tokens);
        let tokens = self.expand_all(tokens)?;
        let tokens = self.resolve_defined(tokens);
        let end = tokens.last().map_or(hash.span, |last| last.span).after();
        if tokens.is_empty() {
            let message = format!("`{directive}` needs an expression");
            self.report(Diagnostic::error("E0137", hash.span, message));
            return Ok(false);
        }
        let mut reader = Reader { tokens: &tokens, at: 0, end, depth: 0 };
        let value = reader.ternary(true).and_then(|value| match reader.peek() {
            None => Ok(value),
            Some(token) => Err(reader.unexpected(token)),
        });
        match value {
            Ok(value) => Ok(value != 0),
            Err(error) => {
                self.report(*error);
                Ok(false)
            }
        }
    }

    /// Puts 0 or 1 in place of `defined X` and `defined(X)`.
    fn resolve_defined(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut resolved = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let kinds = |index: usize| tokens.get(index).map(|token| token.kind);
            let (name, length) = match (kinds(at + 1), kinds(at + 2), kinds(at + 3)) {
                (Some(Kind::Word), ..) => (at + 1, 2),
                (Some(Kind::LParen), Some(Kind::Word), Some(Kind::RParen)) => (at + 2, 4),
                _ => (0, 0),
            };
            if token.kind != Kind::Word || &*token.text != "defined" || length == 0 {
                resolved.push(token.clone());
                at += 1;
                continue;
            }
            let value = if self.is_defined(&tokens[name].text) { "1" } else { "0" };
            let span = token.span.to(tokens[at + length - 1].span);
            let text = self.interner.intern(value);
            resolved.push(Token { kind: Kind::Number, text, span, ..token.clone() });
            at += length;
        }
        resolved
    }
}

/// Reads an expression. `live` is false where C does not evaluate, as behind `0 &&`.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    end: Span,
    depth: usize,
}

type Value = Result<i128, Box<Diagnostic>>;

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == kind);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: Kind) -> Result<(), Box<Diagnostic>> {
        if self.eat(kind) {
            return Ok(());
        }
        let message = format!("expected `{}` in this expression", kind.sign());
        let span = self.peek().map_or(self.end, |token| token.span);
        Err(Diagnostic::error("E0137", span, message).into())
    }

    fn unexpected(&self, token: &Token) -> Box<Diagnostic> {
        let previous = self.at.checked_sub(1).map(|at| &self.tokens[at]);
        let error = |message| Box::new(Diagnostic::error("E0137", token.span, message));
        match previous {
            Some(word) if word.kind == Kind::Word && token.kind == Kind::LParen => {
                error(format!("`{}` is no macro that takes arguments", word.text))
            }
            _ => error(format!("expected an operator, found `{}`", token.spelling())),
        }
    }

    fn ternary(&mut self, live: bool) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.peek().map_or(self.end, |token| token.span);
            return Err(
                Diagnostic::error("E0138", span, "this expression is nested too deep").into()
            );
        }
        let mut value = self.binary(0, live)?;
        if self.eat(Kind::Question) {
            let yes = self.ternary(live && value != 0)?;
            self.expect(Kind::Colon)?;
            let no = self.ternary(live && value == 0)?;
            value = if value != 0 { yes } else { no };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// The next operator, with its precedence and its number of tokens.
    fn operator(&self) -> Option<(Operator, u8, usize)> {
        use Operator::*;
        let token = self.peek()?;
        let second = self.tokens.get(self.at + 1);
        let joined = second.is_some_and(|next| next.kind == Kind::Gt && !next.spaced);
        Some(match token.kind {
            Kind::OrOr => (Or, 1, 1),
            Kind::AndAnd => (And, 2, 1),
            Kind::Or => (BitOr, 3, 1),
            Kind::Caret => (BitXor, 4, 1),
            Kind::And => (BitAnd, 5, 1),
            Kind::EqEq => (Eq, 6, 1),
            Kind::NotEq => (Ne, 6, 1),
            Kind::Gt if joined => (Shr, 8, 2),
            Kind::Lt => (Lt, 7, 1),
            Kind::Gt => (Gt, 7, 1),
            Kind::Le => (Le, 7, 1),
            Kind::Ge => (Ge, 7, 1),
            Kind::Shl => (Shl, 8, 1),
            Kind::Plus => (Add, 9, 1),
            Kind::Minus => (Sub, 9, 1),
            Kind::Star => (Mul, 10, 1),
            Kind::Slash => (Div, 10, 1),
            Kind::Percent => (Mod, 10, 1),
            _ => return None,
        })
    }

    fn binary(&mut self, above: u8, live: bool) -> Value {
        let mut left = self.unary(live)?;
        while let Some((operator, precedence, length)) = self.operator() {
            if precedence <= above {
                break;
            }
            let span = self.tokens[self.at].span;
            self.at += length;
            let live_right = live
                && match operator {
                    Operator::And => left != 0,
                    Operator::Or => left == 0,
                    _ => true,
                };
            let right = self.binary(precedence, live_right)?;
            left = match operator.apply(left, right) {
                Some(value) => value,
                None if !live_right => 0,
                None => return Err(Diagnostic::error("E0139", span, "division by zero").into()),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Value {
        let mut signs = Vec::new();
        while let Some(token) = self.peek()
            && matches!(token.kind, Kind::Plus | Kind::Minus | Kind::Not | Kind::Tilde)
        {
            signs.push(token.kind);
            self.at += 1;
        }
        let value = self.primary(live)?;
        Ok(signs.into_iter().rev().fold(value, |value, sign| match sign {
            Kind::Minus => value.wrapping_neg(),
            Kind::Not => i128::from(value == 0),
            Kind::Tilde => !value,
            _ => value,
        }))
    }

    fn primary(&mut self, live: bool) -> Value {
        let Some(token) = self.peek() else {
            let message = "expected a value at the end of this expression";
            return Err(Diagnostic::error("E0137", self.end, message).into());
        };
        self.at += 1;
        match token.kind {
            Kind::Number => number(&token.text).ok_or_else(|| {
                let message = format!("`{}` is no plain integer", token.text);
                Diagnostic::error("E0137", token.span, message).into()
            }),
            Kind::Word => Ok(i128::from(&*token.text == "true")),
            Kind::LParen => {
                let value = self.ternary(live)?;
                self.expect(Kind::RParen)?;
                Ok(value)
            }
            _ => {
                let message = format!("expected a value, found `{}`", token.spelling());
                Err(Diagnostic::error("E0137", token.span, message).into())
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Operator {
    /// The result; `None` for a division by zero.
    fn apply(self, a: i128, b: i128) -> Option<i128> {
        let shift = b.clamp(0, 127) as u32;
        Some(match self {
            Operator::Or => i128::from(a != 0 || b != 0),
            Operator::And => i128::from(a != 0 && b != 0),
            Operator::BitOr => a | b,
            Operator::BitXor => a ^ b,
            Operator::BitAnd => a & b,
            Operator::Eq => i128::from(a == b),
            Operator::Ne => i128::from(a != b),
            Operator::Lt => i128::from(a < b),
            Operator::Gt => i128::from(a > b),
            Operator::Le => i128::from(a <= b),
            Operator::Ge => i128::from(a >= b),
            Operator::Shl => a.wrapping_shl(shift),
            Operator::Shr => a >> shift,
            Operator::Add => a.wrapping_add(b),
            Operator::Sub => a.wrapping_sub(b),
            Operator::Mul => a.wrapping_mul(b),
            Operator::Div if b == 0 => return None,
            Operator::Mod if b == 0 => return None,
            Operator::Div => a.wrapping_div(b),
            Operator::Mod => a.wrapping_rem(b),
        })
    }
}

/// A literal of P4 or C without a width; C's suffixes for size and sign are ignored.
fn number(text: &str) -> Option<i128> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let text = text.trim_end_matches(['u', 'l']);
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0o") => (&text[2..], 8),
        Some("0d") => (&text[2..], 10),
        _ => (text, 10),
    };
    i128::from_str_radix(digits, radix).ok()
}
