//! The blocks that the `main` of a TNA program is made of.
//!
//! Uses the IR's packages; must not depend on the use of the blocks.

use super::chip::Chip;
use super::gress::check_block;
use super::rules::{self, Refusal};
use sojourn_p4::ir::{Package, PackageArg, Program, UnitId};
use sojourn_p4::source::Span;

/// The blocks of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Parser, control and deparser of ingress, then of egress.
    pub six: [UnitId; 6],
    /// The ghost control, which shares the stages and registers of ingress.
    pub ghost: Option<UnitId>,
}

impl Blocks {
    /// The controls, each with the pass (0 ingress, 1 egress) whose stages it takes.
    pub fn units(&self) -> impl Iterator<Item = (UnitId, usize)> {
        let six = self.six.into_iter().enumerate().map(|(at, unit)| (unit, at / 3));
        six.chain(self.ghost.map(|unit| (unit, 0)))
    }
}

/// The blocks of each pipeline, in the order of `Pipeline`'s parameters; there is one at least.
pub(super) fn find_blocks(chip: &Chip, program: &Program) -> Result<Vec<Blocks>, Refusal> {
    let Some(main) = &program.main else {
        let message = "the program has no `main`";
        return Err(rules::ARCHITECTURE.refuse(Span::DUMMY, message));
    };
    if !chip.packages.contains(&&*main.of) {
        let message = match architecture(&main.of) {
            Some(other) => format!("`main` is a `{}`: this program is for {other}", main.of),
            None => {
                format!("`main` is a `{}`, not a `Switch` of {}", main.of, chip.architecture)
            }
        };
        return Err(rules::ARCHITECTURE.refuse(main.span, message));
    }
    let pipelines = main.args.iter().filter_map(|(_, arg)| match arg {
        PackageArg::Package(pipeline) => Some(blocks_of(chip, program, pipeline)),
        _ => None,
    });
    let found = pipelines.collect::<Result<Vec<_>, Refusal>>()?;
    if found.is_empty() {
        let message = "`Switch` without a `Pipeline`";
        return Err(rules::PIPELINE.refuse(main.span, message));
    }
    Ok(found)
}

/// Architecture of a package name.
fn architecture(package: &str) -> Option<&'static str> {
    Some(match package {
        "V1Switch" => "v1model (bmv2)",
        "PSA_Switch" => "the Portable Switch Architecture",
        "PNA_NIC" => "the Portable NIC Architecture",
        "ebpfFilter" | "ubpf" => "eBPF",
        "VSS" => "the Very Simple Switch",
        _ => return None,
    })
}

fn blocks_of(chip: &Chip, program: &Program, pipe: &Package) -> Result<Blocks, Refusal> {
    let block = |arg: &PackageArg| match arg {
        PackageArg::Unit(unit) => Some(*unit),
        // Several parsers for groups of ports: the first one.
        PackageArg::Package(parsers) => parsers.args.iter().find_map(|(_, arg)| match arg {
            PackageArg::Unit(unit) => Some(*unit),
            _ => None,
        }),
        _ => None,
    };
    let mut found: Vec<UnitId> = pipe.args.iter().filter_map(|(_, arg)| block(arg)).collect();
    let ghost = if chip.ghost && found.len() == 7 { found.pop() } else { None };
    let Ok(six) = <[UnitId; 6]>::try_from(found.clone()) else {
        let message = format!("a pipeline of {} blocks", found.len());
        return Err(rules::PIPELINE.refuse(pipe.span, message));
    };
    for (index, unit) in six.iter().enumerate() {
        check_block(program, *unit, index % 3 == 0, pipe.span)?;
    }
    if let Some(ghost) = ghost {
        check_block(program, ghost, false, pipe.span)?;
    }
    Ok(Blocks { six, ghost })
}
