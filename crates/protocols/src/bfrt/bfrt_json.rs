//! `bf-rt.json`: a program's schema in the form of BfRt, the runtime interface of Tofino.
//!
//! Contains the program's tables and the objects that BfRt represents as tables: registers,
//! counters, meters, action profiles, selectors, value sets; hashes, learn filters, snapshots.
//! Debug counters are not included.

mod hashes;
pub mod snapshots;

use crate::ids::{hash, of_parts, requested_id};
use crate::p4info::DEFAULT_SIZE;
use serde_json::{Value, json};
use sojourn_control::schema::{
    Annotation, Body, Cells, DataType, Field, Filter, Named, Pipeline, PortMetadata, Profile,
    Register, RegisterParameter, Schema, Table, Unit, ValueSet,
};

/// Kinds of numbered objects: the first byte of each id.
mod kind {
    pub const ACTION: u32 = 0x01;
    pub const TABLE: u32 = 0x02;
    pub const PROFILE: u32 = 0x81;
    pub const SELECTOR: u32 = 0x82;
    pub const COUNTER: u32 = 0x83;
    pub const METER: u32 = 0x85;
    pub const WRED: u32 = 0x87;
    pub const LPF: u32 = 0x89;
    pub const REGISTER: u32 = 0x8b;
    pub const PARAMETER: u32 = 0x8d;
    pub const DIGEST: u32 = 0x8e;
    pub const PORT_METADATA: u32 = 0x90;
    pub const SNAPSHOT: u32 = 0x91;
    pub const SNAPSHOT_TRIGGER: u32 = 0x92;
    pub const SNAPSHOT_DATA: u32 = 0x93;
    pub const SNAPSHOT_LIVENESS: u32 = 0x94;
    pub const HASH_INPUTS: u32 = 0x95;
    pub const HASH_VALUE: u32 = 0x96;
    pub const HASH_ALGORITHM: u32 = 0x97;
    pub const CHOSEN: u32 = 0x9a;
    pub const VALUE_SET: u32 = 0xfe;
}

