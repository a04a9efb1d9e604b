//! Preparation: extern objects get their state, and call sites are resolved.
//!
//! All rejections of externs occur here, before the first packet.

use super::state::COLORS;
use super::{Checksum, RandomRange, Runtime, Site};
use crate::rules::{self, Refusal};
use num_bigint::{BigInt, BigUint};
use sojourn_control::profiles::{Fill, Hash, Profile};
use sojourn_externs::call::name_number;
use sojourn_externs::checksum::OnesComplement;
use sojourn_externs::counter::{Counter, CounterKind};
use sojourn_externs::field_input::Input;
use sojourn_externs::hash::Algorithm;
use sojourn_externs::meter::{Meter, MeterKind};
use sojourn_externs::register::RegisterArray;
use sojourn_externs::selector::{Selector, SelectorMode};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{
    Arg, Const, ExternCall, Object, ObjectArg, ObjectId, Program, Stmt, StmtKind, UnitId, Value,
};
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use sojourn_packet::SplitMix64;
use sojourn_target::arguments::{self, ArgumentError};
use sojourn_target::common_limits::is_number;
use sojourn_target::load::LoadOptions;
use sojourn_target::memory_budget::MemoryBudget;
use std::collections::BTreeMap;

/// Index of an object's state in its list of the runtime.
type Places = BTreeMap<ObjectId, u32>;

