//! Preparation: extern objects get their state, and call sites are resolved.
//!
//! Everything that can be refused is refused here: arguments out of the chip's range, externs
//! that are not simulated, headers that are too long for the mirror or resubmit path.

use super::{
    Pass, Prepared, RegisterState, Runtime, SettableHash, Site, constant_arguments, symmetric_hash,
};
use crate::arguments::{self, ArgumentError};
use crate::chip::Chip;
use crate::deparser_requests;
use crate::load::LoadOptions;
use crate::register_action::{CompiledRegister, STAGE_BITS, is_action, is_direct_action};
use crate::rules::{self, Refusal};
use sojourn_control::digest::Digests;
use sojourn_control::idle_timeout::LastHits;
use sojourn_control::profiles::{Fill, Hash, Profile, Profiles};
use sojourn_control::schema::hashes;
use sojourn_externs::call::{argument_bits, name_number, type_bits, value};
use sojourn_externs::checksum::OnesComplement;
use sojourn_externs::counter::{Counter, CounterKind};
use sojourn_externs::filter::Filter;
use sojourn_externs::hash::{Algorithm, Crc, Polynomial};
use sojourn_externs::hash_setting::{HashSetting, HashShape};
use sojourn_externs::meter::{Meter, MeterKind};
use sojourn_externs::random::Random;
use sojourn_externs::selector::{Selector, SelectorMode};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::PacketOut;
use sojourn_p4::ir::{
    Arg, ExprKind, ExternCall, Object, ObjectArg, ObjectId, Program, TableId, UnitId, Value,
};
use sojourn_p4::visit;
use sojourn_packet::SplitMix64;
use sojourn_target::faults::Faults;
use sojourn_target::memory_budget::MemoryBudget;
use std::collections::BTreeMap;

/// Bits of the narrowest entry of a counter or meter.
const NARROWEST: usize = 16;
/// Bits that the mirror unit has for a header.
const MIRROR_BITS: u32 = 32 * 8;
/// Bytes that the learning filter has for a digest and its type.
const DIGEST_BYTES: u32 = 48;

/// List of the runtime that holds an object's state, and the index in it.
type Places = BTreeMap<ObjectId, u32>;

/// Builds the runtime of a program, and reports all unsupported extern objects and calls; such a
/// call has no effect.
pub fn prepare(
    chip: &Chip,
    program: &Program,
    registers: Vec<CompiledRegister>,
    options: &LoadOptions,
) -> (Runtime, Vec<Diagnostic>) {
    let (mut budget, mut errors) = (MemoryBudget::new(options.check_only), Vec::new());
    let seed = options.seed;
    let counter_range = program.errors.iter().position(|error| &**error == "CounterRange");
    let mut runtime = Runtime {
        resubmit_data: chip.front.resubmit_data,
        counter_mask_in_bits: chip.counter_mask_in_bits,
        sites: vec![Site::None; program.call_sites as usize],
        prepared: vec![Prepared::default(); program.call_sites as usize],
        registers: states(program, registers, &mut budget, &mut errors),
        hashes: Vec::new(),
        set_hashes: Vec::new(),
        settable: Vec::new(),
        symmetric: Vec::new(),
        randoms: Vec::new(),
        counters: Vec::new(),
        meters: Vec::new(),
        filters: Vec::new(),
        checksums: Vec::new(),
        digest_names: Vec::new(),
        digests: Digests::default(),
        profiles: Profiles::default(),
        hits: LastHits::default(),
        pass: Pass::default(),
        faults: Faults::default(),
        trace: None,
        counter_range: counter_range.map_or(u32::MAX, |at| at as u32),
        scratch: PacketOut::new(),
        duplicated: Vec::new(),
    };
    let places = objects(program, seed, &mut budget, &mut runtime, &mut errors);
    runtime.set_hashes = vec![None; runtime.hashes.len()];
    runtime.settable = settable(program, seed, &places);
    profiles(program, &places, &mut runtime, &mut errors);
    visit::calls(program, &mut |unit, call| match site(
        chip,
        program,
        unit,
        call,
        &places,
        &mut runtime,
    ) {
        Ok(site) => {
            // A register that is refused has no state.
            if let Site::Execute { register, .. }
            | Site::ReadRegister { register, direct: false }
            | Site::WriteRegister { register, direct: false } = site
                && let Some(state) = runtime.registers.get_mut(register as usize)
            {
                state.reached_by(call);
            }
            let prepared = Prepared::new(call, site, &runtime.registers);
            if let Some(place) = runtime.sites.get_mut(call.site.index()) {
                *place = site;
                runtime.prepared[call.site.index()] = prepared;
            }
        }
        Err(refused) => errors.push(refused.into()),
    });
    (runtime, errors)
}