/// Ids of the fields that every table of a kind has.
pub mod field {
    /// `value` of a register's parameter.
    pub const PARAMETER: u32 = 1;
    /// `$MATCH_PRIORITY`
    pub const MATCH_PRIORITY: u32 = 65_537;
    /// `$ACTION_MEMBER_ID`
    pub const ACTION_MEMBER_ID: u32 = 65_539;
    /// `$SELECTOR_GROUP_ID`
    pub const SELECTOR_GROUP_ID: u32 = 65_540;
    /// `$ENTRY_TTL`
    pub const ENTRY_TTL: u32 = 65_543;
    /// `$ENTRY_HIT_STATE`
    pub const ENTRY_HIT_STATE: u32 = 65_544;
    /// `$METER_SPEC_CIR_KBPS`; PIR, CBS and PBS follow, then the same in packets.
    pub const METER_KBPS: u32 = 65_545;
    /// `$METER_SPEC_CIR_PPS`
    pub const METER_PPS: u32 = 65_549;
    /// `$COUNTER_SPEC_BYTES`
    pub const COUNTER_BYTES: u32 = 65_553;
    /// `$COUNTER_SPEC_PKTS`
    pub const COUNTER_PACKETS: u32 = 65_554;
    /// `$METER_INDEX`
    pub const METER_INDEX: u32 = 65_555;
    /// `$COUNTER_INDEX`
    pub const COUNTER_INDEX: u32 = 65_556;
    /// `$REGISTER_INDEX`
    pub const REGISTER_INDEX: u32 = 65_557;
    /// `$ACTION_MEMBER_STATUS` of a selector.
    pub const MEMBER_STATUS: u32 = 65_564;
    /// `$LPF_INDEX`
    pub const LPF_INDEX: u32 = 65_560;
    /// `$WRED_INDEX`
    pub const WRED_INDEX: u32 = 65_561;
    /// `$LPF_SPEC_TYPE`; the time constants follow.
    pub const LPF_TYPE: u32 = 65_567;
    /// `$LPF_SPEC_GAIN_TIME_CONSTANT_NS`
    pub const LPF_GAIN: u32 = 65_568;
    /// `$LPF_SPEC_DECAY_TIME_CONSTANT_NS`
    pub const LPF_DECAY: u32 = 65_569;
    /// `$LPF_SPEC_OUT_SCALE_DOWN_FACTOR`
    pub const LPF_SCALE: u32 = 65_570;
    /// `$WRED_SPEC_TIME_CONSTANT_NS`
    pub const WRED_TIME: u32 = 65_571;
    /// `$WRED_SPEC_MIN_THRESH_CELLS`
    pub const WRED_MIN: u32 = 65_572;
    /// `$WRED_SPEC_MAX_THRESH_CELLS`
    pub const WRED_MAX: u32 = 65_573;
    /// `$WRED_SPEC_MAX_PROBABILITY`
    pub const WRED_PROBABILITY: u32 = 65_574;
    /// Port of the metadata.
    pub const INGRESS_PORT: u32 = 65_575;
    /// `$DEFAULT_FIELD`: all bits.
    pub const PORT_METADATA: u32 = 65_576;
    /// `rotate` of a hash's algorithm
    pub const HASH_ROTATE: u32 = 65_577;
    /// `seed`
    pub const HASH_SEED: u32 = 65_578;
    /// `msb`
    pub const HASH_MSB: u32 = 65_579;
    /// `extend`
    pub const HASH_EXTEND: u32 = 65_580;
    /// `pre_defined`, an action with a name
    pub const HASH_PREDEFINED: u32 = 65_581;
    /// `algorithm_name`
    pub const HASH_NAME: u32 = 1;
    /// `user_defined`, an action with a polynomial
    pub const HASH_USER_DEFINED: u32 = 65_582;
    /// `reverse`
    pub const HASH_REVERSE: u32 = 1;
    /// `polynomial`
    pub const HASH_POLYNOMIAL: u32 = 2;
    /// `init`
    pub const HASH_INIT: u32 = 3;
    /// `final_xor`
    pub const HASH_FINAL_XOR: u32 = 4;
    /// `hash_bit_width`
    pub const HASH_WIDTH: u32 = 5;
    /// `hash_value`
    pub const HASH_VALUE: u32 = 65_583;
    /// `start_bit` of a hash's input
    pub const HASH_START: u32 = 65_584;
    /// `length`
    pub const HASH_LENGTH: u32 = 65_585;
    /// `order`
    pub const HASH_ORDER: u32 = 65_586;
    /// `$ACTION_MEMBER_ID` of a selector's choice
    pub const CHOSEN_MEMBER: u32 = 65_562;
    /// `$SELECTOR_GROUP_ID` of a selector's choice
    pub const CHOSEN_GROUP: u32 = 65_563;
    /// `$MAX_GROUP_SIZE`
    pub const MAX_GROUP_SIZE: u32 = 65_565;
    /// `$ADT_OFFSET`
    pub const ADT_OFFSET: u32 = 65_566;
}

/// The architecture whose compiler uses this default size.
const TNA: &str = "tna";
const TOFINO_SIZE: u64 = 512;
/// Number of ports with metadata: 72 of each of four pipes; numbers have nine bits.
const PORTS: u64 = 288;
const PORT_BITS: u32 = 9;
/// Suffix of the name of a selector's table of chosen members.
pub const CHOSEN: &str = "_get_member";
/// Bits of a port's metadata.
pub const PORT_METADATA_BITS: u32 = 64;

/// The schema of a program, as a document.
pub fn bfrt(schema: &Schema) -> Value {
    Maker { schema }.document()
}

/// The schema as text.
pub fn text(schema: &Schema) -> String {
    format!("{:#}\n", bfrt(schema))
}

/// The full name of a table, which begins with that of its pipeline. For a second pipeline of the
/// same blocks the program's name contains it already.
pub fn full_name(pipelines: &[Pipeline], name: &str) -> String {
    let is_of = |pipeline: &&Pipeline| pipeline.blocks.iter().any(|block| starts(name, block));
    match pipelines {
        [] => format!("pipe.{name}"),
        [only] => format!("{}.{name}", only.name),
        several if several.iter().any(|pipeline| starts(name, &pipeline.name)) => name.to_owned(),
        [first, ..] => {
            let of = pipelines.iter().find(is_of).unwrap_or(first);
            format!("{}.{name}", of.name)
        }
    }
}

