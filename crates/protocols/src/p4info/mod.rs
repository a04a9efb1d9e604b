//! P4Info: a program's schema in the form of P4Runtime.

mod text;
mod types;

pub use text::text;

use crate::ids::{Aliases, Ids, of_parts, requested_id};
use crate::wire::p4::config::v1 as p4;
use p4::p4_ids::Prefix;
use sojourn_control::schema::{
    Action, Annotation, Body, Cells, Digest, Key, Literal, Named, PacketHeader, Parameter, Profile,
    Register, Schema, Table, Unit,
};
use std::collections::BTreeMap;

/// Default size of a table, as written by the p4lang compiler.
pub(crate) const DEFAULT_SIZE: u64 = 1024;

/// A P4Info in binary.
pub fn bytes(info: &p4::P4Info) -> Vec<u8> {
    prost::Message::encode_to_vec(info)
}

/// The P4Info of a program.
///
/// ```
/// use sojourn_protocols::{bfrt, ids, p4info, p4info_bytes, p4info_text, wire};
/// use sojourn_target::{LoadOptions, Program};
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
/// # let options = LoadOptions { include_paths: vec![root.join("p4/include")], ..sojourn_engine::builtin::load_options() };
/// let schema = Program::read(root.join("tests/stf/v1model/wire.p4"), &options)?.schema();
/// let info: wire::p4::config::v1::P4Info = p4info(&schema);
/// let table = info.tables[0].preamble.clone().unwrap_or_default();
/// assert_eq!(table.alias, "forward");
/// assert_eq!(table.id, 0x0200_0000 | ids::hash(&table.name) & 0xff_ffff);
/// assert!(p4info_text(&info).contains("forward") && !p4info_bytes(&info).is_empty());
/// assert!(bfrt::text(&schema).contains("forward"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn p4info(schema: &Schema) -> p4::P4Info {
    Maker::new(schema).info()
}

/// Ids and aliases of names.
struct Maker<'s> {
    schema: &'s Schema,
    ids: BTreeMap<i32, Ids>,
    aliases: Aliases,
}

impl<'s> Maker<'s> {
    fn new(schema: &'s Schema) -> Maker<'s> {
        let mut named: BTreeMap<i32, Vec<&Named>> = BTreeMap::new();
        let mut add = |kind: Prefix, things: Vec<&'s Named>| {
            named.entry(kind as i32).or_default().extend(things);
        };
        add(Prefix::Table, schema.tables.iter().map(|t| &t.named).collect());
        add(Prefix::Action, schema.actions.iter().map(|a| &a.named).collect());
        add(Prefix::ActionProfile, schema.profiles.iter().map(|p| &p.named).collect());
        for (cells, thing) in schema.counters.iter().map(|c| (&c.cells, &c.named)) {
            let direct = matches!(cells, Cells::Direct(_));
            add(if direct { Prefix::DirectCounter } else { Prefix::Counter }, vec![thing]);
        }
        for (cells, thing) in schema.meters.iter().map(|m| (&m.cells, &m.named)) {
            let direct = matches!(cells, Cells::Direct(_));
            add(if direct { Prefix::DirectMeter } else { Prefix::Meter }, vec![thing]);
        }
        add(Prefix::Register, schema.registers.iter().map(|r| &r.named).collect());
        add(Prefix::Digest, schema.digests.iter().map(|d| &d.named).collect());
        add(Prefix::ValueSet, schema.value_sets.iter().map(|v| &v.named).collect());
        // A packet header's id derives from its type's name.
        add(Prefix::ControllerHeader, schema.packet_headers.iter().map(|h| &h.ty).collect());
        let all = named.values().flatten().map(|thing| thing.name.as_str());
        let aliases = Aliases::new(all);
        let ids = named.iter().map(|(kind, things)| {
            let things = things.iter().map(|t| (t.name.as_str(), requested_id(&t.annotations)));
            (*kind, Ids::new(*kind as u8, things))
        });
        Maker { schema, ids: ids.collect(), aliases }
    }

    fn id(&self, kind: Prefix, name: &str) -> u32 {
        self.ids.get(&(kind as i32)).map_or(0, |ids| ids.id(name))
    }

