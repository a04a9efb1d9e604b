//! The blocks of a program's `main`: a parser, then controls.
//!
//! Shared by all architectures whose package has this form. Must not depend on any of them.

use crate::rule::{Refusal, Rule};
use sojourn_p4::ir::{Body, Layout, Package, PackageArg, Program, Unit, UnitId};
use sojourn_p4::source::Span;

/// `main` and its blocks in the order of their parameters; `rule` is the rule on their number.
///
/// # Errors
/// There is no `main`, it has another number of blocks, or one is a parser instead of a control, or
/// the other way round.
pub fn blocks<'p, const N: usize>(
    program: &'p Program,
    rule: &'static Rule,
) -> Result<(&'p Package, [UnitId; N]), Refusal> {
    let Some(main) = &program.main else {
        return Err(rule.refuse(Span::DUMMY, "the program has no `main`"));
    };
    let units = main.args.iter().filter_map(|(_, arg)| match arg {
        PackageArg::Unit(unit) => Some(*unit),
        _ => None,
    });
    let units: Vec<UnitId> = units.collect();
    let units = <[UnitId; N]>::try_from(units).map_err(|units| {
        rule.refuse(main.span, format!("a `{}` of {} blocks", main.of, units.len()))
    })?;
    for (at, unit) in units.iter().enumerate() {
        let unit = &program.units[unit.index()];
        if matches!(unit.body, Body::Parser(_)) != (at == 0) {
            let message = format!("`{}` cannot stand at this place of a {}", unit.name, main.of);
            return Err(rule.refuse(main.span, message).with_place(unit.span, "declared here"));
        }
    }
    Ok((main, units))
}

/// Layouts of headers, metadata and the architecture's own metadata in a block with these
/// parameters, in this order, with or without a packet in front; the last ones may be absent.
pub fn shared_parts(block: &Unit) -> [Option<&Layout>; 3] {
    let params = block.params.iter().map(|param| &param.layout);
    let mut params = params.filter(|layout| !matches!(layout, Layout::Object));
    [params.next(), params.next(), params.next()]
}