/// Index of the pipeline whose name begins a full name.
pub fn pipeline_of(pipelines: &[Pipeline], full: &str) -> Option<usize> {
    pipelines.iter().position(|pipeline| starts(full, &pipeline.name))
}

/// An action's name: as in the program, without the pipeline's.
fn action_name<'n>(schema: &Schema, name: &'n str) -> &'n str {
    if schema.pipelines.len() < 2 {
        return name;
    }
    let of = pipeline_of(&schema.pipelines, name);
    of.map_or(name, |at| &name[schema.pipelines[at].name.len() + 1..])
}

fn starts(name: &str, with: &str) -> bool {
    name.strip_prefix(with).is_some_and(|rest| rest.starts_with('.'))
}

/// Builder of a schema's document.
struct Maker<'s> {
    schema: &'s Schema,
}

impl Maker<'_> {
    /// A table for the cells of an object, without annotations.
    fn cells(&self, of: &str, kind: u32, named: &Named, size: u64) -> Value {
        let mut made = self.table(of, kind, named, size);
        if let Some(fields) = made.as_object_mut() {
            fields.remove("annotations");
        }
        made
    }

    fn document(&self) -> Value {
        let schema = self.schema;
        let mut tables: Vec<Value> =
            schema.tables.iter().map(|table| self.match_table(table)).collect();
        for profile in &schema.profiles {
            tables.extend(self.action_profile(profile));
        }
        for counter in &schema.counters {
            let Cells::Indexed(size, _) = counter.cells else { continue };
            let mut made = self.table("Counter", kind::COUNTER, &counter.named, size);
            made["key"] = json!([index(field::COUNTER_INDEX, "$COUNTER_INDEX")]);
            made["data"] = Value::from(counter_fields(counter.unit));
            made["supported_operations"] = json!(["Sync"]);
            tables.push(made);
        }
        for meter in &schema.meters {
            let Cells::Indexed(size, _) = meter.cells else { continue };
            let mut made = self.cells("Meter", kind::METER, &meter.named, size);
            made["key"] = json!([index(field::METER_INDEX, "$METER_INDEX")]);
            made["data"] = Value::from(meter_fields(meter.unit));
            made["attributes"] = json!(["MeterByteCountAdjust"]);
            tables.push(made);
        }
        for register in &schema.registers {
            let mut made = self.cells("Register", kind::REGISTER, &register.named, register.size);
            made["key"] = json!([index(field::REGISTER_INDEX, "$REGISTER_INDEX")]);
            made["data"] = Value::from(register_fields(schema, register, 1));
            made["supported_operations"] = json!(["Sync"]);
            tables.push(made);
        }
        tables.extend(schema.register_parameters.iter().map(|of| self.parameter(of)));
        tables.extend(schema.filters.iter().filter_map(|filter| self.filter_cells(filter)));
        tables.extend(schema.hashes.iter().flat_map(|hash| self.hash(hash)));
        tables.extend(schema.port_metadata.iter().map(|of| self.port_metadata(of)));
        tables.extend(schema.value_sets.iter().map(|set| self.value_set(set)));
        if schema.architecture == TNA {
            tables.extend(self.snapshots());
        }
        let filters: Vec<Value> = schema.digests.iter().map(|digest| self.filter(digest)).collect();
        json!({ "schema_version": "1.0.0", "tables": tables, "learn_filters": filters })
    }

    /// The full name of a table.
    fn full(&self, named: &Named) -> String {
        full_name(&self.schema.pipelines, &named.name)
    }

    /// Id of a table, or of another object that is a table.
    fn id(&self, kind: u32, named: &Named) -> u32 {
        let own = requested_id(&named.annotations);
        kind << 24 | own.unwrap_or_else(|| hash(&self.full(named))) & 0xff_ffff
    }

    fn table(&self, of: &str, kind: u32, named: &Named, size: u64) -> Value {
        json!({
            "name": self.full(named),
            "id": self.id(kind, named),
            "table_type": of,
            "size": size,
            "annotations": notes(&named.annotations),
            "depends_on": [],
            "key": [],
            "data": [],
            "supported_operations": [],
            "attributes": [],
        })
    }

    fn match_table(&self, given: &Table) -> Value {
        let schema = self.schema;
        let profile = given.profile.as_ref();
        let profile =
            profile.and_then(|name| schema.profiles.iter().find(|p| p.named.name == *name));
        let of = match profile {
            None => "MatchAction_Direct",
            Some(profile) if profile.selector => "MatchAction_Indirect_Selector",
            Some(_) => "MatchAction_Indirect",
        };
        let default = if schema.architecture == TNA { TOFINO_SIZE } else { DEFAULT_SIZE };
        let size = given.size.filter(|size| *size > 0).unwrap_or(default);
        let mut made = self.table(of, kind::TABLE, &given.named, size);
        made["key"] = Value::from(key_fields(given));
        made["has_const_default_action"] = Value::from(given.const_default_action);
        let mut data = Vec::new();
        match profile {
            None => made["action_specs"] = actions(schema, given),
            Some(profile) => {
                data.push(choice_of_profile(profile));
                made["depends_on"] = Value::from(self.parts_of_profile(profile));
            }
        }
        let (mut operations, mut attributes) = (Vec::new(), Vec::new());
        self.direct_data(given, &mut data, &mut operations, &mut attributes);
        attributes.push("EntryScope");
        let masks = "dynamic_table_key_masks";
        if given.named.annotations.iter().any(|a| a.name == masks && a.number() == Some(1)) {
            attributes.push("DynamicKeyMask");
        }
        if given.const_entries {
            attributes.push("ConstTable");
        }
        if given.idle_timeout {
            operations.push("UpdateHitState");
            attributes.push("IdleTimeout");
            data.extend(idle_fields());
        }
        made["data"] = Value::from(data);
        made["supported_operations"] = Value::from(operations);
        made["attributes"] = Value::from(attributes);
        made
    }

    /// Ids of the tables that an indirect table depends on: the selector before its members.
    fn parts_of_profile(&self, profile: &Profile) -> Vec<u32> {
        if !profile.selector {
            return vec![self.id(kind::PROFILE, &profile.named)];
        }
        let members = profile.members.as_ref();
        let members = members.map(|(named, _)| self.id(kind::PROFILE, named));
        std::iter::once(self.id(kind::SELECTOR, &profile.named)).chain(members).collect()
    }

    /// Adds the fields of a table's direct counters, meters, register and filter.
    fn direct_data(
        &self,
        given: &Table,
        data: &mut Vec<Value>,
        operations: &mut Vec<&str>,
        attributes: &mut Vec<&str>,
    ) {
        let schema = self.schema;
        for name in &given.direct {
            if let Some(counter) = schema.counters.iter().find(|known| known.named.name == *name) {
                data.extend(counter_fields(counter.unit));
                operations.push("SyncCounters");
            } else if let Some(meter) = schema.meters.iter().find(|known| known.named.name == *name)
            {
                data.extend(meter_fields(meter.unit));
                attributes.push("MeterByteCountAdjust");
            }
        }
        let register = given.register.as_ref();
        let register = register
            .and_then(|name| schema.direct_registers.iter().find(|r| r.named.name == *name));
        if let Some(register) = register {
            data.extend(register_fields(schema, register, largest_parameter(schema, given) + 1));
            operations.push("SyncRegisters");
        }
        let filter = given.filter.as_ref();
        let filter = filter.and_then(|name| schema.filters.iter().find(|f| f.named.name == *name));
        if let Some(filter) = filter.filter(|filter| matches!(filter.cells, Cells::Direct(_))) {
            data.extend(filter_fields(filter.drops));
        }
    }

    /// An action profile, and its groups if it is a selector.
    fn action_profile(&self, profile: &Profile) -> Vec<Value> {
        let schema = self.schema;
        let user =
            schema.tables.iter().find(|table| Some(&table.named.name) == profile.tables.first());
        let Some(user) = user else { return Vec::new() };
        let (named, size) = match &profile.members {
            Some((named, size)) => (named, *size),
            None => (&profile.named, profile.size),
        };
        let mut members = self.table("Action", kind::PROFILE, named, size);
        members["key"] = json!([index(field::ACTION_MEMBER_ID, "$ACTION_MEMBER_ID")]);
        members["action_specs"] = actions(schema, user);
        if !profile.selector {
            return vec![members];
        }
        let mut groups = self.table("Selector", kind::SELECTOR, &profile.named, profile.size);
        groups["key"] = json!([index(field::SELECTOR_GROUP_ID, "$SELECTOR_GROUP_ID")]);
        let repeated = |id, name, ty| {
            let mut made = common(id, name, ty, None);
            made["repeated"] = Value::from(true);
            json!({ "mandatory": false, "read_only": false, "singleton": made })
        };
        let number = |name: &str| {
            let given = profile.named.annotations.iter().find(|annotation| annotation.name == name);
            given.and_then(Annotation::number).unwrap_or(0)
        };
        let largest = profile.max_group_size.unwrap_or_else(|| number("max_group_size"));
        let largest = json!({ "type": "uint32", "default_value": largest });
        let offset = json!({ "type": "uint32", "default_value": 0xdead_beef_u32 });
        groups["data"] = json!([
            repeated(field::ACTION_MEMBER_ID, "$ACTION_MEMBER_ID", uint32()),
            repeated(field::MEMBER_STATUS, "$ACTION_MEMBER_STATUS", json!({ "type": "bool" })),
            single(field::MAX_GROUP_SIZE, "$MAX_GROUP_SIZE", largest, FieldPlacement::default()),
            single(field::ADT_OFFSET, "$ADT_OFFSET", offset, FieldPlacement::default()),
        ]);
        groups["depends_on"] = json!([self.id(kind::PROFILE, named)]);
        vec![members, groups, self.chosen(&profile.named)]
    }

    /// A constant of a register's actions: a table without keys.
    fn parameter(&self, of: &RegisterParameter) -> Value {
        let mut made = self.table("RegisterParam", kind::PARAMETER, &of.named, 1);
        let ty = json!({ "type": "bytes", "width": of.width, "default_value": of.initial });
        let must = FieldPlacement { mandatory: true, ..FieldPlacement::default() };
        made["data"] = json!([single(field::PARAMETER, "value", ty, must)]);
        if let Some(name) = &of.register {
            let named = Named { name: name.clone(), annotations: Vec::new() };
            made["depends_on"] = json!([self.id(kind::REGISTER, &named)]);
        }
        made
    }

    /// A filter with cells of its own.
    fn filter_cells(&self, filter: &Filter) -> Option<Value> {
        let Cells::Indexed(size, _) = filter.cells else { return None };
        let (of, kind, key, name) = match filter.drops {
            true => ("Wred", kind::WRED, field::WRED_INDEX, "$WRED_INDEX"),
            false => ("Lpf", kind::LPF, field::LPF_INDEX, "$LPF_INDEX"),
        };
        let mut made = self.table(of, kind, &filter.named, size);
        made["key"] = json!([index(key, name)]);
        made["data"] = Value::from(filter_fields(filter.drops));
        Some(made)
    }

    /// Table of the port metadata that the control plane sets.
    fn port_metadata(&self, of: &PortMetadata) -> Value {
        let name = format!("{}.$PORT_METADATA", of.parser);
        let named = Named { name, annotations: Vec::new() };
        let mut made = self.table("PortMetadata", kind::PORT_METADATA, &named, PORTS);
        let mut key = index(field::INGRESS_PORT, &format!("{}.ingress_port", of.header));
        key["type"] = bytes(PORT_BITS);
        made["key"] = json!([key]);
        let whole = common(field::PORT_METADATA, "$DEFAULT_FIELD", bytes(PORT_METADATA_BITS), None);
        made["data"] = match of.fields.is_empty() {
            true => json!([{ "mandatory": false, "read_only": false, "singleton": whole }]),
            false => {
                let fields = of.fields.iter().zip(1u32..);
                let must = || FieldPlacement { mandatory: true, ..FieldPlacement::default() };
                let fields =
                    fields.map(|((name, width), id)| single(id, name, bytes(*width), must()));
                Value::from(fields.collect::<Vec<_>>())
            }
        };
        made
    }

    fn value_set(&self, set: &ValueSet) -> Value {
        let mut made = self.table("ParserValueSet", kind::VALUE_SET, &set.named, set.size);
        let keys = set.parts.iter().zip(1u32..).map(|(part, id)| {
            let name = if part.named.name.is_empty() { "f1" } else { &part.named.name };
            json!({
                "id": id,
                "name": name,
                "repeated": false,
                "annotations": [],
                "mandatory": false,
                "match_type": "Ternary",
                "type": bytes(part.width),
            })
        });
        made["key"] = Value::from(keys.collect::<Vec<_>>());
        made["attributes"] = json!(["EntryScope"]);
        made
    }

    fn filter(&self, digest: &sojourn_control::schema::Digest) -> Value {
        let schema = self.schema;
        let fields = parts(schema, &digest.ty).into_iter().zip(1u32..);
        let fields = fields.map(|((name, width), id)| common(id, &name, bytes(width), None));
        json!({
            "name": self.full(&digest.named),
            "id": self.id(kind::DIGEST, &digest.named),
            "annotations": notes(&digest.named.annotations),
            "fields": fields.collect::<Vec<_>>(),
        })
    }
}