    fn preamble(&self, kind: Prefix, thing: &Named, without: &[&str]) -> Option<p4::Preamble> {
        let notes = Notes::new(&thing.annotations, without);
        Some(p4::Preamble {
            id: self.id(kind, &thing.name),
            name: thing.name.clone(),
            alias: self.aliases.alias(&thing.name).to_owned(),
            annotations: notes.plain,
            structured_annotations: notes.structured,
            doc: notes.doc,
            ..Default::default()
        })
    }

    fn info(&self) -> p4::P4Info {
        let schema = self.schema;
        let (counters, direct_counters) = self.counters();
        let (meters, direct_meters) = self.meters();
        let tables = schema.tables.iter().filter(|table| !hidden(&table.named.annotations));
        let actions = schema.actions.iter().filter(|action| !hidden(&action.named.annotations));
        let headers = schema.packet_headers.iter().filter(|h| !hidden(&h.ty.annotations));
        p4::P4Info {
            pkg_info: Some(package(schema)),
            tables: tables.map(|table| self.table(table)).collect(),
            actions: actions.map(|action| self.action(action)).collect(),
            action_profiles: schema.profiles.iter().map(|p| self.profile(p)).collect(),
            counters,
            direct_counters,
            meters,
            direct_meters,
            controller_packet_metadata: headers.map(|header| self.packet_header(header)).collect(),
            value_sets: schema.value_sets.iter().map(|set| self.value_set(set)).collect(),
            registers: schema.registers.iter().map(|register| self.register(register)).collect(),
            digests: schema.digests.iter().map(|digest| self.digest(digest)).collect(),
            externs: Vec::new(),
            type_info: schema.has_types.then(|| types::info(&schema.types)),
        }
    }

    /// Whether a table is shown: direct counters and meters of a hidden one are hidden, too.
    fn shows(&self, name: &str) -> bool {
        let table = self.schema.tables.iter().find(|table| table.named.name == name);
        table.is_none_or(|table| !hidden(&table.named.annotations))
    }

    fn counters(&self) -> (Vec<p4::Counter>, Vec<p4::DirectCounter>) {
        let (mut indexed, mut direct) = (Vec::new(), Vec::new());
        for counter in &self.schema.counters {
            let unit = match counter.unit {
                Some(Unit::Packets) => p4::counter_spec::Unit::Packets,
                Some(Unit::Bytes) => p4::counter_spec::Unit::Bytes,
                Some(Unit::Both) => p4::counter_spec::Unit::Both,
                None => p4::counter_spec::Unit::Unspecified,
            };
            let spec = Some(p4::CounterSpec { unit: unit as i32 });
            match &counter.cells {
                Cells::Indexed(size, index) => indexed.push(p4::Counter {
                    preamble: self.preamble(Prefix::Counter, &counter.named, &[]),
                    spec,
                    size: *size as i64,
                    index_type_name: index.as_ref().and_then(types::name),
                }),
                Cells::Direct(Some(table)) if self.shows(table) => direct.push(p4::DirectCounter {
                    preamble: self.preamble(Prefix::DirectCounter, &counter.named, &[]),
                    spec,
                    direct_table_id: self.id(Prefix::Table, table),
                }),
                Cells::Direct(_) => {}
            }
        }
        (indexed, direct)
    }

    fn meters(&self) -> (Vec<p4::Meter>, Vec<p4::DirectMeter>) {
        let (mut indexed, mut direct) = (Vec::new(), Vec::new());
        for meter in &self.schema.meters {
            let unit = match meter.unit {
                Some(Unit::Packets) => p4::meter_spec::Unit::Packets,
                Some(Unit::Bytes) => p4::meter_spec::Unit::Bytes,
                _ => p4::meter_spec::Unit::Unspecified,
            };
            let spec = Some(p4::MeterSpec { unit: unit as i32, ..Default::default() });
            match &meter.cells {
                Cells::Indexed(size, index) => indexed.push(p4::Meter {
                    preamble: self.preamble(Prefix::Meter, &meter.named, &[]),
                    spec,
                    size: *size as i64,
                    index_type_name: index.as_ref().and_then(types::name),
                }),
                Cells::Direct(Some(table)) if self.shows(table) => direct.push(p4::DirectMeter {
                    preamble: self.preamble(Prefix::DirectMeter, &meter.named, &[]),
                    spec,
                    direct_table_id: self.id(Prefix::Table, table),
                }),
                Cells::Direct(_) => {}
            }
        }
        (indexed, direct)
    }

