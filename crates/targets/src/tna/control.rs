//! What only Tofino's control plane sets: the values of `RegisterParam`s.

use super::runtime::Runtime;
use crate::control::{self, ControlError, ControlPlane, Objects, ParameterValue, fits};
use sojourn_p4::interp::Tables;
use sojourn_p4::ir::{ObjectId, Program};

/// Installs everything that is the program's.
pub(super) fn install(
    control: &ControlPlane,
    program: &Program,
    tables: &mut Tables,
    runtime: &mut Runtime,
) -> Result<(), ControlError> {
    let Runtime { profiles, meters, .. } = &mut *runtime;
    control::install(control, &mut Objects { tables, profiles, meters })?;
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
        return Err(ControlError::unknown("register parameter", &given.name, &known));
    };
    let value = given.value.0.iter_u32_digits().next().unwrap_or(0);
    for register in &mut runtime.registers {
        register.set_parameter(ObjectId(*at as u32), value);
    }
    Ok(())
}