/// Id of an action, from its name without prefix.
fn action_id(schema: &Schema, name: &str) -> u32 {
    let known = schema.actions.iter().find(|action| action.named.name == name);
    let own = known.and_then(|action| requested_id(&action.named.annotations));
    kind::ACTION << 24 | own.unwrap_or_else(|| hash(action_name(schema, name))) & 0xff_ffff
}

fn match_type(kind: &str) -> &str {
    match kind {
        "exact" => "Exact",
        "lpm" => "LPM",
        "ternary" => "Ternary",
        "range" => "Range",
        "optional" => "Optional",
        "atcam_partition_index" => "ATCAM",
        "dleft_hash" => "DLEFT_HASH",
        other => other,
    }
}

/// Name of a key in the document: `vlan$0` for an element of a stack, `$valid` for a header's
/// validity.
fn key_name(name: &str) -> String {
    let name =
        name.strip_suffix(".$valid$").map_or(name.to_owned(), |base| format!("{base}.$valid"));
    let mut out = String::new();
    let mut rest = name.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        match after.split_once(']') {
            Some((index, behind))
                if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) =>
            {
                out.extend(["$", index]);
                rest = behind;
            }
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out + rest
}

/// Whether a name ends in a slice of a field: `[23:16]`.
fn is_slice(name: &str) -> bool {
    let mut parts = name.split('[').skip(1).filter_map(|part| part.split_once(']'));
    parts.any(|(inside, _)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        inside.split_once(':').is_some_and(|(high, low)| digits(high) && digits(low))
    })
}

