//! Loading: from the text of a program to a data plane, or to diagnostics.
//!
//! ```text
//! text -> tokens -> tree -> typed tree -> IR -> registers as stateful ALUs -> Tofino
//!         (the language crate)                  (this folder)
//! ```
//!
//! Everything that the silicon cannot do is refused here, not while packets pass.

use super::access;
use super::blocks::{Blocks, find_blocks};
use super::chip::{self, Chip};
use super::dead_fields;
use super::deparser_requests;
use super::fit;
use super::ghost::{self, GhostThread};
use super::gress::Gress;
use super::math_unit::ExponentParity;
use super::metadata::FrontFields;
use super::omitted_parameters;
use super::parde;
use super::pipeline::{Passes, Tofino};
use super::register_action::{self, CompiledRegister};
use super::resubmit_header;
use super::rules;
use super::runtime;
use super::size_functions;
use super::target::{TOFINO1, TOFINO2, TOFINO2M};
use super::validity;
use sojourn_p4::diagnostic::{Diagnostic, Severity};
use sojourn_p4::ir::{ExternCall, ObjectId, Program};
use sojourn_p4::preprocess::{FileLoader, SourceLoader};
use sojourn_p4::source::{SourceMap, Span};
use sojourn_p4::visit;
use sojourn_target::Targets;
pub use sojourn_target::load::{LoadError, LoadOptions};
use sojourn_target::program::Program as Compiled;
use sojourn_target::validity_checks;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A Tofino program that was loaded.
pub type Loaded = sojourn_target::load::Loaded<Tofino>;

/// Loads the program in the file `path`.
///
/// # Errors
/// Everything that language and chip have against it.
pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Tofino, LoadError> {
    load_with(&FileLoader, path, options).map(|loaded| loaded.plane)
}

/// [`load`] with the warnings, and with files from anywhere.
///
/// # Errors
/// As for [`load`].
pub fn load_with(
    loader: &dyn SourceLoader,
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    let options =
        &LoadOptions { targets: Targets(&[&TOFINO1, &TOFINO2, &TOFINO2M]), ..options.clone() };
    let compiled = Compiled::compile(loader, path, options)?;
    let sources = compiled.source_map().clone();
    let name = compiled.target().name();
    let chip = chip::ALL.into_iter().find(|chip| chip.name == name).unwrap_or(&chip::TOFINO1);
    let (plane, warnings) = compiled.build_with(|program, sources, diagnostics| {
        build(chip, program, sources, options, diagnostics)
    })?;
    Ok(Loaded { plane, warnings, sources })
}