/// Registers with their initial values.
fn states(
    program: &Program,
    registers: Vec<CompiledRegister>,
    budget: &mut MemoryBudget,
    errors: &mut Vec<Diagnostic>,
) -> Vec<RegisterState> {
    let made = registers.into_iter().map(|compiled| {
        let taken = budget.take(compiled.size.unwrap_or(0), RegisterState::cell_bytes(&compiled));
        let entries = taken.unwrap_or_else(|ArgumentError(why)| {
            let span = program.objects[compiled.object.index()].span;
            let message = format!("this register: {why}");
            errors.push(rules::EXTERN_ARGUMENT.refuse(span, message).into());
            0
        });
        RegisterState::new(compiled, entries)
    });
    made.collect()
}

fn objects(
    program: &Program,
    seed: u64,
    budget: &mut MemoryBudget,
    runtime: &mut Runtime,
    errors: &mut Vec<Diagnostic>,
) -> Places {
    let mut places = Places::new();
    for (index, register) in runtime.registers.iter().enumerate() {
        places.insert(register.compiled.object, index as u32);
    }
    for (index, object) in program.objects.iter().enumerate() {
        let id = ObjectId(index as u32);
        let mut seeds = SplitMix64::new(seed ^ name_number(&object.name));
        let made = match &*object.of {
            "Hash" => {
                hash(program, object, seeds.next()).map(|hash| push(&mut runtime.hashes, hash))
            }
            "Random" => {
                let bits = object.type_args.first().map_or(32, type_bits);
                Ok(push(&mut runtime.randoms, Random::new(bits, seeds.next())))
            }
            "Counter" | "DirectCounter" => counter(object, budget)
                .map(|counter| push(&mut runtime.counters, (object.name.clone(), counter))),
            "Meter" | "DirectMeter" => meter(object, budget)
                .map(|meter| push(&mut runtime.meters, (object.name.clone(), meter))),
            "Lpf" | "DirectLpf" | "Wred" | "DirectWred" => filter(object, budget, seeds.next())
                .map(|filter| push(&mut runtime.filters, (object.name.clone(), filter))),
            "Checksum" => Ok(push(&mut runtime.checksums, OnesComplement::new())),
            "Digest" => Ok(push(&mut runtime.digest_names, object.name.clone())),
            _ => continue,
        };
        match made {
            Ok(place) => {
                places.insert(id, place);
            }
            Err(ArgumentError(why)) => {
                let message = format!("this {}: {why}", object.of);
                errors.push(rules::EXTERN_ARGUMENT.refuse(object.span, message).into());
            }
        }
    }
    places
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    list.len() as u32 - 1
}

fn hash(program: &Program, object: &Object, seed: u64) -> Result<Hash, ArgumentError> {
    let width = object.type_args.first().map_or(32, type_bits);
    let name = arguments::member(object, "algo")?;
    let algorithm = match arguments::object_argument(object, "poly") {
        Some(id) => custom(&program.objects[id.index()])?,
        None => Algorithm::named(name, seed)
            .ok_or_else(|| ArgumentError(format!("{name} needs a CRCPolynomial")))?
            .repeating(),
    };
    Ok(Hash { algorithm, width, fill: Fill::Front })
}

/// A hash with a polynomial of the program's.
fn custom(object: &Object) -> Result<Algorithm, ArgumentError> {
    let width = object.type_args.first().map_or(0, type_bits);
    let crc = Crc::new(Polynomial {
        width,
        coeff: arguments::integer(object, "coeff")?,
        reversed: arguments::boolean(object, "reversed")?,
        init: arguments::integer(object, "init")?,
        xor: arguments::integer(object, "xor")?,
    });
    Ok(Algorithm::Crc {
        crc: crc.map_err(|why| ArgumentError(why.to_string()))?,
        msb: arguments::boolean(object, "msb")?,
        extended: arguments::boolean(object, "extended")?,
    })
}