/// Key fields of a match table, with `$MATCH_PRIORITY` where entries have an order.
fn key_fields(given: &Table) -> Vec<Value> {
    let ids = of_parts(given.keys.iter().map(|key| &key.named.annotations[..]));
    let shown = given.keys.iter().zip(ids).filter(|(key, _)| key.match_kind != "selector");
    let mut keys = Vec::new();
    let mut ordered = false;
    for (key, id) in shown {
        ordered |= matches!(key.match_kind.as_str(), "ternary" | "range" | "optional");
        let mut annotations = notes(&key.named.annotations);
        if let (true, Some(all)) = (is_slice(&key.named.name), annotations.as_array_mut()) {
            all.push(json!({ "name": "isFieldSlice", "value": "true" }));
        }
        keys.push(json!({
            "id": id,
            "name": key_name(&key.named.name),
            "repeated": false,
            "annotations": annotations,
            "mandatory": false,
            "match_type": match_type(&key.match_kind),
            "type": bytes(key.width),
        }));
    }
    if ordered {
        let mut priority = index(field::MATCH_PRIORITY, "$MATCH_PRIORITY");
        priority["mandatory"] = Value::from(false);
        keys.push(priority);
    }
    keys
}

/// The data field by which an entry chooses a member, or a member or a group.
fn choice_of_profile(profile: &Profile) -> Value {
    let member = common(field::ACTION_MEMBER_ID, "$ACTION_MEMBER_ID", uint32(), None);
    if !profile.selector {
        return json!({ "mandatory": true, "read_only": false, "singleton": member });
    }
    let group = common(field::SELECTOR_GROUP_ID, "$SELECTOR_GROUP_ID", uint32(), None);
    json!({ "mandatory": true, "read_only": false, "oneof": [member, group] })
}

