//! Preparation: extern objects get their state, and call sites are resolved.
//!
//! All rejections occur here, before the first packet.

use super::{Direct, Fields, Pass, Runtime, Site};
use crate::blocks::Blocks;
use crate::field_list::FieldList;
use crate::rules::{self, Refusal};
use sojourn_control::digest::Digests;
use sojourn_control::idle_timeout::LastHits;
use sojourn_control::profiles::{Fill, Hash, Profile, Profiles};
use sojourn_externs::call::name_number;
use sojourn_externs::counter::{Counter, CounterKind};
use sojourn_externs::field_input::{Input, header_of};
use sojourn_externs::hash::Algorithm;
use sojourn_externs::meter::{Meter, MeterKind};
use sojourn_externs::register::RegisterArray;
use sojourn_externs::selector::{Selector, SelectorMode};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::PacketOut;
use sojourn_p4::ir::{
    Arg, ExprKind, ExternCall, Layout, Object, ObjectArg, ObjectId, Program, Slot, UnitId, Value,
};
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use sojourn_packet::SplitMix64;
use sojourn_target::arguments::{self, ArgumentError};
use sojourn_target::faults::Faults;
use sojourn_target::fields::field;
use sojourn_target::load::LoadOptions;
use sojourn_target::log::Log;
use sojourn_target::memory_budget::MemoryBudget;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The colours as v1model numbers them: red, yellow, green.
const COLORS: [u8; 3] = [2, 1, 0];

/// List of the runtime that holds an object's state, and the index in it.
type Places = BTreeMap<ObjectId, u32>;

/// Builds the runtime of a program.
///
/// # Errors
/// Returns an error for each extern object and call that is not supported.
pub fn prepare(
    program: &Program,
    blocks: &Blocks,
    lists: BTreeMap<u8, FieldList>,
    options: &LoadOptions,
) -> Result<Runtime, Vec<Diagnostic>> {
    let seed = options.seed;
    let mut runtime = empty(program, blocks, lists, seed);
    let mut errors = Vec::new();
    let mut made =
        Made { seed, budget: MemoryBudget::new(options.check_only), runtime: &mut runtime };
    let places = made.objects(program, &mut errors);
    direct(program, &places, &mut runtime);
    visit::calls(program, &mut |unit, call| {
        let mut prepare = Prepare { program, blocks, places: &places, runtime: &mut runtime, seed };
        match prepare.site(unit, call) {
            Ok(site) => {
                if let Some(place) = runtime.sites.get_mut(call.site.index()) {
                    *place = site;
                }
            }
            Err(refused) => errors.push(refused.into()),
        }
    });
    if errors.is_empty() { Ok(runtime) } else { Err(errors) }
}

fn empty(program: &Program, blocks: &Blocks, lists: BTreeMap<u8, FieldList>, seed: u64) -> Runtime {
    // The empty list comes first: it preserves no fields.
    let (mut field_lists, mut list_numbers) = (vec![FieldList::default()], BTreeMap::new());
    for (number, list) in lists {
        list_numbers.insert(number, field_lists.len() as u32);
        field_lists.push(list);
    }
    Runtime {
        sites: vec![Site::None; program.call_sites as usize],
        registers: Vec::new(),
        counters: Vec::new(),
        meters: Vec::new(),
        direct: Vec::new(),
        hits: LastHits::default(),
        color: 0,
        profiles: Profiles::default(),
        inputs: Vec::new(),
        algorithms: Vec::new(),
        random: SplitMix64::new(seed),
        digest_names: Vec::new(),
        digests: Digests::default(),
        log: Log::default(),
        field_lists,
        list_numbers,
        headers_within: FieldList::default(),
        instance_at: blocks
            .ingress
            .standard
            .instance_type
            .slot()
            .and_then(|slot| blocks.ingress.kept_at(slot)),
        wrong_at: None,
        wants_payload: false,
        payload: Vec::new(),
        payload_zeros: 0,
        pass: Pass::default(),
        faults: Faults::default(),
        trace: None,
        scratch: PacketOut::new(),
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    list.len() as u32 - 1
}

/// A runtime under construction, with the memory budget of its objects.
struct Made<'a> {
    seed: u64,
    budget: MemoryBudget,
    runtime: &'a mut Runtime,
}

