//! Snapshot schema of a chip's pass: the fields of the parameters of its control.

use super::{Snapshot, SnapshotField};
use sojourn_p4::ir::{Layout, PackageArg, Program, Scalar, Unit};
use std::collections::BTreeSet;

/// The passes of a program's pipelines, each pipeline once.
pub fn snapshots(program: &Program) -> Vec<Snapshot> {
    let mut found: Vec<Snapshot> = Vec::new();
    for (_, arg) in program.main.iter().flat_map(|main| &main.args) {
        let PackageArg::Package(pipeline) = arg else { continue };
        for (name, arg) in &pipeline.args {
            let PackageArg::Unit(unit) = arg else { continue };
            let egress = match &**name {
                "ingress" => false,
                "egress" => true,
                _ => continue,
            };
            let unit = &program.units[unit.index()];
            let is_same =
                |known: &Snapshot| known.pipeline == *pipeline.name && known.egress == egress;
            if !found.iter().any(is_same) {
                found.push(Snapshot {
                    pipeline: pipeline.name.to_string(),
                    egress,
                    control: unit.name.to_string(),
                    fields: fields(unit),
                });
            }
        }
    }
    found
}

/// The fields of a control's parameters; the validity of headers only for the first one.
fn fields(unit: &Unit) -> Vec<SnapshotField> {
    let (mut found, mut names) = (Vec::new(), BTreeSet::new());
    for (at, param) in unit.params.iter().enumerate() {
        walk(unit, &param.layout, at == 0, &mut |field| {
            // Padding of `@flexible` fields is not part of the program.
            if !field.name.ends_with("$padding$") && names.insert(field.name.clone()) {
                found.push(field);
            }
        });
    }
    found
}

fn walk(unit: &Unit, layout: &Layout, validity: bool, add: &mut dyn FnMut(SnapshotField)) {
    match layout {
        Layout::Narrow(slot, Scalar::Bit(width) | Scalar::Int(width)) => {
            add(SnapshotField { name: unit.slots[slot.index()].name.to_string(), width: *width });
        }
        Layout::Wide(slot, Scalar::Bit(width) | Scalar::Int(width)) => {
            let name = unit.wide_slots[slot.index()].name.to_string();
            add(SnapshotField { name, width: *width });
        }
        Layout::Header { valid, fields, .. } => {
            if validity {
                add(SnapshotField { name: unit.slots[valid.index()].name.to_string(), width: 1 });
            }
            fields.iter().for_each(|field| walk(unit, field, validity, add));
        }
        Layout::Union { members: parts, .. }
        | Layout::Struct { fields: parts, .. }
        | Layout::Stack { elements: parts, .. } => {
            parts.iter().for_each(|part| walk(unit, part, validity, add));
        }
        _ => {}
    }
}