/// Builds the runtime of a program.
///
/// # Errors
/// Returns an error for each extern object and call that is not supported.
pub(crate) fn prepare(
    program: &Program,
    options: &LoadOptions,
) -> Result<Runtime, Vec<Diagnostic>> {
    let sites = vec![Site::None; program.call_sites as usize];
    let mut runtime = Runtime { sites, ..Runtime::default() };
    let (mut errors, mut places) = (Vec::new(), Places::new());
    let budget = MemoryBudget::new(options.check_only);
    let mut made = Made { seed: options.seed, budget, runtime: &mut runtime };
    for (index, object) in program.objects.iter().enumerate() {
        match made.state(object) {
            Ok(Some(place)) => {
                places.insert(ObjectId(index as u32), place);
            }
            Ok(None) => {}
            Err(ArgumentError(why)) => {
                let message = format!("this {}: {why}", object.of);
                errors.push(rules::EXTERN_ARGUMENT.refuse(object.span, message).into());
            }
        }
    }
    runtime.profiles.assign_tables(program, &places, is_profile);
    visit::calls(program, &mut |unit, call| {
        let mut resolver = Resolver { program, places: &places, runtime: &mut runtime };
        match resolver.site(unit, call) {
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

/// True for an object whose tables refer to its members.
pub(crate) fn is_profile(object: &Object) -> bool {
    matches!(&*object.of, "ActionProfile" | "ActionSelector")
}

/// True for the type of an object whose cells are those of a table's entries.
pub(crate) fn is_direct(of: &str) -> bool {
    matches!(of, "DirectCounter" | "DirectMeter")
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
    /// Creates the state of an object, and returns its place.
    fn state(&mut self, object: &Object) -> Result<Option<u32>, ArgumentError> {
        let name = || object.name.clone();
        Ok(Some(match &*object.of {
            "Register" => {
                let register = self.register(object)?;
                push(&mut self.runtime.registers, register)
            }
            "Counter" => {
                let size = self.cells(object, "n_counters", Counter::CELL_BYTES)?;
                push(&mut self.runtime.counters, (name(), Counter::new(counts(object)?, size)))
            }
            "DirectCounter" => {
                let counter = (name(), Counter::new(counts(object)?, 0));
                let place = push(&mut self.runtime.counters, counter);
                self.runtime.direct_counters.push(place as usize);
                place
            }
            "Meter" => {
                let size = self.cells(object, "n_meters", Meter::CELL_BYTES)?;
                push(&mut self.runtime.meters, (name(), meter(object, size)?))
            }
            "DirectMeter" => {
                let place = push(&mut self.runtime.meters, (name(), meter(object, 0)?));
                self.runtime.direct_meters.push(place as usize);
                place
            }
            "Hash" => push(&mut self.runtime.hashes, algorithm(object, "algo")?),
            "Checksum" => {
                let algorithm = algorithm(object, "hash")?;
                push(&mut self.runtime.checksums, Checksum { algorithm, bytes: Vec::new() })
            }
            "InternetChecksum" => push(&mut self.runtime.sums, OnesComplement::new()),
            "Random" => {
                let random = self.random(object)?;
                push(&mut self.runtime.randoms, random)
            }
            "Digest" => push(&mut self.runtime.digest_names, name()),
            "ActionProfile" | "ActionSelector" => {
                push(&mut self.runtime.profiles.profiles, profile(object)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The cells to allocate for an object, each of `bytes` bytes.
    fn cells(&mut self, object: &Object, name: &str, bytes: u64) -> Result<usize, ArgumentError> {
        let size: usize = arguments::integer(object, name)?;
        let most = RegisterArray::MAX_SIZE;
        if size > most {
            return Err(ArgumentError(format!("`{name}` is {size}; it is at most {most}")));
        }
        self.budget.take(size, bytes)
    }

    fn register(&mut self, object: &Object) -> Result<RegisterArray, ArgumentError> {
        let element = object.type_args.first().unwrap_or(&Type::Bit(32));
        if !is_number(element) {
            // p4c: "functions or methods returning structures", and "registers with types other than
            // bit<> or int<>".
            return Err(ArgumentError(format!("a cell is a {element}; a cell is a number")));
        }
        let size = self.cells(object, "size", RegisterArray::cell_bytes(element))?;
        let mut register = RegisterArray::new(object.name.clone(), element, size);
        if let Some(initial) = arguments::constant(object, "initial_value") {
            let initial = pattern(initial, register.widths().next().unwrap_or(0));
            let unknown = || ArgumentError("`initial_value` is not a known number".into());
            let initial = [initial.ok_or_else(unknown)?];
            if initial[0] != BigUint::ZERO {
                (0..size).for_each(|cell| {
                    register.set(cell, &initial);
                });
            }
        }
        Ok(register)
    }

    fn random(&self, object: &Object) -> Result<RandomRange, ArgumentError> {
        let (least, most) =
            (arguments::integer(object, "min")?, arguments::integer::<u128>(object, "max")?);
        if least > most {
            return Err(ArgumentError(format!("`min` is {least}, above `max`, which is {most}")));
        }
        let generator = SplitMix64::new(self.seed ^ name_number(&object.name));
        Ok(RandomRange { least, most, generator })
    }
}

/// The bits of a constant in a type of this width.
fn pattern(value: &Const, width: u32) -> Option<BigUint> {
    match value {
        Const::Scalar(_, pattern) => Some(pattern.clone()),
        Const::EnumMember(index, _) => Some(BigUint::from(*index)),
        Const::Int(value) => BigUint::try_from(value & ((BigInt::from(1) << width) - 1u8)).ok(),
        _ => None,
    }
}

fn counts(object: &Object) -> Result<CounterKind, ArgumentError> {
    let name = arguments::member(object, "type")?;
    CounterKind::named(name).ok_or_else(|| ArgumentError(format!("`type` is {name}")))
}

fn meter(object: &Object, size: usize) -> Result<Meter, ArgumentError> {
    let kind = match arguments::member(object, "type")? {
        "PACKETS" => MeterKind::Packets,
        _ => MeterKind::Bytes,
    };
    let [red, yellow, green] = COLORS;
    Ok(Meter::new(kind, size).with_codes(red, yellow, green))
}

/// The algorithm that an argument names, a member of `PSA_HashAlgorithm_t`.
fn algorithm(object: &Object, argument: &str) -> Result<Algorithm, ArgumentError> {
    let name = arguments::member(object, argument)?;
    let found = match name {
        "IDENTITY" => Some(Algorithm::Leading),
        "ONES_COMPLEMENT16" => Some(Algorithm::Checksum),
        "CRC32" | "CRC32_CUSTOM" => Algorithm::named("CRC32", 0),
        // p4c's choice of the default for bmv2.
        "CRC16" | "CRC16_CUSTOM" | "TARGET_DEFAULT" => Algorithm::named("CRC16", 0),
        _ => None,
    };
    found.ok_or_else(|| ArgumentError(format!("`{argument}` is {name}")))
}

fn profile(object: &Object) -> Result<Profile, ArgumentError> {
    let mut profile = Profile { name: object.name.to_string(), ..Profile::default() };
    if &*object.of == "ActionSelector" {
        profile.selector = Some(Selector::new(SelectorMode::Fair));
        // bmv2 computes 32 bits of the hash modulo the size of the group, whatever `outputWidth` is.
        let (algorithm, width) = (algorithm(object, "algo")?, 32);
        profile.hash = Some(Hash { algorithm, width, fill: Fill::Behind });
    }
    Ok(profile)
}

/// Resolver of a program's call sites.
struct Resolver<'a> {
    program: &'a Program,
    places: &'a Places,
    runtime: &'a mut Runtime,
}

impl Resolver<'_> {
    fn site(&mut self, unit: UnitId, call: &ExternCall) -> Result<Site, Refusal> {
        let Some(id) = call.object else { return self.function(call) };
        let object = &self.program.objects[id.index()];
        let place = self.places.get(&id).copied().unwrap_or_default();
        let mut input = |argument| self.input(unit, call, argument);
        Ok(match (&*object.of, &*call.name) {
            ("Register", "read") => Site::ReadRegister(place),
            ("Register", "write") => Site::WriteRegister(place),
            ("Counter", "count") => Site::Count(place),
            ("Meter", "execute") => Site::Meter(place),
            ("DirectCounter", "count") => {
                self.called_by_its_table(id, call)?;
                Site::CountEntry(place)
            }
            ("DirectMeter", "execute") => {
                self.called_by_its_table(id, call)?;
                Site::MeterEntry(place)
            }
            ("Hash", "get_hash") if call.args.len() == 3 => {
                Site::HashInRange { algorithm: place, input: input(1) }
            }
            ("Hash", "get_hash") => Site::Hash { algorithm: place, input: input(0) },
            ("Checksum", "clear") => Site::ClearChecksum(place),
            ("Checksum", "update") => Site::UpdateChecksum { checksum: place, input: input(0) },
            ("Checksum", "get") => Site::GetChecksum(place),
            ("InternetChecksum", "clear") => Site::ClearSum(place),
            ("InternetChecksum", "add") => Site::AddToSum { sum: place, input: input(0) },
            ("InternetChecksum", "subtract") => {
                Site::SubtractFromSum { sum: place, input: input(0) }
            }
            ("InternetChecksum", "get") => Site::GetSum(place),
            ("InternetChecksum", "get_state") => Site::GetSumState(place),
            ("InternetChecksum", "set_state") => Site::SetSumState(place),
            ("Random", "read") => Site::Random(place),
            ("Digest", "pack") => Site::Digest { digest: place, input: input(0) },
            (of, name) => {
                let message = format!("{of}.{name} is not an extern of psa.p4");
                return Err(rules::UNKNOWN_EXTERN.refuse(call.span, message));
            }
        })
    }

    fn function(&self, call: &ExternCall) -> Result<Site, Refusal> {
        let flag = |name: &str| position(call, 0, name);
        let question = |wanted, without: [&str; 2]| Site::Question {
            wanted: flag(wanted),
            without: without.map(flag),
            port: None,
        };
        Ok(match &*call.name {
            "psa_clone_i2e" | "psa_clone_e2e" => question("clone", ["", ""]),
            "psa_resubmit" => question("resubmit", ["drop", ""]),
            "psa_normal" => question("", ["drop", "resubmit"]),
            "psa_recirculate" => Site::Question {
                wanted: None,
                without: [flag("drop"), None],
                port: position(call, 1, "egress_port"),
            },
            "assert" | "assume" => Site::Assert,
            name => {
                let message = format!("the function {name} is not an extern of psa.p4");
                return Err(rules::UNKNOWN_EXTERN.refuse(call.span, message));
            }
        })
    }

    /// Checks that a call of a direct object is in an action of the table that names it.
    fn called_by_its_table(&self, object: ObjectId, call: &ExternCall) -> Result<(), Refusal> {
        let is_call =
            |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Call(found) if found.site == call.site);
        let mut tables = self.program.tables.iter().filter(|table| {
            let named = |value: &ObjectArg| matches!(value, ObjectArg::Object(id) if *id == object);
            table.properties.iter().any(|(_, value)| named(value))
        });
        let is_called = tables.any(|table| {
            let mut found = false;
            for action in &table.actions {
                visit::statements(&action.body, &mut |stmt| found |= is_call(stmt));
            }
            found
        });
        if is_called {
            return Ok(());
        }
        let object = &self.program.objects[object.index()];
        let message = format!("`{}.{}` is not called by its table", object.name, call.name);
        let refused = rules::DIRECT_CALL.refuse(call.span, message);
        Err(refused.with_place(object.span, "declared here"))
    }

    fn input(&mut self, unit: UnitId, call: &ExternCall, argument: usize) -> u32 {
        let unit = &self.program.units[unit.index()];
        let input = match call.args.get(argument) {
            Some(Arg::In(value)) => Input::new(value, unit, 0),
            _ => Input::default(),
        };
        push(&mut self.runtime.inputs, input)
    }
}

/// Position of a field in a struct argument.
fn position(call: &ExternCall, argument: usize, name: &str) -> Option<u8> {
    match call.args.get(argument) {
        Some(Arg::In(Value::Struct { ty: Type::Struct(of), .. })) => {
            let at = of.fields.iter().position(|field| &*field.name == name)?;
            u8::try_from(at).ok()
        }
        _ => None,
    }
}