    fn register(&self, register: &Register) -> p4::Register {
        p4::Register {
            preamble: self.preamble(Prefix::Register, &register.named, &[]),
            type_spec: Some(types::spec(&register.ty)),
            size: register.size as i32,
            index_type_name: register.index.as_ref().and_then(types::name),
        }
    }

    fn digest(&self, digest: &Digest) -> p4::Digest {
        p4::Digest {
            preamble: self.preamble(Prefix::Digest, &digest.named, &[]),
            type_spec: Some(types::spec(&digest.ty)),
        }
    }

    fn table(&self, table: &Table) -> p4::Table {
        let called = |at: usize| table.actions.get(at).map(|listed| listed.action.as_str());
        let default = table.default_action.as_ref();
        let default = default.and_then(|(at, data)| called(*at).map(|name| (name, data)));
        let default_id = default.map_or(0, |(name, _)| self.id(Prefix::Action, name));
        let size = table.size.filter(|size| *size > 0).unwrap_or(DEFAULT_SIZE);
        let direct = table.direct.iter().map(|name| match self.id(Prefix::DirectCounter, name) {
            0 => self.id(Prefix::DirectMeter, name),
            id => id,
        });
        let idle = match table.idle_timeout {
            true => p4::table::IdleTimeoutBehavior::NotifyControl,
            false => p4::table::IdleTimeoutBehavior::NoTimeout,
        };
        p4::Table {
            preamble: self.preamble(Prefix::Table, &table.named, &[]),
            match_fields: match_fields(&table.keys, &[]),
            action_refs: table.actions.iter().map(|listed| self.reference(listed)).collect(),
            const_default_action_id: if table.const_default_action { default_id } else { 0 },
            initial_default_action: default.map(|(name, data)| p4::TableActionCall {
                action_id: default_id,
                arguments: self.arguments(name, data),
            }),
            implementation_id: table
                .profile
                .as_ref()
                .map_or(0, |name| self.id(Prefix::ActionProfile, name)),
            direct_resource_ids: direct.collect(),
            size: size as i64,
            idle_timeout_behavior: idle as i32,
            is_const_table: table.const_entries,
            has_initial_entries: table.entries > 0,
            other_properties: None,
        }
    }

    fn arguments(
        &self,
        action: &str,
        data: &[sojourn_control::schema::Value],
    ) -> Vec<p4::table_action_call::Argument> {
        let called = self.schema.actions.iter().find(|known| known.named.name == action);
        let argument = |(at, value): (usize, &sojourn_control::schema::Value)| {
            let parameter = called.and_then(|called| called.parameters.get(at));
            let id = parameter.and_then(|parameter| requested_id(&parameter.named.annotations));
            // As wide as the control plane's own type for it.
            let bytes = parameter.map_or(0, |parameter| parameter.width.div_ceil(8) as usize);
            let mut padded = vec![0; bytes.saturating_sub(value.bytes.len())];
            padded.extend(&value.bytes);
            p4::table_action_call::Argument { param_id: id.unwrap_or(at as u32 + 1), value: padded }
        };
        data.iter().enumerate().map(argument).collect()
    }

    fn reference(&self, listed: &sojourn_control::schema::ActionReference) -> p4::ActionRef {
        let notes = Notes::new(&listed.annotations, &[]);
        let scope = match (listed.table_only, listed.default_only) {
            (true, _) => p4::action_ref::Scope::TableOnly,
            (_, true) => p4::action_ref::Scope::DefaultOnly,
            _ => p4::action_ref::Scope::TableAndDefault,
        };
        p4::ActionRef {
            id: self.id(Prefix::Action, &listed.action),
            scope: scope as i32,
            annotations: notes.plain,
            structured_annotations: notes.structured,
            ..Default::default()
        }
    }

