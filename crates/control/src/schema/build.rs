//! Builds the schema of a program from its IR and its separate declarations.

use super::annotation::read;
use super::hashes::hashes;
use super::snapshots::snapshots;
use super::types::{DataType, Types, flat, named, width};
use super::{
    Action, ActionReference, Cells, Counter, Digest, Filter, Key, Meter, Named, Object,
    PacketHeader, Parameter, Pipeline, PortMetadata, Profile, Register, RegisterParameter, Schema,
    Table, Unit, ValueSet, value_of,
};
use crate::describe::{self, is_implementation};
use sojourn_p4::ast::Annotation;
use sojourn_p4::declared::{DeclaredAction, DeclaredSet, DeclaredTable};
use sojourn_p4::ir::{
    self, Body, Const, ObjectArg, Package, PackageArg, Program, StmtKind, UnitId,
};
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use std::collections::BTreeSet;

/// Externs by their control-plane kind, under the architectures' names.
const COUNTERS: [&str; 2] = ["counter", "Counter"];
const DIRECT_COUNTERS: [&str; 2] = ["direct_counter", "DirectCounter"];
const METERS: [&str; 2] = ["meter", "Meter"];
const DIRECT_METERS: [&str; 2] = ["direct_meter", "DirectMeter"];
const PARAMETER: &str = "RegisterParam";
const ACTIONS: [&str; 2] = ["RegisterAction", "DirectRegisterAction"];
const FILTERS: [&str; 4] = ["Lpf", "Wred", "DirectLpf", "DirectWred"];
/// The header with a packet's port, in a parser that extracts port metadata behind it, and the call
/// that extracts it.
const PORT_HEADER: &str = "ingress_intrinsic_metadata_t";
const PORT_METADATA: &str = "port_metadata_unpack";
const REGISTERS: [&str; 2] = ["register", "Register"];
const DIRECT_REGISTER: &str = "DirectRegister";
const PROFILES: [&str; 2] = ["action_profile", "ActionProfile"];
const SELECTORS: [&str; 2] = ["action_selector", "ActionSelector"];
/// Index of the type argument that is the cell index.
const INDICES: [(&str, usize); 3] = [("Counter", 1), ("Meter", 0), ("Register", 1)];
/// Table properties that name direct counters and meters, counters first.
const DIRECT: [&str; 6] = [
    "counters",
    "psa_direct_counter",
    "pna_direct_counter",
    "meters",
    "psa_direct_meter",
    "pna_direct_meter",
];

/// The pipelines of a program.
fn pipelines(program: &Program) -> Vec<Pipeline> {
    let of = |package: &Package| {
        let mut blocks = Vec::new();
        list_blocks(package, &mut blocks);
        let name = |unit: &UnitId| program.units[unit.index()].name.to_string();
        let blocks = blocks.iter().map(name).collect();
        Pipeline { name: package.name.to_string(), blocks }
    };
    describe::pipelines(program).into_iter().map(of).collect()
}

/// Collects the blocks of a package, including those of nested packages.
fn list_blocks(package: &Package, blocks: &mut Vec<UnitId>) {
    for (_, arg) in &package.args {
        match arg {
            PackageArg::Unit(unit) => blocks.push(*unit),
            PackageArg::Package(inner) => list_blocks(inner, blocks),
            _ => {}
        }
    }
}

