//! Lookahead: recognises types by their tokens, without building a tree.
//!
//! Each look is bounded and does not recurse, so that no input makes it slow.

use super::{Parser, names::Meaning};
use crate::lex::{Keyword, Kind};

/// Tokens that one look may pass.
const REACH: usize = 2_000;

impl Parser {
    fn kind_of(&self, index: usize) -> Kind {
        self.tokens.get(index).map_or(Kind::End, |token| token.kind)
    }

    /// Meaning of the name at `index`; a dot before it selects the top level.
    pub(super) fn meaning_of(&self, index: usize) -> Option<Meaning> {
        let text = &self.tokens.get(index)?.text;
        let global = index > 0
            && self.kind_of(index - 1) == Kind::Dot
            && !index.checked_sub(2).is_some_and(|before| self.ends_operand(before));
        if global { self.names.global(text) } else { self.names.meaning(text) }
    }

    /// True if a dot behind this token selects a member of something.
    fn ends_operand(&self, index: usize) -> bool {
        matches!(
            self.kind_of(index),
            Kind::Name(_) | Kind::RParen | Kind::RBracket | Kind::Key(Keyword::This)
        )
    }

    /// The index behind the bracket that closes the one at `index`. Statements do not fit inside.
    pub(super) fn behind_brackets(&self, index: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in index..self.tokens.len().min(index + REACH) {
            match self.kind_of(at) {
                Kind::LParen | Kind::LBracket | Kind::LBrace => depth += 1,
                Kind::RParen | Kind::RBracket | Kind::RBrace => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Kind::Semicolon | Kind::End => return None,
                _ => {}
            }
        }
        None
    }

    /// The index behind the list of type arguments that begins with `<` at `index`, if the tokens
    /// can be one.
    pub(super) fn behind_type_args(&self, index: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = index;
        while at < index + REACH {
            match self.kind_of(at) {
                Kind::Lt => depth += 1,
                Kind::Gt => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Kind::LParen | Kind::LBracket => {
                    at = self.behind_brackets(at)?;
                    continue;
                }
                Kind::Comma | Kind::Dot | Kind::Underscore | Kind::Number => {}
                Kind::Name(_) if self.meaning_of(at) == Some(Meaning::Value) => {
                    let width =
                        self.kind_of(at - 1) == Kind::Lt && self.is_sized(at.wrapping_sub(2));
                    if !width {
                        return None;
                    }
                }
                Kind::Name(_) => {}
                Kind::Key(word) if begins_type(word) => {}
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// True for the keywords that take a width.
    fn is_sized(&self, index: usize) -> bool {
        matches!(self.kind_of(index), Kind::Key(Keyword::Bit | Keyword::Int | Keyword::VarBit))
    }

    /// The index behind the type that begins at `index`, if the tokens can be one. Names that
    /// denote a value are not types; unknown names may be.
    pub(super) fn behind_type(&self, index: usize) -> Option<usize> {
        let mut at = index;
        match self.kind_of(at) {
            Kind::Key(Keyword::Error) if self.kind_of(at + 1) == Kind::Dot => return None,
            Kind::Key(word) if begins_type(word) => {}
            Kind::Dot => {
                at += 1;
                if !matches!(self.kind_of(at), Kind::Name(_)) {
                    return None;
                }
                if self.meaning_of(at) == Some(Meaning::Value) {
                    return None;
                }
            }
            Kind::Name(_) if self.meaning_of(at) != Some(Meaning::Value) => {}
            _ => return None,
        }
        at += 1;
        if self.kind_of(at) == Kind::Lt {
            at = self.behind_type_args(at)?;
        }
        while self.kind_of(at) == Kind::LBracket {
            at = self.behind_brackets(at)?;
        }
        Some(at)
    }

    /// True if a type with a name behind it comes next: a declaration.
    pub(super) fn declares(&self) -> bool {
        let behind = self.behind_type(self.at);
        behind.is_some_and(|at| matches!(self.kind_of(at), Kind::Name(_)))
    }

    /// True if `Type(...) name` comes next: an instantiation.
    pub(super) fn instantiates(&self) -> bool {
        let Some(open) = self.behind_type(self.at) else { return false };
        if self.kind_of(open) != Kind::LParen {
            return false;
        }
        let behind = self.behind_brackets(open);
        behind.is_some_and(|at| matches!(self.kind_of(at), Kind::Name(_)))
    }

    /// True if `Type.apply(` comes next: a direct application.
    pub(super) fn applies_directly(&self) -> bool {
        let Some(at) = self.behind_type(self.at) else { return false };
        let generic = self.kind_of(at - 1) == Kind::Gt;
        let known = self.meaning_of(at - 1) == Some(Meaning::Type);
        (generic || known)
            && self.kind_of(at) == Kind::Dot
            && self.kind_of(at + 1) == Kind::Name(Some(Keyword::Apply))
            && self.kind_of(at + 2) == Kind::LParen
    }

    /// True if `<` comes next and begins the type arguments of a call.
    pub(super) fn type_args_of_call(&self) -> bool {
        if !self.is(Kind::Lt) {
            return false;
        }
        let behind = self.behind_type_args(self.at);
        behind.is_some_and(|at| self.kind_of(at) == Kind::LParen)
    }

    /// True if `(type)` comes next, followed by an operand that it can convert.
    pub(super) fn casts(&self) -> bool {
        let first = self.at + 1;
        let Some(close) = self.behind_type(first) else { return false };
        if self.kind_of(close) != Kind::RParen {
            return false;
        }
        let named = match self.kind_of(first) {
            Kind::Dot => first + 1,
            _ => first,
        };
        let unknown = matches!(self.kind_of(named), Kind::Name(_))
            && close == named + 1
            && self.meaning_of(named).is_none();
        match self.kind_of(close + 1) {
            Kind::Plus | Kind::Minus | Kind::Dot => !unknown,
            Kind::Name(_) | Kind::Number | Kind::String | Kind::LBrace | Kind::InvalidHeader => {
                true
            }
            Kind::Not | Kind::Tilde | Kind::Dots | Kind::LParen => true,
            Kind::Key(Keyword::True | Keyword::False | Keyword::This | Keyword::Error) => true,
            _ => !unknown,
        }
    }
}

/// True for keywords with which a type begins.
pub(super) fn begins_type(word: Keyword) -> bool {
    use Keyword::*;
    matches!(word, Bool | Error | MatchKind | Bit | Int | VarBit | String | Tuple | Void)
}