    fn action(&self, action: &Action) -> p4::Action {
        let ids = of_parts(action.parameters.iter().map(|p| &p.named.annotations[..]));
        let param = |(param, id): (&Parameter, u32)| {
            let notes = Notes::new(&param.named.annotations, &[]);
            p4::action::Param {
                id,
                name: param.named.name.clone(),
                annotations: notes.plain,
                structured_annotations: notes.structured,
                doc: notes.doc,
                bitwidth: param.width as i32,
                type_name: types::parameter_name(&param.ty),
                ..Default::default()
            }
        };
        p4::Action {
            preamble: self.preamble(Prefix::Action, &action.named, &[]),
            params: action.parameters.iter().zip(ids).map(param).collect(),
        }
    }

    fn profile(&self, profile: &Profile) -> p4::ActionProfile {
        use p4::action_profile::{SelectorSizeSemantics, SumOfMembers, SumOfWeights};
        let given = |name: &str| profile.named.annotations.iter().find(|a| a.name == name);
        let number = |name: &str| given(name).and_then(Annotation::number).unwrap_or(0) as i32;
        let semantics = given("selector_size_semantics").and_then(Annotation::string);
        let semantics = semantics.map(str::to_ascii_lowercase);
        let semantics = match semantics.as_deref().filter(|_| profile.selector) {
            Some("sum_of_weights") => Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})),
            Some("sum_of_members") => Some(SelectorSizeSemantics::SumOfMembers(SumOfMembers {
                max_member_weight: number("max_member_weight"),
            })),
            _ => None,
        };
        let own = ["max_group_size", "selector_size_semantics", "max_member_weight"];
        p4::ActionProfile {
            preamble: self.preamble(Prefix::ActionProfile, &profile.named, &own),
            table_ids: profile.tables.iter().map(|name| self.id(Prefix::Table, name)).collect(),
            with_selector: profile.selector,
            size: profile.size as i64,
            max_group_size: if profile.selector { number("max_group_size") } else { 0 },
            selector_size_semantics: semantics,
            ..Default::default()
        }
    }

    fn packet_header(&self, header: &PacketHeader) -> p4::ControllerPacketMetadata {
        let ids = of_parts(header.fields.iter().map(|field| &field.named.annotations[..]));
        let shown = header.fields.iter().zip(ids);
        let shown = shown.filter(|(field, _)| !hidden(&field.named.annotations));
        let metadata = shown.map(|(field, id)| {
            let notes = Notes::new(&field.named.annotations, &[]);
            p4::controller_packet_metadata::Metadata {
                id,
                name: field.named.name.clone(),
                annotations: notes.plain,
                structured_annotations: notes.structured,
                bitwidth: field.width as i32,
                type_name: types::name(&field.ty),
                ..Default::default()
            }
        });
        let metadata = metadata.collect();
        let preamble = self.preamble(Prefix::ControllerHeader, &header.ty, &[]);
        let (name, alias) = (header.name.clone(), header.name.clone());
        let preamble = preamble.map(|preamble| p4::Preamble { name, alias, ..preamble });
        p4::ControllerPacketMetadata { preamble, metadata }
    }

    fn value_set(&self, set: &sojourn_control::schema::ValueSet) -> p4::ValueSet {
        p4::ValueSet {
            preamble: self.preamble(Prefix::ValueSet, &set.named, &[]),
            r#match: match_fields(&set.parts, &["match"]),
            size: set.size as i32,
        }
    }
}

/// Match fields; a selector's inputs are not among them, but count in the numbering.
fn match_fields(keys: &[Key], without: &[&str]) -> Vec<p4::MatchField> {
    use p4::match_field::{Match, MatchType};
    let ids = of_parts(keys.iter().map(|key| &key.named.annotations[..]));
    let shown = keys.iter().zip(ids).filter(|(key, _)| key.match_kind != "selector");
    let field = |(key, id): (&Key, u32)| {
        let notes = Notes::new(&key.named.annotations, without);
        let standard = match key.match_kind.as_str() {
            "exact" => Some(MatchType::Exact),
            "lpm" => Some(MatchType::Lpm),
            "ternary" => Some(MatchType::Ternary),
            "range" => Some(MatchType::Range),
            "optional" => Some(MatchType::Optional),
            _ => None,
        };
        p4::MatchField {
            id,
            name: key.named.name.clone(),
            annotations: notes.plain,
            structured_annotations: notes.structured,
            doc: notes.doc,
            bitwidth: key.width as i32,
            type_name: types::name(&key.ty),
            r#match: Some(match standard {
                Some(kind) => Match::MatchType(kind as i32),
                None => Match::OtherMatchType(key.match_kind.clone()),
            }),
            ..Default::default()
        }
    };
    shown.map(field).collect()
}