impl Schema {
    /// The schema of a program; `architecture` is the name of its declarations.
    pub fn new(program: &Program, architecture: &str) -> Schema {
        let mut maker = Maker { program, types: Types::default() };
        let declared = &program.declared;
        let applied = applied(program);
        let tables = program.tables.iter().zip(&declared.tables).enumerate();
        let tables = tables.filter(|(at, _)| applied.contains(at));
        let mut tables: Vec<_> = tables.map(|(_, table)| table).collect();
        tables.sort_by(|a, b| a.1.place.cmp(&b.1.place));
        let mut objects: Vec<_> = program.objects.iter().zip(&declared.objects).collect();
        objects.sort_by(|a, b| a.1.cmp(b.1));
        let objects: Vec<&ir::Object> = objects.into_iter().map(|(object, _)| object).collect();
        let mut sets: Vec<_> = program.value_sets.iter().zip(&declared.value_sets).collect();
        sets.sort_by(|a, b| a.1.place.cmp(&b.1.place));
        let listed = |action: &&DeclaredAction| {
            let mut lists = tables.iter().flat_map(|(table, _)| &table.actions);
            action.called || lists.any(|listed| listed.name == action.name)
        };
        let mut actions: Vec<&DeclaredAction> = declared.actions.iter().filter(listed).collect();
        actions.sort_by(|a, b| a.place.cmp(&b.place));

        let made: Vec<Table> = tables.iter().map(|(t, d)| maker.table(t, d)).collect();
        let (counters, meters) = maker.counted(&objects, &made);
        let of = |names: [&str; 2]| {
            let listed = objects.iter().filter(move |object| names.contains(&&*object.of));
            listed.copied().collect::<Vec<&ir::Object>>()
        };
        let profiles = objects.iter().filter_map(|object| maker.profile(object, &made)).collect();
        let packet_headers = maker.packet_headers();
        Schema {
            architecture: architecture.to_owned(),
            annotations: program.main.as_ref().map_or(Vec::new(), |main| read(&main.annotations)),
            pipelines: pipelines(program),
            actions: actions.into_iter().map(|action| maker.action(action)).collect(),
            profiles,
            counters,
            meters,
            register_parameters: objects.iter().filter_map(|o| maker.parameter(o)).collect(),
            filters: maker.filters(&objects, &made),
            hashes: hashes(program).into_iter().map(|(_, hash)| hash).collect(),
            port_metadata: port_metadata(program),
            snapshots: snapshots(program),
            direct_registers: of([DIRECT_REGISTER; 2])
                .into_iter()
                .map(|object| maker.register(object))
                .collect(),
            registers: of(REGISTERS).into_iter().map(|object| maker.register(object)).collect(),
            digests: maker.digests(&objects),
            value_sets: sets.into_iter().map(|(set, d)| value_set(set, d)).collect(),
            has_types: !made.is_empty()
                || !objects.is_empty()
                || declared.actions.iter().any(|action| !action.params.is_empty())
                || functions(program).next().is_some()
                || packet_headers.iter().any(|header| !header.fields.is_empty()),
            packet_headers,
            objects: objects
                .iter()
                .map(|object| Object { named: of_object(object), of: object.of.to_string() })
                .collect(),
            tables: made,
            types: maker.types,
        }
    }
}

struct Maker<'p> {
    program: &'p Program,
    types: Types,
}

