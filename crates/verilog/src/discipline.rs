//! Hardware modules in the registry of disciplines: their parameters and their construction.
//!
//! A module either decides about the packet at the head of the crate's queue ([`DequeueAqm`]), or orders
//! the packets itself and receives each arrival ([`Scheduler`]). Its ports determine which. Its clock
//! runs only during a query.

use crate::dequeue_aqm::DequeueAqm;
use crate::dut::Dut;
use crate::library::{Library, LoadError, Module, Question};
use crate::reference;
use crate::scheduler::{NUMBERS, Scheduler};
use sojourn_packet::NameTaken;
use sojourn_switch::discipline::codel::{
    INTERVAL_PARAMETER, MAXPACKET_PARAMETER, TARGET_PARAMETER,
};
use sojourn_switch::discipline::{
    Discipline, DisciplineError, FULL_FRAME, Kind, Parameter, REGISTRY, Registered, SEED, Settings,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Parameters of modules; a module without the port ignores the parameter.
pub(crate) const PARAMETERS: &[Parameter] = &[
    TARGET_PARAMETER,
    INTERVAL_PARAMETER,
    MAXPACKET_PARAMETER,
    Parameter::new(
        "ecn",
        Kind::Flag,
        0,
        "mark packets of ECN-capable transports instead of dropping",
    ),
    Parameter::new(
        "quantum",
        Kind::Size,
        FULL_FRAME.0,
        "what a flow may send in its turn, if the module keeps the order",
    ),
    Parameter::new(
        "limit",
        Kind::Packets,
        LIMIT,
        "most packets held, if the module keeps the order",
    ),
    SEED,
];

const LIMIT: u64 = 10_240;

static LIBRARIES: Mutex<BTreeMap<&'static str, Arc<Library>>> = Mutex::new(BTreeMap::new());

/// Reason why a module cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// Its library.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The name is taken.
    #[error(transparent)]
    Name(#[from] NameTaken),
}

/// Adds the module in the library at `path` to the registry of disciplines, for the life of the
/// process. An existing module named `name` remains.
///
/// ```
/// let refused = sojourn_verilog::add("mine", "no/such.so".as_ref()).unwrap_err();
/// assert!(refused.to_string().contains("no/such.so"));
/// ```
///
/// # Errors
/// If the library cannot be used, or the name belongs to something other than a module.
pub fn add(name: &str, path: &Path) -> Result<(), AddError> {
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    if libraries.contains_key(name) {
        return Ok(());
    }
    let library = Arc::new(Library::load(path)?);
    declare();
    // Names in the registry live as long as the process.
    let name: &'static str = name.to_owned().leak();
    let registered = Registered {
        name,
        summary: "a hardware module: SystemVerilog, run by Verilator",
        parameters: PARAMETERS,
        build,
    };
    REGISTRY.add(Box::leak(Box::new(registered)))?;
    libraries.insert(name, library);
    Ok(())
}

/// Registers the parameters that all modules share, under the name of the reference with which
/// modules are compared (`reference`).
///
/// ```
/// sojourn_verilog::declare();
/// let reference = sojourn_switch::discipline::REGISTRY.find("codel@rom").unwrap();
/// assert!(reference.parameters.iter().any(|parameter| parameter.name == "target"));
/// ```
pub fn declare() {
    for reference in [&reference::REFERENCE, &reference::FQ_REFERENCE] {
        if REGISTRY.find(reference.name).is_none() {
            // A concurrent call has added the same module.
            let _ = REGISTRY.add(reference);
        }
    }
}

/// Constant part of all requests to a module: its validated parameters.
pub(crate) fn same_in_all(settings: &Settings) -> Result<Question, DisciplineError> {
    let word = |name, least| Ok(settings.within(name, least..=u64::from(u32::MAX))? as u32);
    Ok(Question {
        target: word(TARGET_PARAMETER.name, 1)?,
        interval: word(INTERVAL_PARAMETER.name, 1)?,
        maxpacket: word(MAXPACKET_PARAMETER.name, 0)?,
        ecn: settings.switch("ecn")?.into(),
        quantum: settings.within("quantum", 256..=1_000_000)? as u32,
        limit: settings.within("limit", 1..=NUMBERS as u64 - 1)? as u32,
        ..Question::default()
    })
}

fn build(settings: &Settings) -> Result<Box<dyn Discipline>, DisciplineError> {
    let libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let unknown = || DisciplineError::Unknown(settings.discipline().to_owned());
    let library = libraries.get(settings.discipline()).ok_or_else(unknown)?;
    let fixed = same_in_all(settings)?;
    let module = Module::new(Arc::clone(library)).ok_or_else(unknown)?;
    let dut = Dut::new(fixed, module);
    Ok(match library.keeps_order() {
        true => Box::new(Scheduler::new(dut, settings.get(SEED.name).unwrap_or_default())),
        false => Box::new(DequeueAqm::new(dut)),
    })
}
