//! Values of number and string literals.

use super::{Parsed, Parser};
use crate::{
    ast::IntegerLiteral, diagnostic::Diagnostic, escape::visible, lex::Kind, source::Span,
};
use num_bigint::BigInt;
use std::sync::Arc;

/// Maximum number of digits of a literal: the time to parse more grows with their square.
const MAX_DIGITS: usize = 10_000;

impl Parser {
    /// `INTEGER`
    pub(super) fn integer(&mut self) -> Parsed<IntegerLiteral> {
        if !self.is(Kind::Number) {
            return Err(self.expected("a number"));
        }
        match integer(self.span(), &self.token().text) {
            Ok(literal) => {
                self.bump();
                Ok(literal)
            }
            Err(error) => {
                self.report(*error);
                self.bump();
                Ok(IntegerLiteral { value: BigInt::ZERO, width: None })
            }
        }
    }

    /// `STRING_LITERAL`
    pub(super) fn string(&mut self) -> Arc<str> {
        contents(&self.bump().text)
    }
}

/// Reads `[width (w|s)] [0x|0o|0d|0b] digits`.
fn integer(span: Span, text: &str) -> Result<IntegerLiteral, Box<Diagnostic>> {
    let plain_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (width, rest) = match text.as_bytes().get(plain_digits) {
        Some(b'w') => (Some((&text[..plain_digits], false)), &text[plain_digits + 1..]),
        Some(b's') => (Some((&text[..plain_digits], true)), &text[plain_digits + 1..]),
        _ => (None, text),
    };
    let width = match width {
        None => None,
        Some((digits, signed)) => {
            let bits = digits.parse::<u32>().map_err(|_| {
                Diagnostic::error("E0310", span, format!("`{digits}` bits is too wide"))
            })?;
            Some((bits, signed))
        }
    };
    let prefixed = rest.get(..2).map(str::to_ascii_lowercase);
    let (radix, digits) = match prefixed.as_deref() {
        Some("0x") => (16, &rest[2..]),
        Some("0o") => (8, &rest[2..]),
        Some("0d") => (10, &rest[2..]),
        Some("0b") => (2, &rest[2..]),
        _ => (10, rest),
    };
    let value = digits_value(span, text, digits, radix)?;
    Ok(IntegerLiteral { value, width })
}

fn digits_value(
    span: Span,
    text: &str,
    digits: &str,
    radix: u32,
) -> Result<BigInt, Box<Diagnostic>> {
    let kind = match radix {
        16 => "hexadecimal",
        8 => "octal",
        2 => "binary",
        _ => "decimal",
    };
    if let Some(bad) = digits.chars().find(|c| *c != '_' && !c.is_digit(radix)) {
        let message = format!("`{bad}` is no {kind} digit");
        let error = Diagnostic::error("E0310", span, message);
        return Err(Box::new(match bad {
            'w' | 's' => error.with_note("the width comes first and is a plain number: `8w0xFF`"),
            _ if radix == 10 && digits.chars().all(|c| c == '_' || c.is_ascii_hexdigit()) => {
                error.with_help(format!("hexadecimal numbers begin with `0x`: `0x{digits}`"))
            }
            _ => error,
        }));
    }
    let clean: Vec<u8> = digits.bytes().filter(|byte| *byte != b'_').collect();
    if clean.is_empty() {
        let message = format!("the number `{text}` has no digits");
        return Err(Diagnostic::error("E0310", span, message).into());
    }
    if clean.len() > MAX_DIGITS {
        let message = format!("a number of more than {MAX_DIGITS} digits");
        return Err(Diagnostic::error("E0310", span, message).into());
    }
    let value = BigInt::parse_bytes(&clean, radix);
    value.ok_or_else(|| Diagnostic::error("E0310", span, "this is no number").into())
}

/// A string literal's contents: quotes removed, `\"`, `\\` and `\n` resolved. Other escapes remain
/// for the consumer of the string. Invisible characters are written out.
pub(super) fn contents(literal: &str) -> Arc<str> {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return visible(inner.into());
    }
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(next @ ('"' | '\\'))) => {
                text.push(next);
                chars.next();
            }
            ('\\', Some('n')) => {
                text.push('\n');
                chars.next();
            }
            _ => text.push(c),
        }
    }
    visible(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(i64, Option<(u32, bool)>)> {
        let literal = integer(Span::DUMMY, text).ok()?;
        Some((i64::try_from(&literal.value).ok()?, literal.width))
    }

    #[test]
    fn integers_read_as_the_examples_of_the_specification_say() {
        assert_eq!(value("32w255"), Some((255, Some((32, false)))));
        assert_eq!(value("32w0d255"), Some((255, Some((32, false)))));
        assert_eq!(value("32s0xFF"), Some((255, Some((32, true)))));
        assert_eq!(value("8w0b_1010_1010"), Some((170, Some((8, false)))));
        assert_eq!(value("16w0377"), Some((377, Some((16, false)))));
        assert_eq!(value("16w0o377"), Some((255, Some((16, false)))));
        assert_eq!(value("0XfF"), Some((255, None)));
    }

    #[test]
    fn malformed_integers_are_refused() {
        for text in ["8w", "0x", "0b12", "0o8", "12ab", "8w0x", "1_6w5", "9999999999w1", "0x_"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn strings_lose_their_quotes_and_known_escapes() {
        assert_eq!(&*contents(r#""a \"b\" \\ \n \x""#), "a \"b\" \\ \n \\x");
        assert_eq!(&*contents("\""), "");
    }
}
