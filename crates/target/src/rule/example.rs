//! Example of a rule: the lines of one of its program's two variants, without the shared parts.
//!
//! Depends on the form of the files in the crate's folder `rules`: the included files are the
//! shared parts, and `#ifdef BROKEN`, `#else`, `#endif` separate the variants. It must not depend
//! on P4.

use super::Rule;

impl Rule {
    /// The lines of the rule's program that break it (`broken`) or follow it, for reading.
    pub fn example(&self, broken: bool) -> String {
        let mut sections = vec![Vec::new()];
        let mut shown = true;
        for line in self.program.lines() {
            match line.trim() {
                "#ifdef BROKEN" => shown = broken,
                "#ifndef BROKEN" => shown = !broken,
                "#else" => shown = !shown,
                "#endif" => shown = true,
                // The header comment repeats the rule.
                text if text.starts_with("//!") => {}
                text if text.starts_with("#include \"") => sections.push(Vec::new()),
                _ if shown => sections.last_mut().into_iter().for_each(|lines| lines.push(line)),
                _ => {}
            }
        }
        let texts = sections.iter().map(|lines| unindented(lines));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// The lines without common leading white space, without empty lines at the ends or repeated.
fn unindented(lines: &[&str]) -> String {
    let depth = |line: &&str| line.len() - line.trim_start().len();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = filled.map(depth).min().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let line = line.get(margin..).unwrap_or("").trim_end();
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}
