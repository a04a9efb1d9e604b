//! Description of a program's control-plane interface as JSON: names, widths, match kinds.
//!
//! It is read from the IR alone, so that every architecture is described in the same terms.

use crate::schema::size;
use serde::{Deserialize, Serialize};
use sojourn_p4::ir::{
    Layout, Object, ObjectArg, Package, PackageArg, Program, Table, TableAction, ValueSet,
};
use std::collections::BTreeMap;

/// All objects with a control-plane name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramDescription {
    /// The package of `main`: `Switch`, `V1Switch`.
    pub package: String,
    /// Packages that are arguments of `main`, by their instances' names: the pipelines of a switch.
    pub pipelines: Vec<String>,
    /// All tables, in the order of the program.
    pub tables: Vec<TableDescription>,
    /// All extern objects, in the order of the program.
    pub objects: Vec<ObjectDescription>,
    /// All value sets of parsers.
    pub value_sets: Vec<ValueSetDescription>,
    /// Constants at the top level, in decimal digits: they have any width.
    pub constants: BTreeMap<String, String>,
}

/// A table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableDescription {
    /// Its full name.
    pub name: String,
    /// Its key elements in order.
    pub keys: Vec<KeyDescription>,
    /// Its actions.
    pub actions: Vec<ActionDescription>,
    /// `size`, if given.
    pub size: Option<u64>,
    /// Number of entries in the program's text; they have the first handles.
    pub entries: usize,
    /// True if its entries are part of the program.
    pub const_entries: bool,
    /// True if its default action cannot be changed.
    pub const_default_action: bool,
    /// Its action profile or selector.
    pub implementation: Option<String>,
}

/// A key element.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyDescription {
    /// Its name.
    pub name: String,
    /// `exact`, `ternary`, `lpm`, `range`, `optional`, `selector`.
    pub match_kind: String,
    /// Its width in bits.
    pub width: u32,
}

/// An action of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ActionDescription {
    /// Its full name.
    pub name: String,
    /// Parameters that the control plane sets, in order.
    pub parameters: Vec<ParameterDescription>,
    /// True if it can only be the default action.
    pub default_only: bool,
}

/// A parameter of an action.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ParameterDescription {
    /// Its name.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
}

/// An extern object: a register, counter, meter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObjectDescription {
    /// Its full name.
    pub name: String,
    /// The extern's name: `Register`, `counter`, `direct_meter`.
    pub of: String,
    /// Number of cells, if the constructor gives it.
    pub size: Option<u64>,
}

/// A value set.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValueSetDescription {
    /// Its full name.
    pub name: String,
    /// Widths of the parts of a member, in bits.
    pub widths: Vec<u32>,
}

/// Describes a program.
pub fn describe(program: &Program) -> ProgramDescription {
    ProgramDescription {
        package: program.main.as_ref().map_or_else(String::new, |main| main.of.to_string()),
        pipelines: pipelines(program).iter().map(|package| package.name.to_string()).collect(),
        tables: program.tables.iter().map(|given| table(given, program)).collect(),
        objects: program.objects.iter().map(object).collect(),
        value_sets: program.value_sets.iter().map(value_set).collect(),
        constants: program
            .constants
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
    }
}

/// Packages that are arguments of `main`. Those of several types are parts of one pipeline, which
/// has no name of its own: ingress and egress of PSA.
pub(crate) fn pipelines(program: &Program) -> Vec<&Package> {
    let given = program.main.iter().flat_map(|main| &main.args);
    let packages: Vec<&Package> = given
        .filter_map(|(_, arg)| match arg {
            PackageArg::Package(package) => Some(package),
            _ => None,
        })
        .collect();
    let of_one_type = packages.windows(2).all(|pair| pair[0].of == pair[1].of);
    if of_one_type { packages } else { Vec::new() }
}

fn table(table: &Table, program: &Program) -> TableDescription {
    let key = |key: &sojourn_p4::ir::Key| KeyDescription {
        name: key.name.to_string(),
        match_kind: key.match_kind.to_string(),
        width: key.expr.scalar.width(),
    };
    let implementation = table.properties.iter().find_map(|(name, value)| match value {
        ObjectArg::Object(id) if is_implementation(name) => {
            Some(program.objects[id.index()].name.to_string())
        }
        _ => None,
    });
    TableDescription {
        name: table.name.to_string(),
        keys: table.keys.iter().map(key).collect(),
        actions: table.actions.iter().map(action).collect(),
        size: table.size,
        entries: table.entries.len(),
        const_entries: table.const_entries,
        const_default_action: table.const_default_action,
        implementation,
    }
}

/// True for the table properties that name an action profile.
pub fn is_implementation(property: &str) -> bool {
    matches!(property, "implementation" | "psa_implementation")
}

fn action(action: &TableAction) -> ActionDescription {
    let parameter = |(name, layout): &(std::sync::Arc<str>, Layout)| ParameterDescription {
        name: name.to_string(),
        width: match layout {
            Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => scalar.width(),
            _ => 0,
        },
    };
    let parameters = action.data.iter().map(parameter).collect();
    ActionDescription {
        name: action.name.to_string(),
        parameters,
        default_only: action.default_only,
    }
}

fn value_set(set: &ValueSet) -> ValueSetDescription {
    let widths = set.columns.iter().map(|(scalar, _)| scalar.width()).collect();
    ValueSetDescription { name: set.name.to_string(), widths }
}

fn object(object: &Object) -> ObjectDescription {
    ObjectDescription {
        name: object.name.to_string(),
        of: object.of.to_string(),
        size: size(object),
    }
}
