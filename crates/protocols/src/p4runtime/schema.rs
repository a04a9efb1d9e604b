//! Schema: maps the ids of a P4Info to the names of the control operations of its program.
//!
//! The P4Info is either generated here or supplied by a controller. One check ensures that the
//! program has every object of it, with the same keys and parameters. The module must not depend on
//! messages other than P4Info's.

use super::p4data::{self, Leaf};
use crate::failure::Failure;
use crate::wire::p4::config::v1::{self as config, match_field, p4_new_type_translation, table};
use crate::wire::p4::config::v1::{P4Info, P4NamedType, P4TypeInfo, Preamble};
use sojourn_control::describe::{KeyDescription, ProgramDescription};
use std::collections::{BTreeMap, HashMap};

/// Representation of a field on the wire and in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bits on the wire.
    pub width: u32,
    /// Bits in the program.
    pub inside: u32,
    /// Type of the controller's strings, if its values are strings.
    pub strings: Option<String>,
}

/// Match kind of a key.
pub use match_field::MatchType as Kind;

/// A key element of a table, or a column of a value set.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub id: u32,
    /// Name in the program.
    pub name: String,
    /// Match kind.
    pub kind: Kind,
    /// Its values.
    pub field: Field,
}

/// A parameter of an action, or a field of a packet header for the controller.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its id.
    pub id: u32,
    /// Name in the program.
    pub name: String,
    /// Its values.
    pub field: Field,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its id.
    pub id: u32,
    /// Name in the program.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its id.
    pub id: u32,
    /// Name in the program.
    pub name: String,
    /// Its key elements.
    pub keys: Vec<Key>,
    /// Ids of its actions, with their scopes.
    pub actions: BTreeMap<u32, config::action_ref::Scope>,
    /// True if entries have priorities.
    pub prioritised: bool,
    /// Its action profile or selector.
    pub implementation: Option<u32>,
    /// Its direct counter.
    pub counter: Option<u32>,
    /// Its direct meter.
    pub meter: Option<u32>,
    /// True if entries may have an idle timeout.
    pub idle_timeout: bool,
    /// True if its entries are in the program's text.
    pub is_const: bool,
    /// True if its default action is constant.
    pub const_default: bool,
}

/// An action profile or selector.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name in the program.
    pub name: String,
    /// Ids of the tables that use it.
    pub tables: Vec<u32>,
    /// True if it has groups.
    pub selector: bool,
    /// Maximum number of members; unlimited if 0.
    pub size: i64,
    /// Maximum number of members of a group, or sum of their weights; unlimited if 0.
    pub max_group_size: i32,
    /// Maximum weight of a member, if the size of a group is its number of members; otherwise it is
    /// the sum of weights.
    pub of_members: Option<i32>,
    /// True if members have no weights.
    pub no_weights: bool,
}

/// A counter, meter or register.
#[derive(Clone, Debug)]
pub struct Array {
    /// Name in the program.
    pub name: String,
    /// Number of cells; 0 for a direct one.
    pub size: u64,
    /// The table of a direct one.
    pub table: Option<u32>,
    /// Type of a meter's configurations.
    pub meter: config::meter_spec::Type,
}

/// An object with data of any type: a register, a digest.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Name in the program.
    pub name: String,
    /// Number of cells of a register.
    pub size: u64,
    /// Leaf type of its values.
    pub leaf: Leaf,
}

/// A value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Name in the program.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Key>,
    /// Maximum number of members.
    pub size: usize,
}

/// Schema of a P4Info.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The P4Info as given.
    pub info: P4Info,
    /// Tables by id.
    pub tables: BTreeMap<u32, Table>,
    /// Actions by id.
    pub actions: BTreeMap<u32, Action>,
    /// Ids of actions by name in the program.
    pub action_ids: HashMap<String, u32>,
    /// Action profiles by id.
    pub profiles: BTreeMap<u32, Profile>,
    /// Counters by id, including direct ones.
    pub counters: BTreeMap<u32, Array>,
    /// Meters by id, including direct ones.
    pub meters: BTreeMap<u32, Array>,
    /// Registers by id.
    pub registers: BTreeMap<u32, Typed>,
    /// Digests by id.
    pub digests: BTreeMap<u32, Typed>,
    /// Value sets by id.
    pub value_sets: BTreeMap<u32, ValueSet>,
    /// Header fields of packet-in and packet-out messages.
    pub packet_in: Vec<Parameter>,
    /// Header fields of packet-out messages.
    pub packet_out: Vec<Parameter>,
}

