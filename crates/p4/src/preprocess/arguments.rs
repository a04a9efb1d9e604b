//! The arguments of a macro's use: how they are found and counted.

use super::{Input, Preprocessor, Stop, macros::Macro};
use crate::{
    diagnostic::Diagnostic,
    lex::{Kind, Token},
    source::Span,
};

/// The arguments of one use.
pub(super) struct Arguments {
    /// One row of tokens per parameter, unexpanded.
    pub rows: Vec<Vec<Token>>,
    /// The closing parenthesis.
    pub close: Span,
}

impl Preprocessor<'_> {
    /// True if the next token is an opening parenthesis. Takes nothing.
    pub(super) fn parenthesis_follows(&mut self) -> bool {
        for input in self.inputs.iter().rev() {
            match input {
                Input::Tokens(run) => match run.tokens.as_slice().first() {
                    Some(token) => return token.kind == Kind::LParen,
                    None if run.fenced => return false,
                    None => {}
                },
                Input::File(file) => {
                    let mut ahead = file.lexer.clone();
                    let token = ahead.next(&mut self.interner, &mut Vec::new());
                    return token.kind == Kind::LParen;
                }
            }
        }
        false
    }

    /// Reads the arguments of `used`. `None` if they are wrong, which has been reported.
    pub(super) fn arguments(
        &mut self,
        used: &Macro,
        site: Span,
    ) -> Result<Option<Arguments>, Stop> {
        let was_collecting = std::mem::replace(&mut self.collecting, true);
        let read = self.read_arguments(used, site);
        self.collecting = was_collecting;
        let Some(mut arguments) = read? else { return Ok(None) };
        let Some(params) = &used.params else { return Ok(Some(arguments)) };
        let rows = &mut arguments.rows;
        let wanted = params.names.len();
        if wanted == 0 && rows.len() == 1 && rows[0].is_empty() {
            rows.clear();
        }
        if params.variadic && rows.len() + 1 == wanted {
            rows.push(Vec::new());
        }
        if rows.len() == wanted {
            return Ok(Some(arguments));
        }
        let counted = |number: usize| match number {
            1 => "1 argument".to_string(),
            _ => format!("{number} arguments"),
        };
        let least = if params.variadic { "at least " } else { "" };
        let wanted = counted(wanted - usize::from(params.variadic));
        let given = counted(rows.len());
        let message = format!("the macro `{}` takes {least}{wanted}, not {given}", used.name);
        let error = Diagnostic::error("E0140", site.to(arguments.close), message);
        self.report(error.with_place(used.place, "it is defined here"));
        Ok(None)
    }

    fn read_arguments(&mut self, used: &Macro, site: Span) -> Result<Option<Arguments>, Stop> {
        let limit = used.params.as_ref().filter(|p| p.variadic).map(|p| p.names.len());
        let mut rows: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0_usize;
        self.next_raw()?; // the opening parenthesis
        loop {
            let Some(mut token) = self.next_raw()? else {
                let message = format!("the arguments of the macro `{}` have no end", used.name);
                let error = Diagnostic::error("E0140", site, message);
                self.report(error.with_label("expected `)` behind its arguments"));
                return Ok(None);
            };
            match token.kind {
                Kind::LParen => depth += 1,
                Kind::RParen if depth == 0 => {
                    return Ok(Some(Arguments { rows, close: token.span }));
                }
                Kind::RParen => depth -= 1,
                Kind::Comma if depth == 0 && Some(rows.len()) != limit => {
                    rows.push(Vec::new());
                    continue;
                }
                Kind::Word => token.painted |= self.is_disabled(&token.text),
                _ => {}
            }
            if let Some(row) = rows.last_mut() {
                row.push(token);
            }
        }
    }
}