/// Makes a data plane of an elaborated program; none if an error was found.
pub fn build(
    chip: &'static Chip,
    mut program: Program,
    sources: &SourceMap,
    options: &LoadOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Tofino> {
    size_functions::fold(&mut program);
    validity::mask_reads(&mut program, chip);
    let pipelines = match find_blocks(chip, &program) {
        Ok(pipelines) => pipelines,
        Err(refused) => {
            diagnostics.push(refused.into());
            return None;
        }
    };
    let registers = registers(chip, &program, options.math_unit, diagnostics);
    diagnostics.append(&mut access::check_indices(&program));
    diagnostics.append(&mut access::check_buses(&program));
    diagnostics.append(&mut access::check_direct(&program));
    for found in &pipelines {
        check_accesses(&program, found, diagnostics);
        let blocks = found.six;
        for (deparser, adds) in [(blocks[2], true), (blocks[5], false)] {
            let untyped = (!chip.mixed_mirrors).then_some(adds);
            diagnostics.extend(deparser_requests::check(&program, deparser, untyped));
        }
        diagnostics.append(&mut parde::check(chip, &program, blocks));
        let found = fit::check(chip, &program, found, sources);
        // Two accesses on one path are reported once, whether or not the second waits for the first.
        let known = |d: &Diagnostic| diagnostics.iter().any(|k| k.is_error() && same_places(k, d));
        let new: Vec<Diagnostic> = found.into_iter().filter(|d| !known(d)).collect();
        diagnostics.extend(new);
    }
    let (mut runtime, mut refused) = runtime::prepare(chip, &program, registers, options);
    // Without its registers the program's calls have nothing to refer to.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.append(&mut refused);
    }
    if options.check_only {
        let missing = |d: &&mut Diagnostic| d.code == rules::UNSUPPORTED.code;
        diagnostics.iter_mut().filter(missing).for_each(|d| d.severity = Severity::Warning);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let blocks = pipelines[options.pipeline % pipelines.len()];
    runtime.duplicate(&ghost::duplicated(&program, &blocks, diagnostics));
    let [ip, ic, id, ep, ec, ed] = blocks.six;
    // The checks above see the program as it is written; what runs has what the compiler adds.
    resubmit_header::pad(&mut program, 8 * chip.front.resubmit_data as u32);
    omitted_parameters::complete(&mut program, [ip, ic, id]);
    omitted_parameters::complete(&mut program, [ep, ec, ed]);
    let interpreter = options.interpreter(validity_checks::with_guards(&program));
    let mut interpreter = interpreter.with_calls(&runtime::Stateless(&runtime));
    let mut ingress = Gress::new(&interpreter, ip, ic, id).reporting();
    if chip.drop_cancels_resubmit {
        ingress = ingress.cancelling();
    }
    let mut egress = Gress::new(&interpreter, ep, ec, ed).forgiving();
    let fronts = chip.front.bytes();
    for (gress, front) in [&mut ingress, &mut egress].into_iter().zip(fronts) {
        let unread = dead_fields::intrinsic_fields(&program, gress);
        interpreter.leave_unread(gress.parser.unit, |slot| unread.contains(&slot));
        gress.join(&mut interpreter, front, &unread, &runtime);
    }
    let fields = FrontFields::new(&chip.front, options.clock);
    let ghost = blocks.ghost.map(|unit| Box::new(GhostThread::new(&interpreter, unit)));
    let passes = Passes { ingress, egress, ghost };
    Some(Tofino::new(chip, Arc::new(program), interpreter, runtime, passes, fields))
}

/// True if two diagnostics mark the same places.
fn same_places(a: &Diagnostic, b: &Diagnostic) -> bool {
    let others = |d: &Diagnostic| d.labels.iter().map(|label| label.span).collect::<Vec<_>>();
    a.primary == b.primary && !a.labels.is_empty() && others(a) == others(b)
}

/// Compiles all registers; errors and warnings go to `diagnostics`.
fn registers(
    chip: &Chip,
    program: &Program,
    parity: ExponentParity,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<CompiledRegister> {
    let mut used: HashSet<ObjectId> = HashSet::new();
    visit::calls(program, &mut |_, call| used.extend(call.object));
    let mut compiled = Vec::new();
    for (index, object) in program.objects.iter().enumerate() {
        if !matches!(&*object.of, "Register" | "DirectRegister") {
            continue;
        }
        let id = ObjectId(index as u32);
        let is_used = |object| used.contains(&object);
        match register_action::compile(chip, program, id, &is_used, parity, diagnostics) {
            Ok(register) => compiled.push(register),
            Err(mut refused) => diagnostics.append(&mut refused),
        }
    }
    compiled
}

/// One access to a register for each packet and pass; no register in both passes.
fn check_accesses(program: &Program, blocks: &Blocks, diagnostics: &mut Vec<Diagnostic>) {
    let register_of = |call: &ExternCall| {
        let accesses = matches!(&*call.name, "execute" | "execute_log" | "read" | "write");
        register_action::register_of(program, call.object.filter(|_| accesses)?)
    };
    let mut first_use: BTreeMap<ObjectId, (bool, Span)> = BTreeMap::new();
    for (unit, pass) in blocks.units() {
        diagnostics.append(&mut access::check_unit(program, unit, &register_of));
        let egress = pass == 1;
        visit::unit_statements(program, unit, &mut |stmt| {
            let sojourn_p4::ir::StmtKind::Call(call) = &stmt.kind else { return };
            let Some(register) = register_of(call) else { return };
            let (other, first) = *first_use.entry(register).or_insert((egress, call.span));
            if other != egress {
                let name = &program.objects[register.index()].name;
                let message = format!("register `{name}` is used in ingress and in egress");
                let refused = rules::GRESSES.refuse(call.span, message);
                diagnostics.push(refused.with_place(first, "the other use").into());
            }
        });
    }
}