impl Schema {
    /// Combines a P4Info with the description of its program.
    ///
    /// # Errors
    /// Returns an error that names an object of the P4Info that the program lacks.
    pub fn new(info: P4Info, program: &ProgramDescription) -> Result<Schema, Failure> {
        let none = P4TypeInfo::default();
        let reader = Reader { program, types: info.type_info.as_ref().unwrap_or(&none) };
        let mut schema = Schema::default();
        schema.add_actions(&reader, &info)?;
        for table in &info.tables {
            let table = reader.table(table)?;
            schema.tables.insert(table.id, table);
        }
        schema.add_profiles(&reader, &info)?;
        schema.add_counters(&reader, &info)?;
        schema.add_meters(&reader, &info)?;
        schema.add_typed(&reader, &info)?;
        schema.add_value_sets(&reader, &info)?;
        schema.add_packet_headers(&reader, &info)?;
        schema.attach()?;
        schema.info = info;
        Ok(schema)
    }

    /// Adds the actions.
    fn add_actions(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for action in &info.actions {
            let (id, name) = named(&action.preamble);
            let known = reader.action(name)?;
            let parameters = action.params.iter().enumerate().map(|(at, param)| {
                let inside = known
                    .iter()
                    .find(|known| known.name == param.name)
                    .or_else(|| known.get(at))
                    .ok_or_else(|| missing("parameter", &param.name, name))?;
                let field = reader.field(param.bitwidth, &param.type_name, inside.width, name)?;
                Ok(Parameter { id: param.id, name: inside.name.clone(), field })
            });
            let parameters = parameters.collect::<Result<Vec<_>, Failure>>()?;
            if parameters.len() != known.len() && !reader.is_unused(name) {
                return Err(differs("the parameters of action", name));
            }
            let inside = reader.action_name(name).unwrap_or(name).to_owned();
            self.action_ids.insert(inside.clone(), id);
            self.actions.insert(id, Action { id, name: inside, parameters });
        }
        Ok(())
    }

    /// Adds the action profiles.
    fn add_profiles(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for profile in &info.action_profiles {
            let (id, name) = named(&profile.preamble);
            use config::action_profile::SelectorSizeSemantics::SumOfMembers;
            let of_members = match &profile.selector_size_semantics {
                Some(SumOfMembers(sum)) => Some(sum.max_member_weight),
                _ => None,
            };
            let profile = Profile {
                name: reader.object(name)?,
                tables: profile.table_ids.clone(),
                selector: profile.with_selector,
                size: profile.size,
                max_group_size: profile.max_group_size,
                of_members,
                no_weights: profile.weights_disallowed,
            };
            self.profiles.insert(id, profile);
        }
        Ok(())
    }

    /// Adds counters, indexed and direct.
    fn add_counters(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        let any = config::meter_spec::Type::TwoRateThreeColor;
        for counter in &info.counters {
            let (id, name) = named(&counter.preamble);
            let size = counter.size.max(0) as u64;
            let array = Array { name: reader.object(name)?, size, table: None, meter: any };
            self.counters.insert(id, array);
        }
        for counter in &info.direct_counters {
            let (id, name) = named(&counter.preamble);
            let table = Some(counter.direct_table_id);
            let array = Array { name: reader.object(name)?, size: 0, table, meter: any };
            self.counters.insert(id, array);
        }
        Ok(())
    }