/// The hashes that the control plane can set.
fn settable(program: &Program, seed: u64, places: &Places) -> Vec<SettableHash> {
    let made = hashes(program).into_iter().filter_map(|(id, hash)| {
        let inputs = hash.inputs.iter().map(|input| input.width).collect();
        let seed = SplitMix64::new(seed ^ name_number(&hash.named.name)).next();
        let shape = HashShape { inputs, width: hash.width, used: hash.used, seed };
        let place = *places.get(&id)?;
        let constants = hash.inputs.into_iter().map(|input| input.constant).collect();
        let (name, setting) = (hash.named.name, HashSetting::default());
        Some(SettableHash { name, place, shape, constants, setting })
    });
    made.collect()
}

/// The cells to allocate for a counter or meter that a stage can hold.
fn entries(object: &Object, budget: &mut MemoryBudget, bytes: u64) -> Result<usize, ArgumentError> {
    let (size, most) = (arguments::integer(object, "size")?, STAGE_BITS / NARROWEST);
    if size > most {
        let why = format!("it has {size} entries, a stage holds {most} at most");
        return Err(ArgumentError(why));
    }
    budget.take(size, bytes)
}

fn counter(object: &Object, budget: &mut MemoryBudget) -> Result<Counter, ArgumentError> {
    let name = arguments::member(object, "type")?;
    let kind =
        CounterKind::named(name).ok_or_else(|| ArgumentError(format!("`type` is {name}")))?;
    let size = match &*object.of {
        "Counter" => entries(object, budget, Counter::CELL_BYTES)?,
        _ => 0,
    };
    Ok(Counter::new(kind, size))
}

fn meter(object: &Object, budget: &mut MemoryBudget) -> Result<Meter, ArgumentError> {
    let kind = match arguments::member(object, "type")? {
        "PACKETS" => MeterKind::Packets,
        _ => MeterKind::Bytes,
    };
    let size = match &*object.of {
        "Meter" => entries(object, budget, Meter::CELL_BYTES)?,
        _ => 0,
    };
    let meter = Meter::new(kind, size);
    if arguments::constant(object, "red").is_none() {
        return Ok(meter);
    }
    let code = |name| arguments::integer(object, name);
    Ok(meter.with_codes(code("red")?, code("yellow")?, code("green")?))
}

fn filter(object: &Object, budget: &mut MemoryBudget, seed: u64) -> Result<Filter, ArgumentError> {
    let direct = object.of.starts_with("Direct");
    let size = if direct { 0 } else { entries(object, budget, Filter::CELL_BYTES)? };
    if object.of.ends_with("Lpf") {
        return Ok(Filter::lpf(size));
    }
    let value = |name| arguments::integer(object, name);
    Ok(Filter::wred(size, value("drop_value")?, value("no_drop_value")?, seed))
}

/// Action profile or selector of each table.
fn profiles(
    program: &Program,
    places: &Places,
    runtime: &mut Runtime,
    errors: &mut Vec<Diagnostic>,
) {
    let mut profiles = Profiles::default();
    for (index, object) in program.objects.iter().enumerate() {
        let id = ObjectId(index as u32);
        if !matches!(&*object.of, "ActionProfile" | "ActionSelector") {
            continue;
        }
        let mut profile = Profile { name: object.name.to_string(), ..Profile::default() };
        if &*object.of == "ActionSelector" {
            let mode = match arguments::member(object, "mode") {
                Ok("RESILIENT") => SelectorMode::Resilient,
                _ => SelectorMode::Fair,
            };
            profile.selector = Some(Selector::new(mode));
            let hash = arguments::object_argument(object, "hash");
            profile.hash = hash
                .and_then(|hash| places.get(&hash))
                .map(|at| runtime.hashes[*at as usize].clone());
        }
        profiles.of_object.insert(id, push(&mut profiles.profiles, profile) as usize);
    }
    for (index, table) in program.tables.iter().enumerate() {
        for (name, value) in &table.properties {
            let ObjectArg::Object(object) = value else { continue };
            match profiles.of_object.get(object) {
                Some(profile) => {
                    profiles.of_table.insert(TableId(index as u32), *profile);
                }
                None if &**name == "implementation" => {
                    let of = &program.objects[object.index()].of;
                    if !matches!(&**of, "Atcam" | "Alpm") {
                        let message = format!("a table implemented by {of}");
                        errors.push(rules::UNSUPPORTED.refuse(table.span, message).into());
                    }
                }
                None => {}
            }
        }
    }
    runtime.profiles = profiles;
}

