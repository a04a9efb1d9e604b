//! Result of the analysis as text of at most 100 columns.

use super::report::{Block, Control, Dependencies, Step};
use sojourn_p4::text_wrap::{WIDTH, wrap};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Column of a step's accesses to state.
const MARKS: usize = 62;

impl Dependencies {
    /// Steps, flows and blocks of every control.
    pub fn render(&self) -> String {
        if self.controls.is_empty() {
            return "no state variables\n".to_owned();
        }
        self.controls.iter().map(control).collect::<Vec<_>>().join("\n")
    }

    /// The whole report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn control(control: &Control) -> String {
    let mut out = format!("state variables of {}\n", control.name);
    let width = control.variables.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    for variable in &control.variables {
        let size = variable.size.map_or(String::new(), |size| format!("{size} x "));
        let line = variable.at.as_ref().map_or(0, |at| at.line);
        let _ = writeln!(
            out,
            "  {:<width$}  {size}{}, {} (line {line})",
            variable.name, variable.ty, variable.register
        );
    }
    let file = main_file(control);
    let _ = writeln!(out, "\nwho reads (r) and writes (w) them, in the order of {file}");
    control.steps.iter().for_each(|each| step(&mut out, each));
    let _ = writeln!(
        out,
        "\nwhich have to be one atomic block; values flow from the upper lines to the lower ones"
    );
    for (number, each) in control.blocks.iter().enumerate() {
        block(&mut out, number + 1, each, control);
    }
    out
}

/// The file with most of the steps.
fn main_file(control: &Control) -> &str {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for at in control.steps.iter().filter_map(|step| step.at.as_ref()) {
        *files.entry(at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file)).or_default() += 1;
    }
    files.into_iter().max_by_key(|(_, count)| *count).map_or("the program", |(file, _)| file)
}

fn step(out: &mut String, step: &Step) {
    let line = step.at.as_ref().map_or(0, |at| at.line);
    let indent = "  ".repeat(step.depth.min(12) as usize);
    let mut head = format!("{line:>5}  {indent}");
    let room = MARKS.saturating_sub(head.chars().count() + 2).max(16);
    head.push_str(&cut(&step.text, room));
    let mut marks = Vec::new();
    if !step.reads.is_empty() {
        marks.push(format!("r {}", step.reads.join(", ")));
    }
    for written in &step.writes {
        marks.push(format!("w {}", written.name));
    }
    if step.drops {
        marks.push(format!("drop, by {}", step.uses.join(", ")));
    } else if step.writes.is_empty() && !step.uses.is_empty() {
        marks.push(format!("by {}", step.uses.join(", ")));
    }
    wrap(out, &format!("{head:<MARKS$}"), &marks.join("; "), MARKS);
}

fn block(out: &mut String, number: usize, block: &Block, control: &Control) {
    let names = block.variables.join(", ");
    let what = match (block.variables.len(), block.read_modify_write) {
        (1, true) => "by itself: read, changed and written in one step",
        (1, false) => "by itself: what is written does not depend on what was read",
        _ => "ONE ATOMIC BLOCK",
    };
    wrap(out, &format!("{number:>3}  "), &format!("{names}: {what}"), 5);
    if block.variables.len() < 2 {
        return;
    }
    let inside = control.flows.iter().filter(|flow| {
        flow.from != flow.to
            && block.variables.contains(&flow.from)
            && block.variables.contains(&flow.to)
    });
    for flow in inside {
        let line = flow.at.as_ref().map_or(0, |at| at.line);
        let text = format!("{} decides over {}, line {line}: {}", flow.from, flow.to, flow.text);
        wrap(out, "       ", &cut(&text, WIDTH - 7), 9);
    }
    if block.registers > 1 {
        let text = format!(
            "kept in {} registers: no pipeline that gives each register a stage of its own can run it",
            block.registers
        );
        wrap(out, "       ", &text, 7);
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}
