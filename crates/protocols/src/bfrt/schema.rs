//! The server's view of the clients' document: tables, keys, actions and fields by id, each with
//! its name in the program.
//!
//! One list holds the tables of the program and the fixed tables of every Tofino. Must not depend
//! on messages.

use super::device_tables::{self, Fixed};
use super::{bfrt, bfrt_json};
use crate::failure::Failure;
use serde_json::Value;
use sojourn_control::describe::{ProgramDescription, TableDescription};
use sojourn_control::schema::{Cells, Schema as Declared, Unit};
use sojourn_engine::builtin::TARGETS;
use sojourn_engine::control::Pipes;
use sojourn_target::Program;
use sojourn_target::target::DeviceTables;
use std::collections::BTreeMap;

/// Type of a field's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number of this width, bits.
    Bits(u32),
    /// A boolean.
    Bool,
    /// A number with a fraction.
    Float,
    /// A string; one of these, if the list is not empty.
    Text(Vec<String>),
    /// Rows of these fields.
    Rows(Vec<Field>),
}

/// A field of a table's data, or a parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its id.
    pub id: u32,
    /// Its name in the document.
    pub name: String,
    /// Name in the program.
    pub inner: String,
    /// Type of its values.
    pub ty: Type,
    /// True if it is repeated.
    pub repeated: bool,
    /// Clients cannot write it.
    pub read_only: bool,
}

/// Match kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// All bits.
    Exact,
    /// The bits of a mask.
    Ternary,
    /// The bits of a prefix.
    Lpm,
    /// A range.
    Range,
    /// All bits or none.
    Optional,
}

/// A key element.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub id: u32,
    /// Its name in the document.
    pub name: String,
    /// Name in the program.
    pub inner: String,
    /// Match kind.
    pub matched: Match,
    /// Type of its values.
    pub ty: Type,
}

/// An action of a table.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its id.
    pub id: u32,
    /// Its full name.
    pub name: String,
    /// Its parameters.
    pub fields: Vec<Field>,
}

/// Kind of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A match table.
    Match {
        /// Entries name members, or groups, of an action profile.
        indirect: bool,
        /// The action profile or selector.
        profile: Option<String>,
        /// The direct counter.
        counter: Option<String>,
        /// The direct meter and its unit.
        meter: Option<(String, Unit)>,
        /// The direct filter.
        filter: Option<String>,
        /// The direct register, and the fields of its cells.
        register: Option<(String, Vec<u32>)>,
        /// True if its entries are in the program's text.
        is_const: bool,
    },
    /// The members of an action profile.
    Members,
    /// The groups of a selector, with their maximum size, if the program specifies it.
    Groups(Option<u64>),
    /// The cells of a counter.
    Counter,
    /// The cells of a meter.
    Meter(Unit),
    /// A constant of a register's actions, with its initial value.
    Parameter(u64),
    /// The cells of a filter.
    Filter,
    /// Port metadata set by the control plane.
    PortMetadata,
    /// Selection of the inputs of a hash.
    HashInputs,
    /// The algorithm of this hash.
    HashAlgorithm,
    /// Result of this hash for given inputs.
    HashValue,
    /// The member that a group of this selector chooses for a hash.
    Chosen,
    /// The cells of a register, with their initial value.
    Register(Vec<num_bigint::BigUint>),
    /// A parser's value set.
    ValueSet,
    /// Snapshots of the stages.
    Snapshot(Part),
    /// A fixed table of every Tofino.
    Fixed(Fixed),
}

/// Kind of a snapshot table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Whether it is of egress.
pub enum Part {
    /// Stage range, of both passes.
    Settings,
    /// Trigger fields.
    Trigger { egress: bool },
    /// Captured field values and results of stages.
    Seen { egress: bool },
    /// Stages that see a field.
    Stages { egress: bool },
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its id.
    pub id: u32,
    /// Its name in the document.
    pub name: String,
    /// Name of its object in the program.
    pub inner: String,
    /// Kind.
    pub kind: Kind,
    /// Its keys, including `$MATCH_PRIORITY`.
    pub keys: Vec<Key>,
    /// Its actions.
    pub actions: Vec<Action>,
    /// Data fields in addition to those of an action.
    pub fields: Vec<Field>,
    /// Declared maximum number of entries.
    pub size: u64,
    /// True if clients may mask its keys.
    pub masks_keys: bool,
    /// Index of its pipeline, if the program has several; pipes that run another pipeline do not
    /// have the table.
    pub pipeline: Option<usize>,
}