/// Data fields of a table whose entries age.
fn idle_fields() -> [Value; 2] {
    let states = json!({ "type": "string", "choices": ["ENTRY_IDLE", "ENTRY_ACTIVE"] });
    let time = json!({ "type": "uint32", "default_value": 0 });
    [(field::ENTRY_HIT_STATE, "$ENTRY_HIT_STATE", states), (field::ENTRY_TTL, "$ENTRY_TTL", time)]
        .map(|(id, name, of)| single(id, name, of, FieldPlacement::default()))
}

fn actions(schema: &Schema, table: &Table) -> Value {
    let action = |listed: &sojourn_control::schema::ActionReference| {
        let known = schema.actions.iter().find(|action| action.named.name == listed.action);
        let parameters = known.map_or(&[][..], |action| &action.parameters);
        let ids = of_parts(parameters.iter().map(|p| &p.named.annotations[..]));
        let data = parameters.iter().zip(ids).map(|(parameter, id)| {
            json!({
                "id": id,
                "name": parameter.named.name,
                "repeated": false,
                "mandatory": true,
                "read_only": false,
                "annotations": notes(&parameter.named.annotations),
                "type": bytes(parameter.width),
            })
        });
        let scope = match (listed.table_only, listed.default_only) {
            (true, _) => "TableOnly",
            (_, true) => "DefaultOnly",
            _ => "TableAndDefault",
        };
        json!({
            "id": action_id(schema, &listed.action),
            "name": action_name(schema, &listed.action),
            "action_scope": scope,
            "annotations": notes(&listed.annotations),
            "data": data.collect::<Vec<_>>(),
        })
    };
    Value::from(table.actions.iter().map(action).collect::<Vec<_>>())
}