impl Maker<'_> {
    fn note(&mut self, ty: &Type) -> DataType {
        self.types.note(ty, &self.program.errors)
    }

    fn table(&mut self, table: &ir::Table, declared: &DeclaredTable) -> Table {
        let keys = table.keys.iter().zip(&declared.keys).map(|(key, ty)| {
            let shown = &*key.match_kind != "selector";
            Key {
                named: named_as(&key.name, &key.annotations),
                match_kind: key.match_kind.to_string(),
                ty: if shown { self.note(ty) } else { DataType::Other },
                width: self.types.width(ty),
            }
        });
        let keys = keys.collect();
        let actions = table.actions.iter().zip(&declared.references);
        let actions = actions.map(|(action, annotations)| ActionReference {
            action: action.name.to_string(),
            annotations: read(annotations),
            default_only: action.default_only,
            table_only: action.table_only,
        });
        let default_action = table.default_action.as_ref().map(|(at, data)| {
            let taken = table.actions.get(*at as usize).map_or(&[][..], |action| &action.data);
            let values = data
                .iter()
                .zip(taken)
                .map(|(value, (_, layout))| value_of(&value.clone().into(), scalar_width(layout)));
            (*at as usize, values.collect())
        });
        let object = |wanted: &dyn Fn(&str) -> bool| {
            table.properties.iter().find_map(|(name, value)| match value {
                ObjectArg::Object(id) if wanted(name) => {
                    Some(self.program.objects[id.index()].name.to_string())
                }
                _ => None,
            })
        };
        Table {
            named: named_as(&table.name, &table.annotations),
            keys,
            actions: actions.collect(),
            default_action,
            const_default_action: table.const_default_action,
            const_entries: table.const_entries,
            entries: table.entries.len(),
            size: table.size,
            profile: object(&is_implementation),
            direct: DIRECT
                .iter()
                .filter_map(|property| object(&|name| name == *property))
                .collect(),
            register: object(&|name| name == "registers"),
            filter: object(&|name| name == "filters"),
            idle_timeout: table.properties.iter().any(|(name, value)| tells_idle(name, value)),
        }
    }

    fn action(&mut self, action: &DeclaredAction) -> Action {
        let parameters = action.params.iter().map(|param| Parameter {
            named: named_as(
                named(&read(&param.annotations)).unwrap_or(&param.name),
                &param.annotations,
            ),
            ty: self.note(&param.ty),
            width: self.types.width(&param.ty),
        });
        let parameters = parameters.collect();
        Action { named: named_as(&action.name, &action.annotations), parameters }
    }

    /// Counters and meters: those with cells in the order of the program, then direct ones in the
    /// order of their tables, then those without a table.
    fn counted(&mut self, objects: &[&ir::Object], tables: &[Table]) -> (Vec<Counter>, Vec<Meter>) {
        let (mut counters, mut meters) = (Vec::new(), Vec::new());
        let direct = |names: [&'static str; 2]| {
            let mut found: Vec<(&ir::Object, Option<String>)> = Vec::new();
            let all = objects.iter().filter(|object| names.contains(&&*object.of));
            for table in tables {
                let own =
                    all.clone().filter(|object| table.direct.iter().any(|d| **d == *object.name));
                found.extend(own.map(|object| (*object, Some(table.named.name.clone()))));
            }
            let known: Vec<&str> = found.iter().map(|(object, _)| &*object.name).collect();
            let rest = all.filter(|object| !known.contains(&&*object.name));
            let rest: Vec<_> = rest.map(|object| (*object, None)).collect();
            found.extend(rest);
            found
        };
        for object in objects {
            let (counter, meter) = (COUNTERS.contains(&&*object.of), METERS.contains(&&*object.of));
            if !counter && !meter {
                continue;
            }
            let cells = Cells::Indexed(size(object).unwrap_or(0), self.index(object));
            let (named, unit) = (of_object(object), unit(object));
            match counter {
                true => counters.push(Counter { named, unit, cells }),
                false => meters.push(Meter { named, unit, cells }),
            }
        }
        counters.extend(direct(DIRECT_COUNTERS).into_iter().map(|(object, table)| Counter {
            named: of_object(object),
            unit: unit(object),
            cells: Cells::Direct(table),
        }));
        meters.extend(direct(DIRECT_METERS).into_iter().map(|(object, table)| Meter {
            named: of_object(object),
            unit: unit(object),
            cells: Cells::Direct(table),
        }));
        (counters, meters)
    }

    /// A constant that the control plane may change, and the register whose actions read it.
    fn parameter(&self, object: &ir::Object) -> Option<RegisterParameter> {
        if &*object.of != PARAMETER {
            return None;
        }
        let all = &self.program.objects;
        let mine = all.iter().position(|other| std::ptr::eq(other, object));
        let reads = |action: &&ir::Object| {
            let mut found = false;
            for method in &action.methods {
                visit::statements(&method.body, &mut |stmt| {
                    if let StmtKind::Call(call) = &stmt.kind {
                        found |= call.object.map(ir::ObjectId::index) == mine;
                    }
                });
            }
            found
        };
        let action = all.iter().filter(|other| ACTIONS.contains(&&*other.of)).find(reads);
        let register = action.and_then(|action| {
            action.args.iter().find_map(|(_, value)| match value {
                ObjectArg::Object(of) => Some(all[of.index()].name.to_string()),
                _ => None,
            })
        });
        Some(RegisterParameter {
            named: of_object(object),
            width: object.type_args.first().map_or(0, super::types::width),
            initial: number(object, &["initial_value"]).unwrap_or(0),
            register,
        })
    }

    fn filters(&self, objects: &[&ir::Object], tables: &[Table]) -> Vec<Filter> {
        let all = objects.iter().filter(|object| FILTERS.contains(&&*object.of));
        let made = all.map(|object| {
            let user = || tables.iter().find(|t| t.filter.as_deref() == Some(&*object.name));
            let cells = match object.of.starts_with("Direct") {
                true => Cells::Direct(user().map(|table| table.named.name.clone())),
                false => Cells::Indexed(size(object).unwrap_or(0), None),
            };
            Filter { named: of_object(object), drops: object.of.ends_with("Wred"), cells }
        });
        made.collect()
    }

    fn index(&mut self, object: &ir::Object) -> Option<DataType> {
        let (_, at) = INDICES.iter().find(|(name, _)| *name == &*object.of)?;
        let ty = object.type_args.get(*at)?;
        matches!(ty, Type::New(_)).then(|| self.note(ty))
    }

    fn register(&mut self, object: &ir::Object) -> Register {
        let ty = object.type_args.first().map_or(DataType::Other, |ty| self.note(ty));
        let (named, size) = (of_object(object), size(object).unwrap_or(0));
        Register { named, size, ty, index: self.index(object) }
    }

    fn profile(&self, object: &ir::Object, tables: &[Table]) -> Option<Profile> {
        let selector = SELECTORS.contains(&&*object.of);
        if !selector && !PROFILES.contains(&&*object.of) {
            return None;
        }
        let users = tables.iter().filter(|table| table.profile.as_deref() == Some(&*object.name));
        let mut tables: Vec<String> = users.map(|table| table.named.name.clone()).collect();
        tables.sort();
        let of = object.args.iter().find_map(|(name, value)| match value {
            ObjectArg::Object(of) if &**name == "action_profile" => Some(of),
            _ => None,
        });
        let members = of.map(|of| &self.program.objects[of.index()]);
        Some(Profile {
            named: of_object(object),
            selector,
            size: size(object).unwrap_or(0),
            max_group_size: number(object, &["max_group_size"]),
            members: members.map(|of| (of_object(of), size(of).unwrap_or(0))),
            tables,
        })
    }

    /// Digests are calls of a function or objects; one for each name.
    fn digests(&mut self, objects: &[&ir::Object]) -> Vec<Digest> {
        let mut found: Vec<Digest> = Vec::new();
        let program = self.program;
        let mut unnamed = 0;
        for call in functions(program).filter(|call| &*call.name == "digest") {
            let Some(ty) = call.type_args.first() else { continue };
            let name = match ty {
                Type::Struct(of) | Type::Header(of) if !of.name.is_empty() => of.name.to_string(),
                _ => {
                    unnamed += 1;
                    format!("digest_{}", unnamed - 1)
                }
            };
            let ty = self.note(ty);
            if !found.iter().any(|known| known.named.name == name) {
                found.push(Digest { named: Named { name, annotations: Vec::new() }, ty });
            }
        }
        for object in objects.iter().filter(|object| &*object.of == "Digest") {
            let ty = object.type_args.first().map_or(DataType::Other, |ty| self.note(ty));
            found.push(Digest { named: of_object(object), ty });
        }
        found
    }

    fn packet_headers(&mut self) -> Vec<PacketHeader> {
        let mut found = Vec::new();
        for header in &self.program.declared.headers {
            let annotations = read(&header.annotations);
            let given = annotations.iter().find(|a| a.name == "controller_header");
            let Some(name) = given.and_then(|annotation| annotation.string()) else { continue };
            let name = name.to_owned();
            let fields = flat(header).into_iter().map(|(name, ty, annotations)| Parameter {
                named: Named { name, annotations },
                ty: self.note(&ty),
                width: self.types.width(&ty),
            });
            let fields = fields.collect();
            let ty = Named { name: header.name.to_string(), annotations };
            found.push(PacketHeader { ty, name, fields });
        }
        found
    }
}