/// Resolved form of a call site.
fn site(
    chip: &Chip,
    program: &Program,
    unit: UnitId,
    call: &ExternCall,
    places: &Places,
    runtime: &mut Runtime,
) -> Result<Site, Refusal> {
    let Some(id) = call.object else { return function(chip, call) };
    let object = &program.objects[id.index()];
    constant_arguments::check(program, unit, &object.of, call)?;
    let place = || places.get(&id).copied().unwrap_or_default();
    let (of, name) = (&*object.of, &*call.name);
    Ok(match (of, name) {
        (of, "execute") if is_action(of) => {
            return execute(object, id, call, places, runtime);
        }
        // Part of the action's own body, which is compiled and not run.
        (of, "predicate" | "address" | "min8" | "max8" | "min16" | "max16") if is_action(of) => {
            Site::None
        }
        ("MathUnit" | "RegisterParam", _) => Site::None,
        ("Register" | "DirectRegister", "read") => {
            Site::ReadRegister { register: place(), direct: of == "DirectRegister" }
        }
        ("Register" | "DirectRegister", "write") => {
            Site::WriteRegister { register: place(), direct: of == "DirectRegister" }
        }
        ("Register" | "DirectRegister", "clear") => {
            let is_constant = |arg: &Arg| {
                let Arg::In(Value::Scalar(expr)) = arg else { return matches!(arg, Arg::Absent) };
                matches!(expr.kind, ExprKind::Const(_) | ExprKind::WideConst(_))
            };
            if !call.args.iter().all(is_constant) {
                let message = "`clear` with a value that is no constant";
                return Err(rules::EXTERN_ARGUMENT.refuse(call.span, message));
            }
            Site::ClearRegister(place())
        }
        ("Hash", "get") => {
            let algorithm = runtime.hashes.get(place() as usize).map(|hash| &hash.algorithm);
            let is_crc = matches!(algorithm, None | Some(Algorithm::Crc { .. }));
            let pairs = symmetric_hash::pairs(program, unit, object, is_crc, call)?;
            let symmetric = (!pairs.is_empty()).then(|| push(&mut runtime.symmetric, pairs));
            Site::Hash { hash: place(), bits: argument_bits(call, 0), symmetric }
        }
        ("Random", "get") => Site::Random(place()),
        ("Counter" | "DirectCounter", "count") => {
            Site::Count { counter: place(), direct: of == "DirectCounter" }
        }
        ("Meter", "execute") => {
            Site::Meter { meter: place(), direct: false, colored: call.args.len() > 2 }
        }
        ("DirectMeter", "execute") => {
            Site::Meter { meter: place(), direct: true, colored: call.args.len() > 1 }
        }
        ("Lpf" | "DirectLpf" | "Wred" | "DirectWred", "execute") => {
            Site::Filter { filter: place(), direct: of.starts_with("Direct") }
        }
        ("Checksum", _) => checksum(call, place(), argument_bits(call, 0))?,
        ("ParserCounter", "set") => Site::CounterSet,
        ("ParserCounter", "increment") => Site::CounterAdd { negative: false },
        ("ParserCounter", "decrement") => Site::CounterAdd { negative: true },
        ("ParserCounter", "is_zero") => Site::CounterIsZero,
        ("ParserCounter", "is_negative") => Site::CounterIsNegative,
        ("ParserPriority", "set") => Site::Priority,
        ("Mirror", "emit") => {
            Site::Mirror { bits: mirror_header(call)?, of: deparser_requests::type_of(object) }
        }
        ("Resubmit", "emit") => {
            check_resubmit_header(chip, call)?;
            Site::Resubmit { of: deparser_requests::type_of(object) }
        }
        ("Digest", "pack") => {
            check_digest(call)?;
            Site::Digest { digest: place(), of: deparser_requests::type_of(object) }
        }
        _ => {
            let message = format!("{of}.{name} is not simulated");
            return Err(rules::UNSUPPORTED.refuse(call.span, message));
        }
    })
}