/// Names and widths of a value's parts; a plain one has the name `f1`.
fn parts(schema: &Schema, ty: &DataType) -> Vec<(String, u32)> {
    let named = |fields: Option<&Vec<Field>>| {
        let fields = fields.into_iter().flatten();
        fields.map(|field| (field.name.clone(), width(schema, &field.ty))).collect()
    };
    match ty {
        DataType::Struct(name) => named(schema.types.structs.get(name)),
        DataType::Header(name) => named(schema.types.headers.get(name)),
        DataType::Tuple(members) => {
            let members = members.iter().zip(1u32..);
            members.map(|(member, at)| (format!("f{at}"), width(schema, member))).collect()
        }
        plain => vec![("f1".to_owned(), width(schema, plain))],
    }
}

fn width(schema: &Schema, ty: &DataType) -> u32 {
    match ty {
        DataType::Bool => 1,
        DataType::Bit(width) | DataType::Int(width) | DataType::VarBit(width) => *width,
        DataType::SerializableEnum(name) => {
            schema.types.serializable_enums.get(name).map_or(0, |of| of.width)
        }
        DataType::New(name) => {
            schema.types.new_types.get(name).map_or(0, |of| width(schema, &of.original))
        }
        _ => 0,
    }
}

fn counter_fields(unit: Option<Unit>) -> Vec<Value> {
    let count = |id, name| {
        let ty = json!({ "type": "uint64", "default_value": 0 });
        single(id, name, ty, FieldPlacement::default())
    };
    let mut fields = Vec::new();
    if matches!(unit, Some(Unit::Bytes | Unit::Both)) {
        fields.push(count(field::COUNTER_BYTES, "$COUNTER_SPEC_BYTES"));
    }
    if matches!(unit, Some(Unit::Packets | Unit::Both)) {
        fields.push(count(field::COUNTER_PACKETS, "$COUNTER_SPEC_PKTS"));
    }
    fields
}