/// Port metadata of the parsers. A name that a second pipeline also uses is prefixed with the
/// pipeline's.
fn port_metadata(program: &Program) -> Vec<PortMetadata> {
    let mut all: Vec<PortMetadata> = Vec::new();
    for pipeline in program.main.iter().flat_map(|main| &main.args) {
        let PackageArg::Package(package) = &pipeline.1 else { continue };
        let mut blocks = Vec::new();
        list_blocks(package, &mut blocks);
        for unit in blocks {
            let found = port_metadata_of(&program.units[unit.index()]);
            all.extend(found.map(|found| {
                let is_known = all.iter().any(|known| known.parser == found.parser);
                let parser = format!("{}.{}", package.name, found.parser);
                if is_known { PortMetadata { parser, ..found } } else { found }
            }));
        }
    }
    all
}

/// Port metadata of a parser, if packets from outside reach it.
fn port_metadata_of(unit: &ir::Unit) -> Option<PortMetadata> {
    let Body::Parser(_) = &unit.body else { return None };
    let header = unit.params.iter().find(|param| match &param.ty {
        Type::Struct(of) | Type::Header(of) => &*of.name == PORT_HEADER,
        _ => false,
    })?;
    let mut fields = Vec::new();
    for list in visit::unit_lists(unit) {
        visit::statements(list, &mut |stmt| {
            if let StmtKind::Call(call) = &stmt.kind
                && &*call.name == PORT_METADATA
                && let Some(Type::Struct(of) | Type::Header(of)) = call.type_args.first()
            {
                let parts = flat(of).into_iter();
                fields = parts.map(|(name, ty, _)| (name, super::types::width(&ty))).collect();
            }
        });
    }
    let (parser, header) = (unit.name.to_string(), header.name.to_string());
    Some(PortMetadata { parser, header, fields })
}

/// Calls of the architecture's functions in controls, those in actions of tables first.
fn functions(program: &Program) -> impl Iterator<Item = &ir::ExternCall> {
    let mut found: Vec<&ir::ExternCall> = Vec::new();
    for (at, unit) in program.units.iter().enumerate() {
        if !matches!(unit.body, Body::Control { .. }) {
            continue;
        }
        let actions = program.tables.iter().filter(|table| table.unit.index() == at);
        let actions = actions.flat_map(|table| table.actions.iter().map(|a| a.body.as_slice()));
        for list in actions.chain(visit::unit_lists(unit)) {
            visit::statements(list, &mut |stmt| {
                if let StmtKind::Call(call) = &stmt.kind
                    && call.object.is_none()
                {
                    found.push(call);
                }
            });
        }
    }
    found.into_iter()
}