/// A digest message to clients.
#[derive(Clone, Debug)]
pub struct Learn {
    /// Its id.
    pub id: u32,
    /// Name in the program.
    pub inner: String,
    /// Ids and widths of its fields.
    pub fields: Vec<(u32, u32)>,
}

/// Schema of a program.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The program's name.
    pub name: String,
    /// Description of the program, as JSON.
    pub document: Vec<u8>,
    /// Tables by id.
    pub tables: BTreeMap<u32, Table>,
    /// Digest messages by id.
    pub learns: BTreeMap<u32, Learn>,
    /// The pipes that run it.
    pub pipes: Pipes,
    /// Number of pipelines in the programs before it.
    pub before: usize,
    /// The chip's fixed tables.
    pub chip: DeviceTables,
}

/// Fixed tables of a program's chip; for a program of another target those of the first chip that is
/// built in.
fn chip_of(program: &Program) -> DeviceTables {
    let built_in = || TARGETS.iter().find_map(|target| target.device_tables());
    program.target().device_tables().or_else(built_in).expect("a chip is built in")
}

impl Schema {
    /// Schema of a program.
    pub fn new(program: &Program) -> Schema {
        let (declared, described) = (program.schema(), program.describe());
        let document = bfrt(&declared);
        let name = program.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let reader = Reader { declared: &declared, described: &described };
        let mut tables = BTreeMap::new();
        for table in list(&document, "tables") {
            let table = reader.table(table);
            tables.insert(table.id, table);
        }
        let chip = chip_of(program);
        for (table, fixed) in device_tables::tables(&chip) {
            let mut table = reader.plain(&table);
            table.kind = Kind::Fixed(fixed);
            tables.insert(table.id, table);
        }
        let learns = list(&document, "learn_filters").map(|learn| {
            let inner = reader.inner(text(learn, "name"));
            let fields = list(learn, "fields");
            let fields = fields.map(|field| (number(field, "id"), bits(&field["type"])));
            let learn = Learn { id: number(learn, "id"), inner, fields: fields.collect() };
            (learn.id, learn)
        });
        let learns = learns.collect();
        let (document, pipes) = (document.to_string().into_bytes(), Pipes::ALL);
        Schema { name, document, tables, learns, pipes, before: 0, chip }
    }

    /// The table with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn table(&self, id: u32) -> Result<&Table, Failure> {
        self.tables.get(&id).ok_or_else(|| Failure::no("table", id))
    }
}

impl Table {
    /// The action with this id.
    ///
    /// # Errors
    /// The table has none.
    pub fn action(&self, id: u32) -> Result<&Action, Failure> {
        let found = self.actions.iter().find(|action| action.id == id);
        let unknown = || Failure::invalid(format!("`{}` has no action {id:#x}", self.name));
        found.ok_or_else(unknown)
    }

    /// Whether its entries may have idle timeouts.
    pub fn has_idle_times(&self) -> bool {
        self.fields.iter().any(|field| field.id == bfrt_json::field::ENTRY_TTL)
    }

    /// The action of a name, which may be longer than the action's.
    pub fn action_called(&self, name: &str) -> Option<&Action> {
        let mut all = self.actions.iter();
        all.find(|action| action.name == name)
            .or_else(|| self.actions.iter().find(|action| ends(name, &action.name)))
    }
}

/// Reader of the program's `bf-rt.json` document.
struct Reader<'a> {
    declared: &'a Declared,
    described: &'a ProgramDescription,
}

