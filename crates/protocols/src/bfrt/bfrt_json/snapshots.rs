//! Snapshot tables: settings, trigger, captured data, and the stages that see a field.
//!
//! One table of settings serves both passes of a pipeline; the others exist for each. A field has
//! the same id in all of them.

use super::{Maker, kind};
use crate::ids::hash;
use serde_json::{Value, json};
use sojourn_control::schema::Snapshot;
use std::collections::BTreeMap;

/// Number of stages of the chip.
const STAGES: u32 = 12;
/// Offset of the number of a field's mask from the number of the field.
pub const MASK: u32 = 0x8000;

/// Ids of the other fields.
pub mod number {
    #![allow(missing_docs)]
    pub const START_STAGE: u32 = 65_587;
    pub const END_STAGE: u32 = 65_588;
    pub const ENABLE: u32 = 65_589;
    pub const TRIGGER_STATE: u32 = 65_590;
    pub const TIMER_ENABLE: u32 = 65_591;
    pub const TIMER_TRIGGER: u32 = 65_592;
    pub const TIMER_VALUE: u32 = 65_593;
    pub const TABLE_INFO: u32 = 65_596;
    pub const PREVIOUS_TRIGGER: u32 = 65_599;
    pub const INGRESS_MODE: u32 = 65_600;
    pub const LOCAL_TRIGGER: u32 = 65_601;
    pub const NEXT_TABLE: u32 = 65_603;
    pub const TABLE_NAME: u32 = 65_611;
    pub const HIT_HANDLE: u32 = 65_614;
    pub const TABLE_HIT: u32 = 65_615;
    pub const TABLE_INHIBITED: u32 = 65_616;
    pub const TABLE_EXECUTED: u32 = 65_617;
    pub const FIELD_NAME: u32 = 65_618;
    pub const VALID_STAGES: u32 = 65_619;
    pub const THREAD: u32 = 65_620;
    pub const INGRESS_CAPTURE: u32 = 65_621;
    pub const EGRESS_CAPTURE: u32 = 65_622;
    pub const GHOST_CAPTURE: u32 = 65_623;
}

/// Name of a field in the schema; the program's name is `hdr.stack[1].$valid$`.
pub fn field_name(of_program: &str) -> String {
    of_program.replace("$valid$", "$valid").replace('[', "$").replace(']', "")
}

impl Maker<'_> {
    pub(super) fn snapshots(&self) -> Vec<Value> {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for field in self.schema.snapshots.iter().flat_map(|of| &of.fields) {
            let next = numbers.len() as u32 + 1;
            numbers.entry(&field.name).or_insert(next);
        }
        let mut made: Vec<Value> = Vec::new();
        for of in &self.schema.snapshots {
            let settings = format!("{}.snapshot.cfg", of.pipeline);
            let trigger = number_of(of, kind::SNAPSHOT_TRIGGER);
            match made.iter_mut().find(|table| table["name"] == settings) {
                Some(known) => {
                    known["depends_on"]
                        .as_array_mut()
                        .into_iter()
                        .for_each(|all| all.push(trigger.into()));
                }
                None => made.push(self.settings(of, &settings, trigger)),
            }
            let mut fields: Vec<(String, u32, u32)> = of
                .fields
                .iter()
                .map(|field| (field_name(&field.name), numbers[&*field.name], field.width))
                .collect();
            fields.sort_by_key(|(_, number, _)| *number);
            made.extend([triggers(of, &fields), seen(of, &fields), liveness(of)]);
        }
        made
    }

    fn settings(&self, of: &Snapshot, name: &str, trigger: u32) -> Value {
        let mut made = table(of, name, "SnapshotCfg", kind::SNAPSHOT, STAGES);
        made["depends_on"] = json!([trigger]);
        made["key"] = json!([
            stage(number::START_STAGE, "start_stage", 0, false),
            stage(number::END_STAGE, "end_stage", STAGES - 1, false),
        ]);
        let choice = |all: &[&str]| json!({ "type": "string", "choices": all });
        let mut mode = choice(&["INGRESS", "GHOST", "INGRESS_GHOST", "ANY"]);
        mode["default_value"] = "INGRESS".into();
        let thread = choice(&["INGRESS", "EGRESS", "ALL"]);
        let mut data = vec![
            datum(number::TIMER_ENABLE, "timer_enable", no(), false, false),
            datum(
                number::TIMER_VALUE,
                "timer_value_usecs",
                json!({ "type": "uint32" }),
                false,
                false,
            ),
            datum(number::INGRESS_MODE, "ingress_trigger_mode", mode, false, false),
            datum(number::THREAD, "thread", thread, false, false),
            datum(
                number::INGRESS_CAPTURE,
                "ingress_capture",
                json!({ "type": "uint32" }),
                true,
                true,
            ),
            datum(
                number::EGRESS_CAPTURE,
                "egress_capture",
                json!({ "type": "uint32" }),
                true,
                true,
            ),
            datum(number::GHOST_CAPTURE, "ghost_capture", json!({ "type": "uint32" }), true, true),
        ];
        data[3]["mandatory"] = true.into();
        made["data"] = data.into();
        made
    }
}