/// The tables that a packet may reach, by index: applications under a constant false condition are
/// excluded.
fn applied(program: &Program) -> BTreeSet<usize> {
    fn walk(stmts: &[ir::Stmt], found: &mut BTreeSet<usize>) {
        for stmt in stmts {
            if let StmtKind::Apply { table, .. } = &stmt.kind {
                found.insert(table.index());
            }
            if let StmtKind::If { condition, then, otherwise } = &stmt.kind
                && let ir::ExprKind::Const(known) = condition.kind
            {
                walk(if known != 0 { then } else { otherwise }, found);
                continue;
            }
            visit::inner_lists(stmt).into_iter().for_each(|list| walk(list, found));
        }
    }
    let mut found = BTreeSet::new();
    let lists = program.units.iter().flat_map(visit::unit_lists);
    lists.for_each(|list| walk(list, &mut found));
    found
}

fn scalar_width(layout: &ir::Layout) -> u32 {
    match layout {
        ir::Layout::Narrow(_, scalar) | ir::Layout::Wide(_, scalar) => scalar.width(),
        _ => 0,
    }
}

fn named_as(name: &str, annotations: &[Annotation]) -> Named {
    Named { name: name.to_owned(), annotations: read(annotations) }
}

fn of_object(object: &ir::Object) -> Named {
    named_as(&object.name, &object.annotations)
}

/// Number of cells or members of an object, if its constructor gives it.
pub(crate) fn size(object: &ir::Object) -> Option<u64> {
    number(object, &["size", "n_counters", "n_meters", "instance_count", "num_groups"])
}

/// The first of an object's arguments with one of these names, if it is a number.
fn number(object: &ir::Object, names: &[&str]) -> Option<u64> {
    let given = object.args.iter().find(|(name, _)| names.contains(&&**name));
    match given {
        Some((_, ObjectArg::Const(Const::Scalar(_, value)))) => u64::try_from(value).ok(),
        Some((_, ObjectArg::Const(Const::Int(value)))) => u64::try_from(value).ok(),
        _ => None,
    }
}

fn unit(object: &ir::Object) -> Option<Unit> {
    object.args.iter().find_map(|(_, value)| match value {
        ObjectArg::Const(Const::EnumMember(_, member)) => match &*member.to_ascii_lowercase() {
            "packets" => Some(Unit::Packets),
            "bytes" => Some(Unit::Bytes),
            "packets_and_bytes" => Some(Unit::Both),
            _ => None,
        },
        _ => None,
    })
}

fn tells_idle(name: &str, value: &ObjectArg) -> bool {
    match value {
        ObjectArg::Const(Const::Scalar(_, value)) => {
            matches!(name, "support_timeout" | "idle_timeout") && *value != 0u8.into()
        }
        ObjectArg::Const(Const::EnumMember(_, member)) => {
            name == "psa_idle_timeout" && &**member == "NOTIFY_CONTROL"
        }
        _ => false,
    }
}

fn value_set(set: &ir::ValueSet, declared: &DeclaredSet) -> ValueSet {
    let part = |name: &str, ty: &Type, annotations: &[Annotation]| {
        let annotations = read(annotations);
        let kind = annotations.iter().find(|annotation| annotation.name == "match");
        let kind = kind.and_then(|annotation| annotation.tokens().first());
        let (ty, width) = (Types::default().note(ty, &[]), width(ty));
        Key {
            match_kind: kind.map_or("exact".to_owned(), |token| token.text.clone()),
            named: Named {
                name: named(&annotations).unwrap_or(name).to_owned(),
                annotations: annotations.into_iter().filter(|a| a.name != "match").collect(),
            },
            ty,
            width,
        }
    };
    let parts = match &declared.element {
        Type::Struct(of) | Type::Header(of) => {
            of.fields.iter().map(|f| part(&f.name, &f.ty, &f.annotations)).collect()
        }
        // One for each of its names, as in the p4lang compiler.
        ty @ Type::SerializableEnum(of) => {
            of.members.iter().map(|(name, _)| part(name, ty, &[])).collect()
        }
        ty => vec![part("", ty, &[])],
    };
    ValueSet { named: named_as(&set.name, &declared.annotations), size: set.size, parts }
}
