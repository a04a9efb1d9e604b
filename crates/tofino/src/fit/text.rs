//! The estimate as text of 100 columns and as JSON.

use super::naming::{At, PASSES};
use super::report::{Fit, Pass, Placed, Stage};
use super::resources::Resource;
use sojourn_p4::text_wrap::wrap;
use std::fmt::Write;

/// Resources that have a column in the table of stages: heading and what it counts.
const COLUMNS: [(&str, Resource); 12] = [
    ("tab", Resource::LogicalTables),
    ("gw", Resource::Gateways),
    ("alu", Resource::StatefulAlus),
    ("sram", Resource::SramBlocks),
    ("tcam", Resource::TcamBlocks),
    ("map", Resource::MapRams),
    ("xbar", Resource::ExactCrossbarBytes),
    ("tern", Resource::TernaryCrossbarBytes),
    ("hash", Resource::HashBits),
    ("data", Resource::ActionDataBytes),
    ("vl.i", Resource::IngressWords),
    ("vl.e", Resource::EgressWords),
];

impl Fit {
    /// Stage table, critical paths and totals.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.headline(&mut out);
        self.table(&mut out);
        for pass in &self.passes {
            path(pass, &mut out);
        }
        self.totals(&mut out);
        for note in &self.notes {
            wrap(&mut out, "note: ", note, 6);
        }
        for (number, other) in self.others.iter().enumerate() {
            let _ = write!(out, "\npipeline {}: {}", number + 2, other.render());
        }
        out
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn headline(&self, out: &mut String) {
        let [ingress, egress] = &self.passes;
        let verdict = match (self.fits, self.stages_at_least > self.stages_available) {
            (true, _) => "fits",
            (false, true) => "does not fit",
            (false, false) => "may not fit",
        };
        if let count @ 1.. = self.unplaced.len() {
            let steps = if count == 1 { "a step finds" } else { "steps find" };
            let _ = writeln!(
                out,
                "{verdict}: {}{steps} no stage of {} (estimate)\n",
                if count == 1 { String::new() } else { format!("{count} ") },
                self.chip
            );
            return;
        }
        let _ = writeln!(
            out,
            "{verdict}: {} of {} stages of {} (estimate); ingress {}, egress {}\n",
            self.stages_used, self.stages_available, self.chip, ingress.stages, egress.stages
        );
    }

    fn table(&self, out: &mut String) {
        let mut head = "stage ".to_owned();
        let mut limits = "  of  ".to_owned();
        for (name, resource) in COLUMNS {
            let _ = write!(head, "{name:>5}");
            let _ = write!(limits, "{:>5}", resource.limit());
        }
        let _ = writeln!(out, "{head}  placed\n{limits}");
        let from = head.chars().count() + 2;
        for stage in &self.stages {
            let mut line = format!("{:>4}  ", stage.stage);
            for (_, resource) in COLUMNS {
                match stage.used.get(&resource).copied().unwrap_or(0) {
                    0 => line.push_str("    ."),
                    used => drop(write!(line, "{used:>5}")),
                }
            }
            line.push_str("  ");
            wrap(out, &line, &placed(stage), from);
        }
    }

    fn totals(&self, out: &mut String) {
        let _ = writeln!(out, "\n{:<28}{:>8}{:>8}{:>16}", "totals", "used", "of", "fullest stage");
        for total in self.totals.iter().filter(|total| total.used > 0) {
            let most = format!("{} of {}", total.most, total.limit_per_stage);
            let mark = if total.estimate { "  estimate" } else { "" };
            let _ = writeln!(
                out,
                "{:<28}{:>8}{:>8}{most:>16}{mark}",
                total.name, total.used, total.limit
            );
        }
        for containers in &self.containers {
            let name = format!("{}-bit containers", containers.width);
            let (used, limit) = (containers.used, containers.limit);
            let _ = writeln!(out, "{name:<28}{used:>8}{limit:>8}{:>16}  estimate", "");
        }
    }
}

/// The contents of a stage: first ingress, then egress. Accesses to one register are shown once.
fn placed(stage: &Stage) -> String {
    let mut parts = Vec::new();
    for pass in PASSES {
        let mut names: Vec<String> = Vec::new();
        for name in stage.placed.iter().filter(|placed| placed.pass == pass).map(short) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if !names.is_empty() {
            let tag = if pass == "ingress" { "in" } else { "eg" };
            parts.push(format!("{tag}: {}", names.join("; ")));
        }
    }
    parts.join(" | ")
}

fn short(placed: &Placed) -> String {
    let name = cut(&placed.name, 40);
    match placed.kind {
        "stateful" => format!("[{}", name.replacen(", ", "] ", 1)) + close(&name),
        _ => name,
    }
}

/// Registers are in brackets; the bracket closes after the register's name.
fn close(name: &str) -> &'static str {
    if name.contains(", ") { "" } else { "]" }
}

fn path(pass: &Pass, out: &mut String) {
    if pass.critical_path.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\ncritical path of {}: {} {}",
        pass.name,
        pass.critical_stages,
        if pass.critical_stages == 1 { "stage" } else { "stages" }
    );
    for step in &pass.critical_path {
        let head = format!("{:>4}  {:<8}  ", step.stage, step.kind);
        let mut text = cut(&step.name, 48);
        if let Some(at) = &step.at {
            let _ = write!(text, "  ({})", near(at));
        }
        if let Some(reason) = &step.reason {
            let _ = write!(text, ": {}", reason.text);
            if let Some(written) = reason.written.as_ref().filter(|_| reason.field.is_some()) {
                let _ = write!(text, " of {}", near(written));
            }
        }
        wrap(out, &head, &text, 16);
    }
}

/// The file's own name, and the line.
fn near(at: &At) -> String {
    let file = at.file.rsplit(['/', '\\']).next().unwrap_or(&at.file);
    format!("{file}:{}", at.line)
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 3).chain("...".chars()).collect()
}
