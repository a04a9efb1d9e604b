//! Text for a terminal of 100 columns.

use std::fmt::Write;

/// Columns of a terminal.
pub const WIDTH: usize = 100;

/// Writes `head` and `text`, what is too long on further lines that begin at column `from`.
pub fn wrap(out: &mut String, head: &str, text: &str, from: usize) {
    let mut line = head.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        let longer = line.chars().count() + usize::from(!empty) + word.chars().count();
        if !empty && longer > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(from);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