    /// Adds meters, indexed and direct.
    fn add_meters(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for meter in &info.meters {
            let (id, name) = named(&meter.preamble);
            let (size, spec) = (meter.size.max(0) as u64, meter.spec.unwrap_or_default());
            let name = reader.object(name)?;
            let array = Array { name, size, table: None, meter: spec.r#type() };
            self.meters.insert(id, array);
        }
        for meter in &info.direct_meters {
            let (id, name) = named(&meter.preamble);
            let (table, spec) = (Some(meter.direct_table_id), meter.spec.unwrap_or_default());
            let array = Array { name: reader.object(name)?, size: 0, table, meter: spec.r#type() };
            self.meters.insert(id, array);
        }
        Ok(())
    }

    /// Adds registers and digests.
    fn add_typed(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for register in &info.registers {
            let (id, name) = named(&register.preamble);
            let leaf = p4data::leaf(register.type_spec.as_ref(), reader.types)?;
            let size = register.size.max(0) as u64;
            self.registers.insert(id, Typed { name: reader.object(name)?, size, leaf });
        }
        for digest in &info.digests {
            let (id, name) = named(&digest.preamble);
            let leaf = p4data::leaf(digest.type_spec.as_ref(), reader.types)?;
            self.digests.insert(id, Typed { name: name.to_owned(), size: 0, leaf });
        }
        Ok(())
    }

    /// Adds the value sets of parsers.
    fn add_value_sets(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for set in &info.value_sets {
            let (id, name) = named(&set.preamble);
            let known = reader.program.value_sets.iter().find(|known| fits(&known.name, name));
            let known = known.ok_or_else(|| absent("value set", name))?;
            let columns = set.r#match.iter().zip(&known.widths).map(|(column, width)| {
                let field = reader.field(column.bitwidth, &column.type_name, *width, name)?;
                let kind = kind(column)?;
                Ok(Key { id: column.id, name: column.name.clone(), kind, field })
            });
            let columns = columns.collect::<Result<Vec<_>, Failure>>()?;
            if columns.len() != known.widths.len() || set.r#match.len() != columns.len() {
                return Err(differs("the columns of value set", name));
            }
            let size = set.size.max(0) as usize;
            self.value_sets.insert(id, ValueSet { name: known.name.clone(), columns, size });
        }
        Ok(())
    }

    /// Adds the headers of packets from and to the controller.
    fn add_packet_headers(&mut self, reader: &Reader<'_>, info: &P4Info) -> Result<(), Failure> {
        for header in &info.controller_packet_metadata {
            let (_, name) = named(&header.preamble);
            let field = |field: &config::controller_packet_metadata::Metadata| {
                let field_of =
                    reader.field(field.bitwidth, &field.type_name, field.bitwidth as u32, name)?;
                Ok(Parameter { id: field.id, name: field.name.clone(), field: field_of })
            };
            let fields = header.metadata.iter().map(field).collect::<Result<Vec<_>, Failure>>()?;
            match name {
                "packet_in" => self.packet_in = fields,
                "packet_out" => self.packet_out = fields,
                _ => return Err(Failure::invalid(format!("no packet has a header `{name}`"))),
            }
        }
        Ok(())
    }

    /// Links direct counters and meters to their tables.
    fn attach(&mut self) -> Result<(), Failure> {
        let unknown = |id: u32| Failure::invalid(format!("this P4Info has no table {id:#x}"));
        for (id, counter) in &self.counters {
            if let Some(at) = counter.table {
                self.tables.get_mut(&at).ok_or_else(|| unknown(at))?.counter = Some(*id);
            }
        }
        for (id, meter) in &self.meters {
            if let Some(at) = meter.table {
                self.tables.get_mut(&at).ok_or_else(|| unknown(at))?.meter = Some(*id);
            }
        }
        for table in self.tables.values() {
            let unknown = |id: &&u32| !self.actions.contains_key(id);
            if let Some(id) = table.actions.keys().find(unknown) {
                let why =
                    format!("table `{}` names an action {id:#x} that is not there", table.name);
                return Err(Failure::invalid(why));
            }
        }
        Ok(())
    }

    /// The table with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn table(&self, id: u32) -> Result<&Table, Failure> {
        self.tables.get(&id).ok_or_else(|| Failure::no("table", id))
    }

    /// The action profile with this id.
    ///
    /// # Errors
    /// There is none.
    pub fn profile(&self, id: u32) -> Result<&Profile, Failure> {
        self.profiles.get(&id).ok_or_else(|| Failure::no("action profile", id))
    }
}

fn named(preamble: &Option<Preamble>) -> (u32, &str) {
    preamble.as_ref().map_or((0, ""), |preamble| (preamble.id, preamble.name.as_str()))
}

fn absent(what: &str, name: &str) -> Failure {
    Failure::invalid(format!("the program has no {what} `{name}`, which the P4Info names"))
}

fn missing(what: &str, name: &str, of: &str) -> Failure {
    Failure::invalid(format!(
        "`{of}` of the program has no {what} `{name}`, which the P4Info names"
    ))
}

fn differs(what: &str, name: &str) -> Failure {
    Failure::invalid(format!("{what} `{name}` are others in the program than in the P4Info"))
}

/// True if the program's name equals, or ends in, that of a P4Info, or the other way round.
fn fits(known: &str, wanted: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    !wanted.is_empty() && (ends(known, wanted) || ends(wanted, known))
}

/// The one with this name, or else one whose name fits.
fn best<'a, T>(all: &'a [T], wanted: &str, name: impl Fn(&'a T) -> &'a str) -> Option<&'a T> {
    all.iter()
        .find(|one| name(one) == wanted)
        .or_else(|| all.iter().find(|one| fits(name(one), wanted)))
}

