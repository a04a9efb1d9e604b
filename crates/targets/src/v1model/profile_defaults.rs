//! Tables with an action profile or selector do nothing on a miss, whatever their `default_action`.
//!
//! p4c says so when it compiles for bmv2 ("Target does not support default_action ... due to action
//! profiles") and writes none; `simple_switch` then runs nothing until a control plane sets a
//! default *member* (`MatchTableIndirect::lookup`).

use super::rules;
use super::runtime::is_profile;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{ObjectArg, Program, Table};

/// Takes the default actions of such tables away, with a warning for each that would do something.
pub(super) fn take_away(program: &mut Program) -> Vec<Diagnostic> {
    let objects = &program.objects;
    let has_profile = |table: &&mut Table| {
        table.properties.iter().any(|(_, value)| match value {
            ObjectArg::Object(object) => is_profile(&objects[object.index()]),
            _ => false,
        })
    };
    program.tables.iter_mut().filter(has_profile).filter_map(without_default).collect()
}

fn without_default(table: &mut Table) -> Option<Diagnostic> {
    let (action, _) = table.default_action.take()?;
    table.const_default_action = false;
    let action = &table.actions.get(action as usize)?.name;
    if &**action == "NoAction" {
        return None;
    }
    let message = format!("`{action}` is not run when nothing matches in table `{}`", table.name);
    Some(rules::PROFILE_DEFAULT.warning(table.span, message))
}
