//! The six blocks of a `PSA_Switch`: their frames, and the data passed between them.
//!
//! Each block has a frame of its own; parameters are found by their position in the signatures of
//! psa.p4. Between passes a packet carries the metadata that a deparser wrote for the next parser.
//! Must not depend on the meaning of the metadata.

use super::rules::{self, Refusal};
use num_bigint::BigUint;
use sojourn_p4::interp::{Frame, Interpreter, SlotRange, copy_range};
use sojourn_p4::ir::{Body, Layout, Package, PackageArg, Program, UnitId};
use sojourn_p4::source::Span;

/// Parameters of parsers, the packet not counted. Behind them follows carried metadata.
pub(crate) mod parser {
    pub const HEADERS: usize = 0;
    pub const USER: usize = 1;
    pub const INPUT: usize = 2;
    pub const RESUBMIT: usize = 3;
    pub const RECIRCULATE: usize = 4;
    pub const NORMAL: usize = 3;
    pub const CLONE_I2E: usize = 4;
    pub const CLONE_E2E: usize = 5;
}

/// Parameters of controls.
pub(crate) mod control {
    pub const HEADERS: usize = 0;
    pub const USER: usize = 1;
    pub const INPUT: usize = 2;
    pub const OUTPUT: usize = 3;
}

/// Parameters of the ingress deparser, the packet not counted.
pub(crate) mod ingress_deparser {
    pub const CLONE_I2E: usize = 0;
    pub const RESUBMIT: usize = 1;
    pub const NORMAL: usize = 2;
    pub const HEADERS: usize = 3;
    pub const USER: usize = 4;
    pub const OUTPUT: usize = 5;
}

/// Parameters of the egress deparser, the packet not counted.
pub(crate) mod egress_deparser {
    pub const CLONE_E2E: usize = 0;
    pub const RECIRCULATE: usize = 1;
    pub const HEADERS: usize = 2;
    pub const USER: usize = 3;
    pub const OUTPUT: usize = 4;
    pub const INPUT: usize = 5;
}

/// Number of parameters of the blocks, in their order.
const PARAMETERS: [usize; 6] = [5, 4, 6, 6, 4, 6];

/// Pairs of parameters with one type: block and parameter, twice. A value passes from the first to
/// the second.
const HANDOVERS: [[(usize, usize); 2]; 15] = [
    [(0, parser::HEADERS), (1, control::HEADERS)],
    [(0, parser::USER), (1, control::USER)],
    [(1, control::HEADERS), (2, ingress_deparser::HEADERS)],
    [(1, control::USER), (2, ingress_deparser::USER)],
    [(1, control::OUTPUT), (2, ingress_deparser::OUTPUT)],
    [(3, parser::HEADERS), (4, control::HEADERS)],
    [(3, parser::USER), (4, control::USER)],
    [(4, control::HEADERS), (5, egress_deparser::HEADERS)],
    [(4, control::USER), (5, egress_deparser::USER)],
    [(4, control::OUTPUT), (5, egress_deparser::OUTPUT)],
    [(2, ingress_deparser::RESUBMIT), (0, parser::RESUBMIT)],
    [(2, ingress_deparser::NORMAL), (3, parser::NORMAL)],
    [(2, ingress_deparser::CLONE_I2E), (3, parser::CLONE_I2E)],
    [(5, egress_deparser::CLONE_E2E), (3, parser::CLONE_E2E)],
    [(5, egress_deparser::RECIRCULATE), (0, parser::RECIRCULATE)],
];

/// The six blocks of `main`: those of the ingress pipeline, then those of the egress pipeline.
///
/// # Errors
/// `main` has another form than psa.p4 declares.
pub(crate) fn units(program: &Program) -> Result<[UnitId; 6], Refusal> {
    let Some(main) = &program.main else {
        return Err(rules::PACKAGE.refuse(Span::DUMMY, "the program has no `main`"));
    };
    let mut found = Vec::new();
    collect(main, &mut found);
    let units = <[UnitId; 6]>::try_from(found).map_err(|found| {
        rules::PACKAGE.refuse(main.span, format!("a `{}` of {} blocks", main.of, found.len()))
    })?;
    for (at, unit) in units.iter().enumerate() {
        let unit = &program.units[unit.index()];
        let is_parser = matches!(unit.body, Body::Parser(_));
        if is_parser != (at % 3 == 0) || parameters(program, units[at]).count() != PARAMETERS[at] {
            let message = format!("`{}` cannot stand at this place of a {}", unit.name, main.of);
            return Err(rules::PACKAGE
                .refuse(main.span, message)
                .with_place(unit.span, "declared here"));
        }
    }
    for [(from, source), (to, target)] in HANDOVERS {
        let range = |block: usize, parameter| {
            let layout = parameters(program, units[block]).nth(parameter);
            layout.map(|layout| (layout.range().narrow_len, layout.range().wide_len))
        };
        if range(from, source) != range(to, target) {
            let name = |block: usize| &program.units[units[block].index()].name;
            let message = format!("`{}` and `{}` do not fit each other", name(from), name(to));
            return Err(rules::PACKAGE.refuse(main.span, message));
        }
    }
    Ok(units)
}

fn collect(package: &Package, units: &mut Vec<UnitId>) {
    for (_, arg) in &package.args {
        match arg {
            PackageArg::Unit(unit) => units.push(*unit),
            PackageArg::Package(inner) => collect(inner, units),
            _ => {}
        }
    }
}

/// The parameters of a unit, the packet not counted.
pub(crate) fn parameters(program: &Program, unit: UnitId) -> impl Iterator<Item = &Layout> {
    let params = program.units[unit.index()].params.iter().map(|param| &param.layout);
    params.filter(|layout| !matches!(layout, Layout::Object))
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The unit.
    pub unit: UnitId,
    /// Its frame.
    pub frame: Frame,
    params: Vec<SlotRange>,
}

impl Block {
    /// The block of a unit.
    pub fn new(interpreter: &Interpreter, unit: UnitId) -> Block {
        let params = parameters(interpreter.program(), unit).map(Layout::range).collect();
        Block { unit, frame: interpreter.frame(unit), params }
    }

    /// Makes its frame ready for a packet: numbers 0, headers invalid.
    pub fn reset(&mut self) {
        self.frame.clear();
    }

    /// Copies a parameter of another block to one of this.
    pub fn take(&mut self, own: usize, from: &Block, theirs: usize) {
        if let (Some(source), Some(target)) = (from.params.get(theirs), self.params.get(own)) {
            copy_range(&from.frame, *source, &mut self.frame, *target);
        }
    }

    /// A copy of a parameter, for a later pass.
    pub fn saved(&self, parameter: usize) -> Saved {
        let Some(range) = self.params.get(parameter) else { return Saved::default() };
        Saved {
            narrow: self.frame.narrow.get(range.narrow()).unwrap_or_default().into(),
            wide: self.frame.wide.get(range.wide()).unwrap_or_default().into(),
        }
    }

    /// Sets a parameter to such a copy.
    pub fn restore(&mut self, parameter: usize, saved: &Saved) {
        let Some(range) = self.params.get(parameter) else { return };
        if let Some(slots) = self.frame.narrow.get_mut(range.narrow())
            && slots.len() == saved.narrow.len()
        {
            slots.copy_from_slice(&saved.narrow);
        }
        if let Some(slots) = self.frame.wide.get_mut(range.wide())
            && slots.len() == saved.wide.len()
        {
            slots.clone_from_slice(&saved.wide);
        }
    }
}

/// A value of any type, as its slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    narrow: Box<[u128]>,
    wide: Box<[BigUint]>,
}
