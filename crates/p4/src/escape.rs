//! Escapes control characters and invisible characters in the texts of a program.
//!
//! Names, log messages and annotations of a program are printed, logged and drawn. An untrusted program
//! could otherwise move the cursor, set a window's title or reverse the text behind a name.

use std::sync::Arc;

/// The text with control characters, but for line ends and tabs, and with characters that set the
/// direction of text or have no width written as `\u{1b}`.
pub(crate) fn visible(text: Arc<str>) -> Arc<str> {
    replaced(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// The same for a name, which is one line.
pub(crate) fn visible_name(name: Arc<str>) -> Arc<str> {
    replaced(name, is_hidden)
}

fn replaced(text: Arc<str>, hidden: impl Fn(char) -> bool) -> Arc<str> {
    if !text.chars().any(&hidden) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let text = visible("a\u{1b}]0;t\u{7} \u{202e}b\n\u{9b}\tß".into());
        assert_eq!(&*text, "a\\u{1b}]0;t\\u{7} \\u{202e}b\n\\u{9b}\tß");
        assert_eq!(&*visible_name("a\nb".into()), "a\\u{a}b");
    }
}
