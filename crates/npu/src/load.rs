//! Loading: from the IR of an NPU program to a data plane, or to diagnostics.

use super::calls::Site;
use super::engine::Shared;
use super::memory::Memory;
use super::mutex::Locks;
use super::plane::Npu;
use super::processor::Processor;
use super::rules::{self, Refusal};
use sojourn_externs::call::type_bits;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Object, ObjectId, Program, UnitId};
use sojourn_p4::types::Type;
use sojourn_p4::visit;
use sojourn_target::arguments::integer;
use sojourn_target::faults::Faults;
use sojourn_target::load::LoadOptions;
use sojourn_target::memory_budget::MemoryBudget;
use sojourn_target::package::blocks;
use sojourn_target::validity_checks;
use std::collections::BTreeMap;

/// The widest cell that an engine accesses at once, bits.
const CELL_BITS: u32 = 64;

/// Builds a data plane of an elaborated program; `None` if there is an error.
pub(super) fn build(
    program: Program,
    options: &LoadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Npu> {
    let found = blocks(&program, &rules::PACKAGE)
        .and_then(|(main, units)| Ok((Processor::new(main)?, units)));
    let (processor, units) = match found {
        Ok(found) => found,
        Err(refused) => {
            diagnostics.push(refused.into());
            return None;
        }
    };
    let before = diagnostics.len();
    let mut budget = MemoryBudget::new(options.check_only);
    let (memories, places) = objects(&program, &mut budget, diagnostics);
    let sites = sites(&program, units[1], &places, diagnostics);
    if diagnostics[before..].iter().any(Diagnostic::is_error) {
        return None;
    }
    let shared = Shared { sites, memories, locks: Locks::default(), faults: Faults::default() };
    let interpreter = options.interpreter(validity_checks::with_guards(&program));
    Some(Npu::new(interpreter, units, shared, processor, options.seed))
}

/// Memories, and the numbers of memories and mutexes.
fn objects(
    program: &Program,
    budget: &mut MemoryBudget,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Memory>, BTreeMap<ObjectId, u32>) {
    let (mut memories, mut places, mut mutexes) = (Vec::new(), BTreeMap::new(), 0);
    for (index, object) in program.objects.iter().enumerate() {
        let id = ObjectId(index as u32);
        match &*object.of {
            "Memory" => match memory(object, budget) {
                Ok(memory) => {
                    places.insert(id, memories.len() as u32);
                    memories.push(memory);
                }
                Err(refused) => diagnostics.push(refused.into()),
            },
            "Mutex" => {
                places.insert(id, mutexes);
                mutexes += 1;
            }
            _ => {}
        }
    }
    (memories, places)
}

fn memory(object: &Object, budget: &mut MemoryBudget) -> Result<Memory, Refusal> {
    let ty = object.type_args.first().unwrap_or(&Type::Bit(CELL_BITS));
    if !is_number(ty) || type_bits(ty) > CELL_BITS {
        let message = format!("a cell of `{}` is a {ty}", object.name);
        return Err(rules::CELL.refuse(object.span, message));
    }
    let size = integer::<usize>(object, "size");
    let refuse = |why: String| rules::CELL.refuse(object.span, why);
    let size = size.map_err(|why| refuse(format!("`{}`: {why}", object.name)))?;
    if size > Memory::MOST_CELLS {
        return Err(refuse(format!("`{}` has {size} cells", object.name)));
    }
    let taken = budget.take(size, Memory::CELL_BYTES);
    let size = taken.map_err(|why| refuse(format!("`{}`: {why}", object.name)))?;
    Ok(Memory::new(object.name.clone(), type_bits(ty), size))
}

fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Bit(_) | Type::Int(_) | Type::SerializableEnum(_) => true,
        Type::New(new) => is_number(&new.target),
        _ => false,
    }
}

/// Resolved call sites.
fn sites(
    program: &Program,
    ingress: UnitId,
    places: &BTreeMap<ObjectId, u32>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Site> {
    let mut sites = vec![Site::None; program.call_sites as usize];
    visit::calls(program, &mut |unit, call| match Site::new(call, program, places) {
        Ok(site) if site.waits() && unit != ingress => {
            let unit = &program.units[unit.index()];
            let message = format!("`{}` is called in `{}`", call.name, unit.name);
            let refused = rules::PLACE.refuse(call.span, message);
            diagnostics.push(refused.with_place(unit.span, "declared here").into());
        }
        Ok(site) => {
            if let Some(place) = sites.get_mut(call.site.index()) {
                *place = site;
            }
        }
        Err(refused) => diagnostics.push(refused.into()),
    });
    sites
}