fn triggers(of: &Snapshot, fields: &[(String, u32, u32)]) -> Value {
    let mut made = of_pass(of, "trigger", "SnapshotTrigger", kind::SNAPSHOT_TRIGGER, STAGES);
    made["key"] = json!([stage(number::START_STAGE, "stage", 0, true)]);
    let states = json!({ "type": "string", "choices": ["PASSIVE", "ARMED", "FULL"] });
    let mut data = vec![
        datum(number::ENABLE, "enable", no(), false, false),
        datum(number::TRIGGER_STATE, "trigger_state", states, true, true),
    ];
    for (name, id, width) in fields {
        let ty = json!({ "type": "bytes", "width": width });
        data.push(datum(*id, &format!("trig.{name}"), ty.clone(), false, false));
        data.push(datum(id + MASK, &format!("trig.{name}_mask"), ty, false, false));
    }
    made["data"] = data.into();
    made
}

fn seen(of: &Snapshot, fields: &[(String, u32, u32)]) -> Value {
    let mut made = of_pass(of, "data", "SnapshotData", kind::SNAPSHOT_DATA, STAGES);
    made["key"] = json!([stage(number::START_STAGE, "stage", 0, true)]);
    let text = || json!({ "type": "string" });
    let flag = || json!({ "type": "bool" });
    let read = |id, name, ty| datum(id, name, ty, true, false);
    let of_table = json!([
        read(number::TABLE_NAME, "table_name", text()),
        read(number::HIT_HANDLE, "match_hit_handle", json!({ "type": "uint32" })),
        read(number::TABLE_HIT, "table_hit", flag()),
        read(number::TABLE_INHIBITED, "table_inhibited", flag()),
        read(number::TABLE_EXECUTED, "table_executed", flag()),
    ]);
    let mut tables = datum(number::TABLE_INFO, "table_info", Value::Null, true, true);
    if let Some(single) = tables["singleton"].as_object_mut() {
        single.remove("type");
        single.insert("container".to_owned(), of_table);
    }
    let mut data = vec![
        read(number::PREVIOUS_TRIGGER, "prev_stage_trigger", no()),
        read(number::TIMER_TRIGGER, "timer_trigger", no()),
        read(number::LOCAL_TRIGGER, "local_stage_trigger", no()),
        read(number::NEXT_TABLE, "next_table_name", text()),
        tables,
    ];
    data.extend(
        fields
            .iter()
            .map(|(name, id, width)| read(*id, name, json!({ "type": "bytes", "width": width }))),
    );
    made["data"] = data.into();
    made
}

fn liveness(of: &Snapshot) -> Value {
    let mut made = of_pass(of, "liveness", "SnapshotLiveness", kind::SNAPSHOT_LIVENESS, 0);
    made["key"] = json!([{
        "id": number::FIELD_NAME,
        "name": "field_name",
        "repeated": false,
        "annotations": [],
        "mandatory": true,
        "match_type": "Exact",
        "type": { "type": "string" },
    }]);
    let stages = json!({ "type": "uint32" });
    made["data"] = json!([datum(number::VALID_STAGES, "valid_stages", stages, true, true)]);
    made
}

/// One of the tables of a pass.
fn of_pass(of: &Snapshot, end: &str, made_as: &str, kind: u32, size: u32) -> Value {
    let pass = if of.egress { "egress" } else { "ingress" };
    table(of, &format!("{}.snapshot.{pass}_{end}", of.pipeline), made_as, kind, size)
}

fn table(of: &Snapshot, name: &str, made_as: &str, kind: u32, size: u32) -> Value {
    json!({
        "name": name,
        "id": number_of(of, kind),
        "table_type": made_as,
        "size": size,
        "depends_on": [],
        "key": [],
        "data": [],
        "supported_operations": [],
        "attributes": [],
    })
}

/// The ids of a pass's tables derive from its control.
fn number_of(of: &Snapshot, kind: u32) -> u32 {
    kind << 24 | hash(&format!("{}.{1}.{1}", of.pipeline, of.control)) & 0xff_ffff
}

fn stage(id: u32, name: &str, default: u32, mandatory: bool) -> Value {
    json!({
        "id": id,
        "name": name,
        "repeated": false,
        "annotations": [],
        "mandatory": mandatory,
        "match_type": "Exact",
        "type": { "type": "uint32", "default_value": default },
    })
}

fn datum(id: u32, name: &str, ty: Value, read_only: bool, repeated: bool) -> Value {
    json!({
        "mandatory": false,
        "read_only": read_only,
        "singleton": {
            "id": id, "name": name, "repeated": repeated, "annotations": [], "type": ty,
        },
    })
}

fn no() -> Value {
    json!({ "type": "bool", "default_value": false })
}