fn package(schema: &Schema) -> p4::PkgInfo {
    let notes = Notes::new(&schema.annotations, &["pkginfo", "platform_property"]);
    let mut info = p4::PkgInfo {
        arch: schema.architecture.clone(),
        annotations: notes.plain,
        structured_annotations: notes.structured,
        doc: notes.doc,
        ..Default::default()
    };
    let pairs = |name: &str| {
        let given = schema.annotations.iter().find(|annotation| annotation.name == name);
        given.map(Annotation::pairs)
    };
    for (key, value) in pairs("pkginfo").into_iter().flatten() {
        let Literal::Text(text) = value else { continue };
        match key.as_str() {
            "name" => info.name = text,
            "version" => info.version = text,
            "organization" => info.organization = text,
            "contact" => info.contact = text,
            "url" => info.url = text,
            "arch" => info.arch = text,
            _ => {}
        }
    }
    if let Some(given) = pairs("platform_property") {
        let mut properties = p4::PlatformProperties::default();
        for (key, value) in given {
            let Literal::Number(number) = value else { continue };
            let number = number as i32;
            match key.as_str() {
                "multicast_group_table_size" => properties.multicast_group_table_size = number,
                "multicast_group_table_total_replicas" => {
                    properties.multicast_group_table_total_replicas = number;
                }
                "multicast_group_table_max_replicas_per_entry" => {
                    properties.multicast_group_table_max_replicas_per_entry = number;
                }
                _ => {}
            }
        }
        info.platform_properties = Some(properties);
    }
    info
}

fn hidden(annotations: &[Annotation]) -> bool {
    annotations.iter().any(|annotation| annotation.name == "hidden")
}

/// Annotations in the form of P4Info.
struct Notes {
    plain: Vec<String>,
    structured: Vec<p4::StructuredAnnotation>,
    doc: Option<p4::Documentation>,
}

impl Notes {
    /// Annotations without a field of their own, except `without`.
    fn new(annotations: &[Annotation], without: &[&str]) -> Notes {
        let mut notes = Notes { plain: Vec::new(), structured: Vec::new(), doc: None };
        for annotation in annotations {
            let text = || annotation.string().unwrap_or_default().to_owned();
            match (&annotation.body, annotation.name.as_str()) {
                (Body::List(_) | Body::Pairs(_), _) => {
                    notes.structured.push(structured(annotation))
                }
                (_, "name" | "id") => {}
                (_, "brief") => notes.doc.get_or_insert_default().brief = text(),
                (_, "description") => notes.doc.get_or_insert_default().description = text(),
                (_, other) if without.contains(&other) => {}
                _ => notes.plain.push(annotation.text()),
            }
        }
        notes
    }
}

fn structured(annotation: &Annotation) -> p4::StructuredAnnotation {
    use p4::expression::Value;
    use p4::structured_annotation::Body as Made;
    let value = |literal: &Literal| p4::Expression {
        value: Some(match literal {
            Literal::Number(number) => Value::Int64Value(*number),
            Literal::Text(text) => Value::StringValue(text.clone()),
            Literal::Truth(truth) => Value::BoolValue(*truth),
        }),
    };
    let body = match &annotation.body {
        Body::List(values) if !values.is_empty() => {
            Some(Made::ExpressionList(p4::ExpressionList {
                expressions: values.iter().map(value).collect(),
            }))
        }
        Body::Pairs(pairs) => Some(Made::KvPairList(p4::KeyValuePairList {
            kv_pairs: pairs
                .iter()
                .map(|(key, literal)| p4::KeyValuePair {
                    key: key.clone(),
                    value: Some(value(literal)),
                })
                .collect(),
        })),
        _ => None,
    };
    p4::StructuredAnnotation { name: annotation.name.clone(), source_location: None, body }
}