fn meter_fields(unit: Option<Unit>) -> Vec<Value> {
    let (first, rate, burst) = match unit {
        Some(Unit::Packets) => (field::METER_PPS, "PPS", "PKTS"),
        _ => (field::METER_KBPS, "KBPS", "KBITS"),
    };
    let names = [("CIR", rate), ("PIR", rate), ("CBS", burst), ("PBS", burst)];
    let named = names.into_iter().zip(first..).map(|((what, of), id)| {
        // Without a rate all packets are green.
        let ty = json!({ "type": "uint64", "default_value": u64::MAX });
        single(id, &format!("$METER_SPEC_{what}_{of}"), ty, FieldPlacement::default())
    });
    named.collect()
}

/// The parts of a register's cell, numbered from `first` on.
fn register_fields(schema: &Schema, register: &Register, first: u32) -> Vec<Value> {
    let fields = parts(schema, &register.ty).into_iter().zip(first..);
    let fields = fields.map(|((name, width), id)| {
        let class = json!([{ "name": "$bfrt_field_class", "value": "register_data" }]);
        let name = format!("{}.{name}", register.named.name);
        single(id, &name, bytes(width), FieldPlacement { mandatory: true, notes: Some(class) })
    });
    fields.collect()
}

/// The largest id of a parameter of a table's actions.
fn largest_parameter(schema: &Schema, table: &Table) -> u32 {
    let of = |listed: &sojourn_control::schema::ActionReference| {
        let known = schema.actions.iter().find(|action| action.named.name == listed.action);
        let parameters = known.map_or(&[][..], |action| &action.parameters);
        of_parts(parameters.iter().map(|p| &p.named.annotations[..])).into_iter().max()
    };
    table.actions.iter().filter_map(of).max().unwrap_or(0)
}

fn filter_fields(drops: bool) -> Vec<Value> {
    let float = || json!({ "type": "float" });
    let kinds = json!({ "type": "string", "choices": ["RATE", "SAMPLE"] });
    let fields = match drops {
        false => [
            (field::LPF_TYPE, "$LPF_SPEC_TYPE", kinds),
            (field::LPF_GAIN, "$LPF_SPEC_GAIN_TIME_CONSTANT_NS", float()),
            (field::LPF_DECAY, "$LPF_SPEC_DECAY_TIME_CONSTANT_NS", float()),
            (field::LPF_SCALE, "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR", uint32()),
        ],
        true => [
            (field::WRED_TIME, "$WRED_SPEC_TIME_CONSTANT_NS", float()),
            (field::WRED_MIN, "$WRED_SPEC_MIN_THRESH_CELLS", uint32()),
            (field::WRED_MAX, "$WRED_SPEC_MAX_THRESH_CELLS", uint32()),
            (field::WRED_PROBABILITY, "$WRED_SPEC_MAX_PROBABILITY", float()),
        ],
    };
    let must = || FieldPlacement { mandatory: true, ..FieldPlacement::default() };
    fields.into_iter().map(|(id, name, ty)| single(id, name, ty, must())).collect()
}

fn notes(annotations: &[Annotation]) -> Value {
    let shown = annotations.iter().filter(|annotation| {
        let plain = !matches!(annotation.body, Body::List(_) | Body::Pairs(_));
        plain && !["name", "id", "brief", "description"].contains(&annotation.name.as_str())
    });
    Value::from(shown.map(|annotation| json!({ "name": annotation.text() })).collect::<Vec<_>>())
}

fn index(id: u32, name: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "repeated": false,
        "annotations": [],
        "mandatory": true,
        "match_type": "Exact",
        "type": uint32(),
    })
}

fn uint32() -> Value {
    json!({ "type": "uint32" })
}

fn bytes(width: u32) -> Value {
    json!({ "type": "bytes", "width": width })
}

fn common(id: u32, name: &str, ty: Value, notes: Option<Value>) -> Value {
    json!({
        "id": id,
        "name": name,
        "repeated": false,
        "annotations": notes.unwrap_or_else(|| json!([])),
        "type": ty,
    })
}

/// Placement of a field in a table's data.
#[derive(Default)]
struct FieldPlacement {
    mandatory: bool,
    notes: Option<Value>,
}

fn single(id: u32, name: &str, ty: Value, placement: FieldPlacement) -> Value {
    let field = common(id, name, ty, placement.notes);
    json!({ "mandatory": placement.mandatory, "read_only": false, "singleton": field })
}