impl Reader<'_> {
    /// Program's name for a name of the document.
    fn inner(&self, name: &str) -> String {
        let rest = name.split_once('.').map_or(name, |(_, rest)| rest);
        let is_it = bfrt_json::full_name(&self.declared.pipelines, rest) == name;
        if is_it { rest } else { name }.to_owned()
    }

    /// A table with the document's information only.
    fn plain(&self, table: &Value) -> Table {
        let name = text(table, "name");
        Table {
            id: number(table, "id"),
            name: name.to_owned(),
            inner: self.inner(name),
            kind: Kind::Counter,
            keys: list(table, "key").map(key).collect(),
            actions: list(table, "action_specs").map(action).collect(),
            fields: list(table, "data").flat_map(field).collect(),
            size: table["size"].as_u64().unwrap_or(0),
            masks_keys: list(table, "attributes").any(|known| known == "DynamicKeyMask"),
            pipeline: match &self.declared.pipelines[..] {
                pipelines @ [_, _, ..] => bfrt_json::pipeline_of(pipelines, name),
                _ => None,
            },
        }
    }

    fn table(&self, given: &Value) -> Table {
        let mut table = self.plain(given);
        let of = text(given, "table_type");
        for made_for in ["DynHash", "SelectorGetMember"] {
            let end = table.inner.rfind(['.', '_']).unwrap_or(0);
            if of.starts_with(made_for) {
                let end = table.inner.strip_suffix(bfrt_json::CHOSEN).map_or(end, str::len);
                table.inner.truncate(end);
            }
        }
        table.kind = match of {
            "DynHashConfigure" => Kind::HashInputs,
            "DynHashAlgorithm" => Kind::HashAlgorithm,
            "DynHashCompute" => Kind::HashValue,
            "SelectorGetMember" => Kind::Chosen,
            "Action" => Kind::Members,
            "Selector" => Kind::Groups(largest_group(given)),
            "Meter" => Kind::Meter(self.measured(&table.inner)),
            "Lpf" | "Wred" => Kind::Filter,
            "RegisterParam" => Kind::Parameter(self.initial(&table.inner)),
            "PortMetadata" => Kind::PortMetadata,
            "Register" => Kind::Register(Vec::new()),
            "ParserValueSet" => Kind::ValueSet,
            "SnapshotCfg" => Kind::Snapshot(Part::Settings),
            "SnapshotTrigger" => Kind::Snapshot(Part::Trigger { egress: is_of_egress(&table) }),
            "SnapshotData" => Kind::Snapshot(Part::Seen { egress: is_of_egress(&table) }),
            "SnapshotLiveness" => Kind::Snapshot(Part::Stages { egress: is_of_egress(&table) }),
            "Counter" => Kind::Counter,
            _ => self.matched(&table, of != "MatchAction_Direct"),
        };
        if let Kind::Snapshot(_) = table.kind {
            self.rename_seen(&mut table);
        }
        if table.kind == Kind::Members {
            // Members that are declared separately are the selector's, too.
            let of = self.declared.profiles.iter().find(|profile| {
                profile.members.as_ref().is_some_and(|(named, _)| named.name == table.inner)
            });
            if let Some(selector) = of {
                table.inner.clone_from(&selector.named.name);
            }
        }
        let known = self.described.tables.iter().find(|known| known.name == table.inner);
        if let Some(known) = known {
            rename(&mut table, known);
        }
        table
    }

    /// Sets the program's names of the fields that snapshots show; masks take the name of their
    /// field.
    fn rename_seen(&self, table: &mut Table) {
        let known = self.declared.snapshots.iter().flat_map(|of| &of.fields);
        let known: BTreeMap<String, &str> = known
            .map(|field| (bfrt_json::snapshots::field_name(&field.name), &*field.name))
            .collect();
        for field in table.fields.iter_mut().filter(|field| field.id < bfrt_json::snapshots::MASK) {
            let name = field.name.strip_prefix("trig.").unwrap_or(&field.name);
            if let Some(inner) = known.get(name) {
                field.inner = (*inner).to_owned();
            }
        }
    }

    /// Initial value of a register's parameter.
    fn initial(&self, name: &str) -> u64 {
        let mut all = self.declared.register_parameters.iter();
        all.find(|known| known.named.name == name).map_or(0, |known| known.initial)
    }

    /// Unit that a meter measures.
    fn measured(&self, name: &str) -> Unit {
        let meter = self.declared.meters.iter().find(|meter| meter.named.name == name);
        meter.and_then(|meter| meter.unit).unwrap_or(Unit::Bytes)
    }

    fn matched(&self, made: &Table, indirect: bool) -> Kind {
        let name = &made.inner;
        let table = self.declared.tables.iter().find(|table| table.named.name == *name);
        let direct = || table.iter().flat_map(|table| &table.direct);
        let is_counter = |name: &&String| {
            self.declared.counters.iter().any(|counter| counter.named.name == **name)
        };
        let meter = direct().find(|name| !is_counter(name));
        let filter = table.and_then(|table| table.filter.as_ref());
        let is_direct = |name: &&String| {
            let known = self.declared.filters.iter().find(|filter| filter.named.name == **name);
            known.is_some_and(|filter| matches!(filter.cells, Cells::Direct(_)))
        };
        Kind::Match {
            indirect,
            profile: table.and_then(|table| table.profile.clone()),
            counter: direct().find(is_counter).cloned(),
            meter: meter.map(|name| (name.clone(), self.measured(name))),
            filter: filter.filter(is_direct).cloned(),
            register: table.and_then(|table| table.register.as_ref()).and_then(|register| {
                let prefix = format!("{register}.");
                let mine = made.fields.iter().filter(|field| field.name.starts_with(&prefix));
                let ids: Vec<u32> = mine.map(|field| field.id).collect();
                (!ids.is_empty()).then(|| (register.clone(), ids))
            }),
            is_const: table.is_some_and(|table| table.const_entries),
        }
    }
}