impl Made<'_> {
    /// Creates the state of all objects, and returns their places.
    fn objects(&mut self, program: &Program, errors: &mut Vec<Diagnostic>) -> Places {
        let mut places = Places::new();
        for (index, object) in program.objects.iter().enumerate() {
            let id = ObjectId(index as u32);
            match self.state(object) {
                Ok(Some(place)) => {
                    places.insert(id, place);
                }
                Ok(None) => {}
                Err(ArgumentError(why)) => {
                    let message = format!("this {}: {why}", object.of);
                    errors.push(rules::EXTERN_ARGUMENT.refuse(object.span, message).into());
                }
            }
        }
        self.runtime.profiles.assign_tables(program, &places, is_profile);
        places
    }

    /// Creates the state of an object, and returns its place.
    fn state(&mut self, object: &Object) -> Result<Option<u32>, ArgumentError> {
        let name = || object.name.clone();
        Ok(Some(match &*object.of {
            "register" => {
                let element = object.type_args.first().unwrap_or(&Type::Bit(32));
                let size = self.cells(object, RegisterArray::cell_bytes(element))?;
                push(&mut self.runtime.registers, RegisterArray::new(name(), element, size))
            }
            // bmv2 counts both, whatever the kind.
            "counter" => {
                let size = self.cells(object, Counter::CELL_BYTES)?;
                let counter = Counter::new(CounterKind::PacketsAndBytes, size);
                push(&mut self.runtime.counters, (name(), counter))
            }
            "direct_counter" => {
                let counter = Counter::new(CounterKind::PacketsAndBytes, 0);
                push(&mut self.runtime.counters, (name(), counter))
            }
            "meter" => {
                let meter = meter(object, self.cells(object, Meter::CELL_BYTES)?);
                push(&mut self.runtime.meters, (name(), meter))
            }
            "direct_meter" => push(&mut self.runtime.meters, (name(), meter(object, 0))),
            "action_profile" | "action_selector" => {
                push(&mut self.runtime.profiles.profiles, profile(object, self.seed)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The cells to allocate for an object with a `size`, each of `bytes` bytes.
    fn cells(&mut self, object: &Object, bytes: u64) -> Result<usize, ArgumentError> {
        let size: usize = arguments::integer(object, "size")?;
        let most = RegisterArray::MAX_SIZE;
        if size > most {
            return Err(ArgumentError(format!("`size` is {size}; it is at most {most}")));
        }
        self.budget.take(size, bytes)
    }
}

/// True for an object whose tables refer to its members.
pub(crate) fn is_profile(object: &Object) -> bool {
    matches!(&*object.of, "action_profile" | "action_selector")
}

fn meter(object: &Object, size: usize) -> Meter {
    let kind = match arguments::member(object, "type") {
        Ok("packets") => MeterKind::Packets,
        _ => MeterKind::Bytes,
    };
    let [red, yellow, green] = COLORS;
    Meter::new(kind, size).with_codes(red, yellow, green)
}

fn profile(object: &Object, seed: u64) -> Result<Profile, ArgumentError> {
    let mut profile = Profile { name: object.name.to_string(), ..Profile::default() };
    if &*object.of == "action_selector" {
        profile.selector = Some(Selector::new(SelectorMode::Fair));
        let name = arguments::member(object, "algorithm")?;
        // bmv2 computes 32 bits of the hash modulo the size of the group, whatever `outputWidth`
        // is.
        let width = 32;
        let algorithm = algorithm(name, seed ^ name_number(&object.name))
            .ok_or_else(|| ArgumentError(format!("`algorithm` is {name}")))?;
        profile.hash = Some(Hash { algorithm, width, fill: Fill::Behind });
    }
    Ok(profile)
}

/// Algorithm of a value of `HashAlgorithm`.
fn algorithm(name: &str, seed: u64) -> Option<Algorithm> {
    let tofino = match name {
        "crc16" | "crc16_custom" => "CRC16",
        "crc32" | "crc32_custom" => "CRC32",
        "xor16" => "XOR16",
        "random" => "RANDOM",
        "identity" => return Some(Algorithm::Leading),
        "csum16" => return Some(Algorithm::Checksum),
        _ => return None,
    };
    Algorithm::named(tofino, seed)
}

/// Direct counters and meters of the tables.
fn direct(program: &Program, places: &Places, runtime: &mut Runtime) {
    for (index, table) in program.tables.iter().enumerate() {
        for (_, value) in &table.properties {
            let ObjectArg::Object(object) = value else { continue };
            let of = &*program.objects[object.index()].of;
            if !matches!(of, "direct_counter" | "direct_meter") {
                continue;
            }
            runtime.direct.resize(program.tables.len(), Direct::default());
            let place = places.get(object).copied();
            let direct = &mut runtime.direct[index];
            if of == "direct_counter" {
                direct.counter = place;
            } else {
                direct.meter = place;
                direct.color = color_slot(program, table, *object);
            }
        }
    }
}

/// Slot in which the actions of a table read the colour of its direct meter.
fn color_slot(program: &Program, table: &sojourn_p4::ir::Table, meter: ObjectId) -> Option<Slot> {
    let mut found = None;
    visit::calls(program, &mut |unit, call| {
        if unit == table.unit
            && call.object == Some(meter)
            && let Some(Arg::Out(Layout::Narrow(slot, _))) = call.args.first()
        {
            found.get_or_insert(*slot);
        }
    });
    found
}

/// Resolver of a program's call sites.
struct Prepare<'a> {
    program: &'a Program,
    blocks: &'a Blocks,
    places: &'a Places,
    runtime: &'a mut Runtime,
    seed: u64,
}

impl Prepare<'_> {
    fn site(&mut self, unit: UnitId, call: &ExternCall) -> Result<Site, Refusal> {
        let Some(id) = call.object else { return self.function(unit, call) };
        let object = &self.program.objects[id.index()];
        let place = self.places.get(&id).copied().unwrap_or_default();
        Ok(match (&*object.of, &*call.name) {
            ("register", "read") => Site::ReadRegister(place),
            ("register", "write") => Site::WriteRegister(place),
            ("counter", "count") => Site::Count(place),
            // The hit itself is counted.
            ("direct_counter", "count") => Site::Nothing,
            ("meter", "execute_meter") => Site::Meter(place),
            ("direct_meter", "read") => Site::DirectMeter,
            ("Checksum16", "get") => {
                let algorithm = self.algorithm_number("csum16");
                Site::Sum(self.input(unit, call, 0, algorithm))
            }
            (of, name) => {
                let message = format!("{of}.{name} is not an extern of v1model");
                return Err(rules::UNKNOWN_EXTERN.refuse(call.span, message));
            }
        })
    }

    fn function(&mut self, unit: UnitId, call: &ExternCall) -> Result<Site, Refusal> {
        Ok(match &*call.name {
            "mark_to_drop" => self.mark_to_drop(unit, call),
            "hash" => {
                let algorithm = self.named_algorithm(call, 1)?;
                Site::Hash(self.input(unit, call, 3, algorithm))
            }
            "random" => Site::Random,
            "verify_checksum" | "verify_checksum_with_payload" => self.verify(unit, call)?,
            "update_checksum" | "update_checksum_with_payload" => {
                let algorithm = self.named_algorithm(call, 3)?;
                let payload = self.payload(call);
                Site::UpdateChecksum { input: self.input(unit, call, 1, algorithm), payload }
            }
            "digest" => {
                let name: Arc<str> =
                    call.type_args.first().map_or_else(String::new, Type::to_string).into();
                let name = push(&mut self.runtime.digest_names, name);
                Site::Digest { input: self.input(unit, call, 1, 0), name }
            }
            "clone" => Site::Clone { fields: Fields::List(0) },
            "clone3" => Site::Clone { fields: self.old_list(unit, call, 2) },
            "clone_preserving_field_list" => Site::Clone { fields: Fields::Argument(2) },
            "resubmit" => Site::Resubmit { fields: self.old_list(unit, call, 0) },
            "resubmit_preserving_field_list" => Site::Resubmit { fields: Fields::Argument(0) },
            "recirculate" => Site::Recirculate { fields: self.old_list(unit, call, 0) },
            "recirculate_preserving_field_list" => {
                Site::Recirculate { fields: Fields::Argument(0) }
            }
            "truncate" => Site::Truncate,
            "assert" | "assume" => Site::Assert,
            "log_msg" => Site::Log,
            name => {
                let message = format!("the function {name} is not an extern of v1model");
                return Err(rules::UNKNOWN_EXTERN.refuse(call.span, message));
            }
        })
    }

    /// `mark_to_drop(standard_metadata)`; the older form without an argument means the block's own.
    fn mark_to_drop(&self, unit: UnitId, call: &ExternCall) -> Site {
        let layout = match call.args.first() {
            Some(Arg::InOut(layout) | Arg::Out(layout)) => Some(layout),
            _ => self.program.units[unit.index()].params.last().map(|param| &param.layout),
        };
        let slot = |name| layout.and_then(|layout| field(layout, name));
        match slot("egress_spec") {
            Some(spec) => Site::MarkToDrop { spec, group: slot("mcast_grp") },
            None => Site::Nothing,
        }
    }

    fn verify(&mut self, unit: UnitId, call: &ExternCall) -> Result<Site, Refusal> {
        let algorithm = self.named_algorithm(call, 3)?;
        let payload = self.payload(call);
        let target = match call.args.get(2) {
            Some(Arg::In(Value::Scalar(checksum))) => {
                header_of(checksum, &self.program.units[unit.index()])
            }
            _ => None,
        };
        Ok(Site::VerifyChecksum { input: self.input(unit, call, 1, algorithm), target, payload })
    }

    fn payload(&mut self, call: &ExternCall) -> bool {
        let payload = call.name.ends_with("_with_payload");
        self.runtime.wants_payload |= payload;
        payload
    }

    fn input(&mut self, unit: UnitId, call: &ExternCall, index: usize, algorithm: u32) -> u32 {
        let unit = &self.program.units[unit.index()];
        let input = match call.args.get(index) {
            Some(Arg::In(value)) => Input::new(value, unit, algorithm),
            _ => Input::default(),
        };
        push(&mut self.runtime.inputs, input)
    }

    fn algorithm_number(&mut self, name: &str) -> u32 {
        let seed = self.seed ^ name_number(name);
        let algorithm = algorithm(name, seed).unwrap_or(Algorithm::Checksum);
        push(&mut self.runtime.algorithms, algorithm)
    }

    /// The algorithm of an argument: a member of `HashAlgorithm`, known at load time.
    fn named_algorithm(&mut self, call: &ExternCall, index: usize) -> Result<u32, Refusal> {
        let member = match call.args.get(index) {
            Some(Arg::In(Value::Scalar(expr))) => match expr.kind {
                ExprKind::Const(member) => Some(member),
                _ => None,
            },
            _ => None,
        };
        let name = member.and_then(|member| HASH_ALGORITHMS.get(member as usize));
        match name {
            Some(name) => Ok(self.algorithm_number(name)),
            None => {
                let message = format!("the algorithm of this {} is not known", call.name);
                Err(rules::EXTERN_ARGUMENT.refuse(call.span, message))
            }
        }
    }

    /// Field list that is an argument of an older function.
    fn old_list(&mut self, unit: UnitId, call: &ExternCall, index: usize) -> Fields {
        let Blocks { ingress, egress, .. } = self.blocks;
        let block = [ingress, egress].into_iter().find(|block| block.unit == unit);
        let list = match (block, call.args.get(index)) {
            (Some(block), Some(Arg::In(value))) => FieldList::of_value(value, block),
            _ => FieldList::default(),
        };
        Fields::List(push(&mut self.runtime.field_lists, list))
    }
}

/// The members of `HashAlgorithm` in the order of their declaration.
const HASH_ALGORITHMS: [&str; 8] =
    ["crc32", "crc32_custom", "crc16", "crc16_custom", "random", "identity", "csum16", "xor16"];
