//! Annotations as data: their parsed contents, and their text for a schema.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use sojourn_p4::ast::{self, AnnotationBody, AnnotationConstant};

/// `@name`, `@name(tokens)` or `@name[structured]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The name after `@`.
    pub name: String,
    /// Body.
    pub body: Body,
}

/// Body of an annotation, behind its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// No body.
    Empty,
    /// Unparsed tokens in parentheses.
    Tokens(Vec<Token>),
    /// Values in brackets.
    List(Vec<Literal>),
    /// Values with names in brackets.
    Pairs(Vec<(String, Literal)>),
}

/// A token in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its text; for a string without the quotes.
    pub text: String,
    /// True for a string.
    pub is_string: bool,
}

/// A value in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A number, saturated to 64 bits.
    Number(i64),
    /// A string.
    Text(String),
    /// `true` or `false`
    Truth(bool),
}

impl Annotation {
    /// The tokens in parentheses, if any.
    pub fn tokens(&self) -> &[Token] {
        match &self.body {
            Body::Tokens(tokens) => tokens,
            _ => &[],
        }
    }

    /// The first string in it.
    pub fn string(&self) -> Option<&str> {
        match &self.body {
            Body::List(values) => values.iter().find_map(|value| match value {
                Literal::Text(text) => Some(text.as_str()),
                _ => None,
            }),
            _ => self.tokens().iter().find(|token| token.is_string).map(|t| t.text.as_str()),
        }
    }

    /// The first number in it.
    pub fn number(&self) -> Option<u64> {
        match &self.body {
            Body::List(values) => values.iter().find_map(|value| match value {
                Literal::Number(number) => u64::try_from(*number).ok(),
                _ => None,
            }),
            _ => self.tokens().iter().find_map(|token| number(&token.text)),
        }
    }

    /// `key = value` in parentheses or brackets.
    pub fn pairs(&self) -> Vec<(String, Literal)> {
        if let Body::Pairs(pairs) = &self.body {
            return pairs.clone();
        }
        let parts = self.tokens().split(|token| !token.is_string && token.text == ",");
        let pair = |part: &[Token]| match part {
            [key, equals, value] if equals.text == "=" => {
                let literal = match number(&value.text) {
                    Some(number) if !value.is_string => Literal::Number(number as i64),
                    _ => Literal::Text(value.text.clone()),
                };
                Some((key.text.clone(), literal))
            }
            _ => None,
        };
        parts.filter_map(pair).collect()
    }

    /// The text of one without brackets: `@name`, `@name("text", 5)`.
    pub fn text(&self) -> String {
        let Body::Tokens(tokens) = &self.body else { return format!("@{}", self.name) };
        let mut text = format!("@{}(", self.name);
        for (at, token) in tokens.iter().enumerate() {
            let comma = !token.is_string && token.text == ",";
            if at > 0 && !comma {
                text.push(' ');
            }
            match token.is_string {
                true => text.extend(["\"", &token.text, "\""]),
                false => text.push_str(&token.text),
            }
        }
        text.push(')');
        text
    }
}

/// A number in P4 syntax: decimal, or with a base, with an optional width in front.
fn number(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    let digits = match text.split_once(['w', 's']) {
        Some((width, digits)) if width.parse::<u32>().is_ok() => digits,
        _ => &text,
    };
    let based = |prefix: [&str; 2], base| {
        let rest = prefix.iter().find_map(|prefix| digits.strip_prefix(prefix))?;
        u64::from_str_radix(rest, base).ok()
    };
    let hex = based(["0x", "0X"], 16);
    hex.or_else(|| based(["0b", "0B"], 2))
        .or_else(|| based(["0o", "0O"], 8))
        .or_else(|| digits.parse().ok())
}

/// Annotations of the program.
pub(super) fn read(written: &[ast::Annotation]) -> Vec<Annotation> {
    written.iter().map(one).collect()
}

fn one(written: &ast::Annotation) -> Annotation {
    let body = match &written.body {
        AnnotationBody::Empty => Body::Empty,
        AnnotationBody::Tokens(tokens) => Body::Tokens(
            tokens
                .iter()
                .map(|token| Token { text: token.text.to_string(), is_string: token.is_string })
                .collect(),
        ),
        AnnotationBody::Expressions(values) => {
            Body::List(values.iter().filter_map(literal).collect())
        }
        AnnotationBody::KeyValues(pairs) => {
            let pair = |(name, value): &(ast::Name, ast::AnnotationValue)| {
                literal(value).map(|value| (name.text.to_string(), value))
            };
            Body::Pairs(pairs.iter().filter_map(pair).collect())
        }
    };
    Annotation { name: written.name.text.to_string(), body }
}

/// The value as folded by the checker, which it is for every annotation of a valid program.
fn literal(value: &ast::AnnotationValue) -> Option<Literal> {
    Some(match value.value.get()? {
        AnnotationConstant::Number(number) => Literal::Number(nearest(number)),
        AnnotationConstant::Text(text) => Literal::Text(text.to_string()),
        AnnotationConstant::Truth(truth) => Literal::Truth(*truth),
    })
}

fn nearest(number: &BigInt) -> i64 {
    let bound = if number.is_negative() { i64::MIN } else { i64::MAX };
    number.to_i64().unwrap_or(bound)
}