/// Whether a snapshot table belongs to egress.
fn is_of_egress(table: &Table) -> bool {
    table.name.rsplit('.').next().is_some_and(|last| last.starts_with("egress"))
}

/// Whether a name equals, or ends in, another.
fn ends(long: &str, short: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Sets the program's names of keys and parameters.
fn rename(table: &mut Table, known: &TableDescription) {
    let inside = known.keys.iter().filter(|key| key.match_kind != "selector");
    for (key, inside) in table.keys.iter_mut().zip(inside) {
        if key.id != bfrt_json::field::MATCH_PRIORITY {
            key.inner.clone_from(&inside.name);
        }
    }
    for action in &mut table.actions {
        let inside = known.actions.iter().find(|inside| ends(&inside.name, &action.name));
        let Some(inside) = inside else { continue };
        for (field, inside) in action.fields.iter_mut().zip(&inside.parameters) {
            field.inner.clone_from(&inside.name);
        }
    }
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

/// Maximum number of members of a selector's group, unless a client sets another.
fn largest_group(selector: &Value) -> Option<u64> {
    let named =
        |field: &&Value| number(&field["singleton"], "id") == bfrt_json::field::MAX_GROUP_SIZE;
    let field = list(selector, "data").find(named)?;
    field["singleton"]["type"]["default_value"].as_u64().filter(|most| *most > 0)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u32 {
    value[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

fn bits(ty: &Value) -> u32 {
    match text(ty, "type") {
        "uint8" => 8,
        "uint16" => 16,
        "uint32" => 32,
        "uint64" => 64,
        _ => number(ty, "width"),
    }
}

fn ty(given: &Value) -> Type {
    match text(given, "type") {
        "bool" => Type::Bool,
        "float" => Type::Float,
        "string" => {
            let choices = list(given, "choices").filter_map(Value::as_str);
            Type::Text(choices.map(str::to_owned).collect())
        }
        _ => Type::Bits(bits(given)),
    }
}

fn key(given: &Value) -> Key {
    let name = text(given, "name").to_owned();
    let matched = match text(given, "match_type") {
        "Ternary" => Match::Ternary,
        "LPM" => Match::Lpm,
        "Range" => Match::Range,
        "Optional" => Match::Optional,
        _ => Match::Exact,
    };
    Key { id: number(given, "id"), inner: name.clone(), name, matched, ty: ty(&given["type"]) }
}

fn action(given: &Value) -> Action {
    let fields = list(given, "data").flat_map(field).collect();
    Action { id: number(given, "id"), name: text(given, "name").to_owned(), fields }
}

/// A field, or the two of a `oneof`.
fn field(given: &Value) -> Vec<Field> {
    let read_only = given["read_only"].as_bool().unwrap_or(false);
    let one = |given: &Value| {
        let name = text(given, "name").to_owned();
        Field {
            id: number(given, "id"),
            inner: name.clone(),
            name,
            ty: match given.get("container") {
                Some(_) => Type::Rows(list(given, "container").flat_map(field).collect()),
                None => ty(&given["type"]),
            },
            repeated: given["repeated"].as_bool().unwrap_or(false),
            read_only,
        }
    };
    match (given.get("singleton"), given.get("oneof")) {
        (Some(single), _) => vec![one(single)],
        (_, Some(choice)) => choice.as_array().into_iter().flatten().map(one).collect(),
        _ => vec![one(given)],
    }
}