fn execute(
    object: &Object,
    id: ObjectId,
    call: &ExternCall,
    places: &Places,
    runtime: &Runtime,
) -> Result<Site, Refusal> {
    let register = arguments::first_object(object).and_then(|register| places.get(&register));
    let compiled = register.map(|register| &runtime.registers[*register as usize].compiled);
    let action = compiled.and_then(|c| c.actions.iter().position(|action| action.object == id));
    match (register, action) {
        (Some(register), Some(action)) => {
            let (register, action) = (*register, action as u32);
            Ok(if is_direct_action(&object.of) {
                Site::ExecuteDirect { register, action }
            } else {
                Site::Execute { register, action }
            })
        }
        _ => {
            let message = "this register action has no register that could run it";
            Err(rules::EXTERN_ARGUMENT.refuse(call.span, message))
        }
    }
}

fn checksum(call: &ExternCall, checksum: u32, bits: u32) -> Result<Site, Refusal> {
    let whole_bytes = || {
        if bits.is_multiple_of(8) {
            return Ok(());
        }
        let message = format!("{bits} bits in a checksum, which adds whole bytes");
        Err(rules::EXTERN_ARGUMENT.refuse(call.span, message))
    };
    Ok(match &*call.name {
        "add" => {
            whole_bytes()?;
            Site::ChecksumAdd { checksum, bits }
        }
        "subtract" => {
            whole_bytes()?;
            Site::ChecksumSubtract { checksum, bits }
        }
        "verify" => Site::ChecksumVerify(checksum),
        "get" => Site::ChecksumGet(checksum),
        "subtract_all_and_deposit" => Site::ChecksumDeposit(checksum),
        _ => {
            whole_bytes()?;
            Site::ChecksumUpdate { bits }
        }
    })
}

fn function(chip: &Chip, call: &ExternCall) -> Result<Site, Refusal> {
    Ok(match &*call.name {
        "min" => Site::MinMax { min: true },
        "max" => Site::MinMax { min: false },
        "funnel_shift_right" => Site::FunnelShift,
        "invalidate" => Site::Invalidate,
        "is_validated" => Site::IsValid,
        "port_metadata_unpack" => Site::PortMetadata { bytes: chip.front.port_metadata as u32 },
        name => {
            let message = format!("the function {name} is not simulated");
            return Err(rules::UNSUPPORTED.refuse(call.span, message));
        }
    })
}

fn mirror_header(call: &ExternCall) -> Result<u32, Refusal> {
    let bits = argument_bits(call, 1);
    if bits > MIRROR_BITS {
        let message = format!("a mirror header of {bits} bits");
        return Err(rules::MIRROR_HEADER.refuse(call.span, message));
    }
    if !bits.is_multiple_of(8) {
        let message = format!("a mirror header of {bits} bits, no whole bytes, is not simulated");
        return Err(rules::UNSUPPORTED.refuse(call.span, message));
    }
    Ok(bits)
}

fn check_resubmit_header(chip: &Chip, call: &ExternCall) -> Result<(), Refusal> {
    let bits = argument_bits(call, 0);
    if bits as usize > 8 * chip.front.resubmit_data {
        let message = format!("resubmitted metadata of {bits} bits");
        return Err(rules::RESUBMIT_HEADER.refuse(call.span, message));
    }
    Ok(())
}

fn check_digest(call: &ExternCall) -> Result<(), Refusal> {
    // The type takes a byte, and each field whole bytes.
    let bytes = 1 + value(call, 0).map_or(0, field_bytes);
    if bytes > DIGEST_BYTES {
        let message = format!("a digest of {bytes} bytes, its type included");
        return Err(rules::DIGEST_SIZE.refuse(call.span, message));
    }
    Ok(())
}

/// The bytes of a value's fields, each rounded up.
fn field_bytes(value: &Value) -> u32 {
    match value {
        Value::Scalar(expr) => expr.scalar.width().div_ceil(8),
        Value::Header { fields: parts, .. } | Value::Struct { fields: parts, .. } => {
            parts.iter().map(field_bytes).fold(0, u32::saturating_add)
        }
        _ => 0,
    }
}