fn kind(field: &config::MatchField) -> Result<Kind, Failure> {
    use match_field::Match;
    match &field.r#match {
        Some(Match::MatchType(kind)) => {
            let kind = Kind::try_from(*kind).unwrap_or(Kind::Unspecified);
            (kind != Kind::Unspecified).then_some(kind)
        }
        _ => None,
    }
    .ok_or_else(|| {
        Failure::unimplemented(format!("key `{}` is matched in no known way", field.name))
    })
}

/// Reader of a P4Info for a program.
struct Reader<'a> {
    program: &'a ProgramDescription,
    types: &'a P4TypeInfo,
}

impl Reader<'_> {
    fn object(&self, name: &str) -> Result<String, Failure> {
        let known = best(&self.program.objects, name, |object| object.name.as_str());
        known.map(|known| known.name.clone()).ok_or_else(|| absent("object", name))
    }

    /// Parameters of an action; empty if no table uses it.
    fn action(
        &self,
        name: &str,
    ) -> Result<&[sojourn_control::describe::ParameterDescription], Failure> {
        Ok(self.find_action(name).map_or(&[], |action| action.parameters.as_slice()))
    }

    fn find_action(&self, name: &str) -> Option<&sojourn_control::describe::ActionDescription> {
        let all = || self.program.tables.iter().flat_map(|table| &table.actions);
        all().find(|known| known.name == name).or_else(|| all().find(|a| fits(&a.name, name)))
    }

    fn action_name(&self, name: &str) -> Option<&str> {
        self.find_action(name).map(|action| action.name.as_str())
    }

    fn is_unused(&self, name: &str) -> bool {
        self.find_action(name).is_none()
    }

    fn field(
        &self,
        bitwidth: i32,
        type_name: &Option<P4NamedType>,
        inside: u32,
        of: &str,
    ) -> Result<Field, Failure> {
        let width = bitwidth.max(0) as u32;
        let named = type_name.as_ref().and_then(|name| self.types.new_types.get(&name.name));
        use config::p4_new_type_spec::Representation;
        let translated = named.and_then(|named| match &named.representation {
            Some(Representation::TranslatedType(translated)) => translated.sdn_type.as_ref(),
            _ => None,
        });
        match translated {
            Some(p4_new_type_translation::SdnType::SdnString(_)) => {
                let strings = type_name.as_ref().map(|name| name.name.clone());
                Ok(Field { width, inside, strings })
            }
            Some(p4_new_type_translation::SdnType::SdnBitwidth(bits)) => {
                Ok(Field { width: (*bits).max(0) as u32, inside, strings: None })
            }
            None if width != inside => {
                let why =
                    format!("a field of `{of}` has {inside} bits in the program, not {width}");
                Err(Failure::invalid(why))
            }
            None => Ok(Field { width, inside, strings: None }),
        }
    }

    fn table(&self, table: &config::Table) -> Result<Table, Failure> {
        let (id, name) = named(&table.preamble);
        let known = best(&self.program.tables, name, |table| table.name.as_str());
        let known = known.ok_or_else(|| absent("table", name))?;
        let matched: Vec<&KeyDescription> =
            known.keys.iter().filter(|key| key.match_kind != "selector").collect();
        if matched.len() != table.match_fields.len() {
            return Err(differs("the keys of table", name));
        }
        let keys = table.match_fields.iter().zip(matched).map(|(field, inside)| {
            let kind = kind(field)?;
            if kind.as_str_name().to_lowercase() != inside.match_kind {
                return Err(differs("the match kinds of table", name));
            }
            let values = self.field(field.bitwidth, &field.type_name, inside.width, name)?;
            Ok(Key { id: field.id, name: inside.name.clone(), kind, field: values })
        });
        let keys = keys.collect::<Result<Vec<_>, Failure>>()?;
        use table::IdleTimeoutBehavior::NotifyControl;
        Ok(Table {
            id,
            name: known.name.clone(),
            prioritised: keys.iter().any(|key| !matches!(key.kind, Kind::Exact | Kind::Lpm)),
            keys,
            actions: table.action_refs.iter().map(|action| (action.id, action.scope())).collect(),
            implementation: (table.implementation_id != 0).then_some(table.implementation_id),
            counter: None,
            meter: None,
            idle_timeout: table.idle_timeout_behavior() == NotifyControl,
            is_const: table.is_const_table || known.const_entries,
            const_default: table.const_default_action_id != 0 || known.const_default_action,
        })
    }
}
