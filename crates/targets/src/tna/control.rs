//! The part of a control plane that only TNA has: profiles, meters and register parameters.
//!
//! Tables and value sets are filled as for every architecture ([`crate::control`]).

use super::runtime::Runtime;
use crate::control::{
    ControlError, ControlPlane, MeterCell, ParameterValue, ProfileEntries, ProfileMember, fits,
    install_tables, install_value_sets, unknown,
};
use smallvec::SmallVec;
use sojourn_p4::interp::{ActionRun, Tables};
use sojourn_p4::ir::{ObjectId, Program, TableId};
use sojourn_packet::Time;

/// Installs everything that is the program's.
pub(super) fn install(
    control: &ControlPlane,
    program: &Program,
    tables: &mut Tables,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    control.action_profiles.iter().try_for_each(|entries| profile(entries, tables, runtime))?;
    install_tables(control, tables)?;
    control.meters.iter().try_for_each(|cell| meter(cell, runtime))?;
    install_value_sets(control, tables)?;
    control.register_params.iter().try_for_each(|value| parameter(value, program, runtime))
}

fn parameter(
    given: &ParameterValue,
    program: &Program,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    let objects = program.objects.iter().enumerate();
    let params: Vec<_> = objects.filter(|(_, object)| &*object.of == "RegisterParam").collect();
    let Some((at, _)) = params.iter().find(|(_, object)| fits(&object.name, &given.name)) else {
        let known: Vec<&str> = params.iter().map(|(_, object)| &*object.name).collect();
        return Err(unknown("register parameter", &given.name, &known));
    };
    let value = given.value.0.iter_u32_digits().next().unwrap_or(0);
    for register in &mut runtime.registers {
        register.set_parameter(ObjectId(*at as u32), value);
    }
    Ok(())
}

fn profile(
    entries: &ProfileEntries,
    tables: &Tables,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    let profiles = &mut runtime.profiles;
    let at = profiles.profiles.iter().position(|profile| fits(&profile.name, &entries.name));
    let Some(at) = at else {
        let known: Vec<&str> = profiles.profiles.iter().map(|profile| &*profile.name).collect();
        return Err(unknown("action profile", &entries.name, &known));
    };
    let table = profiles.of_table.iter().find(|(_, profile)| **profile == at).map(|(id, _)| *id);
    for member in &entries.members {
        let run = member_run(member, table, tables)?;
        profiles.profiles[at].members.insert(member.id, run);
    }
    if let Some(selector) = &mut profiles.profiles[at].selector {
        for (group, members) in &entries.groups {
            selector.set_group(*group, members.clone());
        }
    }
    Ok(())
}

/// What a member runs, in terms of the table that uses the profile.
fn member_run(
    member: &ProfileMember,
    table: Option<TableId>,
    tables: &Tables,
) -> Result<ActionRun, ControlError> {
    let Some(table) = table.and_then(|table| tables.description(table)) else {
        return Err(unknown("table that uses the profile of action", &member.action, &[]));
    };
    let names = || table.actions.iter().map(|action| &*action.name);
    let Some(at) = names().position(|name| fits(name, &member.action)) else {
        return Err(unknown("action", &member.action, &names().collect::<Vec<_>>()));
    };
    let mut data: SmallVec<[u128; 4]> = SmallVec::new();
    for (name, _) in &table.actions[at].data {
        let Some(value) = member.args.get(&**name) else {
            return Err(unknown("argument of that name in the member:", name, &[]));
        };
        data.push(u128::try_from(&value.0).unwrap_or(u128::MAX));
    }
    Ok(ActionRun { action: at as u32, data })
}

fn meter(cell: &MeterCell, runtime: &mut Runtime) -> Result<(), ControlError> {
    let at = runtime.meters.iter().position(|(name, _)| fits(name, &cell.name));
    let Some(at) = at else {
        let known: Vec<&str> = runtime.meters.iter().map(|(name, _)| &**name).collect();
        return Err(unknown("meter", &cell.name, &known));
    };
    if runtime.meters[at].1.configure(cell.index, cell.spec, Time::ZERO) {
        return Ok(());
    }
    Err(ControlError::MeterIndex { name: cell.name.clone(), index: cell.index })
}
