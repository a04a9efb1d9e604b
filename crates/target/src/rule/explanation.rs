//! Explanation of a rule for a terminal: title, reason, cure, and both variants of its program.

use super::Rule;
use sojourn_p4::text_wrap::WIDTH;

impl Rule {
    /// The rule, its reason, the alternative, and a program of either kind.
    pub fn explanation(&self) -> String {
        let mut text = paragraph(&format!("{}: {}.", self.code, self.title));
        for (head, sentence) in [("Why", self.reason), ("Instead", self.cure)] {
            text.push('\n');
            text.push_str(&paragraph(&format!("{head}: {sentence}.")));
        }
        if self.program.is_empty() {
            return text;
        }
        for (head, broken) in [("This breaks it", true), ("This keeps it", false)] {
            text.push_str(&format!("\n{head}:\n\n"));
            for line in self.example(broken).lines() {
                text.push_str(format!("    {line}").trim_end());
                text.push('\n');
            }
        }
        text
    }
}

/// A paragraph broken into lines of at most [`WIDTH`] columns.
pub fn paragraph(text: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            lines.push('\n');
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += width;
    }
    lines.push('\n');
    lines
}
