//! Register actions, compiled to the instructions of a stateful ALU.
//!
//! A register with its actions becomes one [`CompiledRegister`]: the instructions, and their shared
//! settings. Uses the IR and `salu`. Must not depend on packets, tables or the time at which an
//! action runs. A construct without a mapping gives a diagnostic that names the rule of the chip
//! (see `rules`).
//!
//! | file | rules |
//! |---|---|
//! | `shape` | what an entry is |
//! | `body`, `term` | what the text says, outcome by outcome |
//! | `condition` | compare units |
//! | `update` | four update ALUs |
//! | `special` | division, and the search for a minimum or maximum |
//! | `output` | outputs |
//! | `one_bit` | registers of single bits |
//! | `resources` | what all actions of a register share |

mod body;
mod condition;
mod one_bit;
mod output;
mod resources;
mod shape;
mod special;
mod term;
mod update;

#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_tofino2;

use self::body::{Assignment, Destination, effects};
use self::resources::Resources;
use self::term::{Half, Term, TermKind};
use self::update::{HalfAlus, Value};
use crate::arguments;
use crate::chip::Chip;
use crate::math_unit::{ExponentParity, MathUnit};
use crate::rules::{self, Refusal};
use crate::salu::{Instruction, PredicateMask, Shared};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, Method, Object, ObjectId, Program, UnitId};
use sojourn_p4::types::Type;

pub use self::output::OutputFormat;
pub use self::resources::{Field, Row};
pub use self::shape::Shape;
pub(crate) use self::term::same_expression;

/// One action of a register.
#[derive(Clone, Debug)]
pub struct CompiledAction {
    /// The `RegisterAction` object; the register itself for its own `read` and `write`.
    pub object: ObjectId,
    /// Its name.
    pub name: String,
    /// The instruction.
    pub instruction: Instruction,
    /// Conversion of its outputs to the value of `execute` and to its out arguments. There is always
    /// a first one.
    pub formats: Vec<OutputFormat>,
    /// Its index counts whole words of memory.
    pub is_search: bool,
    /// The unit whose packets run it.
    pub unit: UnitId,
}

impl CompiledAction {
    /// A packet input of its register, if the action's unit has it.
    pub fn input<'a>(&self, fields: &'a [Field], at: usize) -> Option<&'a Expr> {
        fields.get(at).filter(|field| field.unit == self.unit).map(|field| &field.expr)
    }
}

/// A register with all its actions.
#[derive(Clone, Debug)]
pub struct CompiledRegister {
    /// The register.
    pub object: ObjectId,
    /// Its name for the control plane.
    pub name: String,
    /// Shape of an entry.
    pub shape: Shape,
    /// Number of entries; none for a direct register, which has one for each table entry.
    pub size: Option<usize>,
    /// Initial value of each entry.
    pub initial: [u64; 2],
    /// Constants, math unit, predicate output.
    pub shared: Shared,
    /// Contents of the register file's rows.
    pub rows: Vec<Row>,
    /// The packet inputs.
    pub fields: Vec<Field>,
    /// Its actions.
    pub actions: Vec<CompiledAction>,
    /// The unit whose packets it sees; none if no action is used.
    pub unit: Option<UnitId>,
}

/// Compiles one register and those of its actions that `used` says are called.
///
/// Warnings go to `warnings`; all errors of the register's actions are returned together.
pub fn compile(
    chip: &Chip,
    program: &Program,
    register: ObjectId,
    used: &dyn Fn(ObjectId) -> bool,
    parity: ExponentParity,
    warnings: &mut Vec<Diagnostic>,
) -> Result<CompiledRegister, Vec<Diagnostic>> {
    let object = &program.objects[register.index()];
    let entry = object.type_args.first().unwrap_or(&Type::Unknown);
    let is_used = used(register) || actions_of(program, register).any(|(id, _)| used(id));
    let shape = Shape::new(entry, chip.stateful_alu, object.span)
        .map_err(|refused| vec![refused.into()])?;
    if is_used && shape.word_bits() > chip.stateful_alu.widest {
        let message = "packets cannot access an entry of 64 bits, only the control plane can";
        return Err(vec![rules::ENTRY_TYPE.refuse(object.span, message).into()]);
    }
    let mut shared = Resources::new(chip, program, shape);
    let (mut actions, mut errors) = (Vec::new(), Vec::new());
    for (id, action) in actions_of(program, register).filter(|(id, _)| used(*id)) {
        match compile_action(program, id, action, shape, &mut shared) {
            Ok(compiled) => actions.push(compiled),
            Err(refused) => errors.push(refused.into()),
        }
        if actions.len() == 5 {
            errors.push(fifth_action(program, &actions).into());
        }
    }
    let unit = actions.first().and_then(|first: &CompiledAction| {
        program.objects[first.object.index()].unit.or(object.unit)
    });
    warnings.append(&mut shared.warnings);
    if !errors.is_empty() {
        return Err(errors);
    }
    let initial = initial(object);
    let size = match &*object.of {
        "DirectRegister" => None,
        _ => Some(arguments::integer(object, "size").map_err(|why| {
            vec![rules::EXTERN_ARGUMENT.refuse(object.span, format!("this register: {why}")).into()]
        })?),
    };
    if let Some(entries) = size {
        let most = REGISTER_BITS / shape.entry_bits() as usize;
        if entries > most {
            let message = format!("this register has {entries} entries, a stage holds {most}");
            return Err(vec![rules::EXTERN_ARGUMENT.refuse(object.span, message).into()]);
        }
    }
    Ok(CompiledRegister {
        object: register,
        name: object.name.to_string(),
        shape,
        size,
        initial: if shape.joined {
            halves(object)
        } else {
            initial.map(|word| word & shape.mask())
        },
        shared: share(&shared, program, parity),
        rows: shared.rows.iter().map(|(row, _)| *row).collect(),
        fields: shared.fields.into_iter().map(|(field, _)| field).collect(),
        actions,
        unit,
    })
}

/// An SRAM block: 1,024 words of 128 bits.
const BLOCK_BITS: usize = 1024 * 128;

/// Maximum size of a stage's counters and meters: each of their blocks uses one of the stage's 48
/// map RAMs.
pub const STAGE_BITS: usize = 48 * BLOCK_BITS;

/// Maximum size of a register: 35 blocks and a spare one. The compiler accepts 143,360 words of 32
/// bits and not one more.
const REGISTER_BITS: usize = 35 * BLOCK_BITS;

/// The externs whose `apply` is an instruction, without the number of outputs that some have behind.
const ACTIONS: [&str; 3] = ["RegisterAction", "DirectRegisterAction", SEARCH];
const SEARCH: &str = "MinMaxAction";

/// An extern's name without the number of its outputs.
fn action_name(of: &str) -> &str {
    of.trim_end_matches(['2', '3', '4'])
}

/// True for an extern with a stateful ALU's instruction.
pub(crate) fn is_action(of: &str) -> bool {
    ACTIONS.contains(&action_name(of))
}

/// True for such an extern whose `execute` takes no index: a table's entry has it.
pub(crate) fn is_direct_action(of: &str) -> bool {
    action_name(of) == ACTIONS[1]
}

/// The register actions that name `register` in their constructor.
pub fn actions_of(
    program: &Program,
    register: ObjectId,
) -> impl Iterator<Item = (ObjectId, &Object)> {
    program.objects.iter().enumerate().filter_map(move |(index, object)| {
        let mine = is_action(&object.of) && arguments::first_object(object) == Some(register);
        mine.then_some((ObjectId(index as u32), object))
    })
}

/// The register that an object accesses: itself, or the one that a register action names.
pub fn register_of(program: &Program, object: ObjectId) -> Option<ObjectId> {
    let accessing = &program.objects[object.index()];
    match &*accessing.of {
        "Register" | "DirectRegister" => Some(object),
        of if is_action(of) => arguments::first_object(accessing),
        _ => None,
    }
}

fn fifth_action(program: &Program, actions: &[CompiledAction]) -> Refusal {
    let place = |action: &CompiledAction| program.objects[action.object.index()].span;
    let refused = rules::ACTION_COUNT.refuse(place(&actions[4]), "a fifth action of one register");
    actions[..4].iter().fold(refused, |d, action| d.with_place(place(action), "another"))
}

fn initial(object: &Object) -> [u64; 2] {
    use num_traits::ToPrimitive;
    use sojourn_p4::ir::Const;
    let word = |value: &Const| {
        let number = arguments::number(value);
        number.and_then(|number| number.to_i128()).unwrap_or(0) as u64
    };
    match arguments::constant(object, "initial_value") {
        Some(Const::Aggregate(fields)) => {
            [fields.first().map_or(0, word), fields.get(1).map_or(0, word)]
        }
        Some(value) => [word(value), 0],
        None => [0, 0],
    }
}

/// The initial value of an entry whose two words are one number.
fn halves(object: &Object) -> [u64; 2] {
    use num_traits::ToPrimitive;
    let value = arguments::constant(object, "initial_value").and_then(arguments::number);
    let value = value.and_then(|number| number.to_u128()).unwrap_or(0);
    [value as u64, (value >> 64) as u64]
}

fn share(resources: &Resources<'_>, program: &Program, parity: ExponentParity) -> Shared {
    let mut rows = [0; 4];
    for (row, (content, _)) in rows.iter_mut().zip(&resources.rows) {
        *row = match content {
            Row::Constant(value) => *value as i64,
            Row::Parameter(object) => initial(&program.objects[object.index()])[0] as i64,
        };
    }
    Shared {
        rows,
        spare_bits: resources.chip.spare_row_bits,
        math: resources.math.as_ref().map_or_else(MathUnit::default, |(unit, _)| *unit),
        parity,
        predicate_output: resources.predicate_output(),
    }
}

fn compile_action<'p>(
    program: &'p Program,
    id: ObjectId,
    action: &'p Object,
    shape: Shape,
    shared: &mut Resources<'p>,
) -> Result<CompiledAction, Refusal> {
    let method = action.methods.iter().find(|method| &*method.name == "apply");
    let entry = match action.type_args.first() {
        // `RegisterAction<_, _, U>`: what `apply` takes.
        None | Some(Type::Unknown) => {
            method.and_then(|m| m.params.first()).map_or(&Type::Unknown, |param| &param.ty)
        }
        Some(entry) => entry,
    };
    if Shape::new(entry, shared.chip, action.span).ok() != Some(shape) {
        let message = format!("an action on `{entry}` for a register of another entry type");
        return Err(rules::ACTION_TYPE.refuse(action.span, message));
    }
    let (Some(method), Some(unit)) = (method, action.unit) else {
        let message = "a register action without an `apply` inside a control";
        return Err(rules::STATEMENT.refuse(action.span, message));
    };
    if let Some(other) = action.methods.iter().find(|other| &*other.name != "apply") {
        let message = format!("`{}` of a register action is not simulated", other.name);
        return Err(rules::UNSUPPORTED.refuse(other.span, message));
    }
    let is_search = action_name(&action.of) == SEARCH;
    shared.unit = unit;
    let effects = effects(program, &program.units[unit.index()], id, method, shape, shared)?;
    let mut instruction = Instruction::idle(shape.width, shape.dual);
    let formats = if shape.width.bits() == 1 && !is_search {
        one_bit::fit(&effects.outcomes[0], &mut instruction)?;
        vec![OutputFormat::Bits { low: 0, width: 1 }; method.params.len().max(2) - 1]
    } else {
        fit(&effects.outcomes, method, shape, shared, &mut instruction)?
    };
    instruction.compare = effects.units.into_units();
    let name = action.name.to_string();
    Ok(CompiledAction { object: id, name, instruction, formats, is_search, unit })
}

/// Fits the assignments of all outcomes to the ALUs and the outputs.
fn fit(
    outcomes: &[Vec<Assignment>],
    method: &Method,
    shape: Shape,
    shared: &mut Resources<'_>,
    instruction: &mut Instruction,
) -> Result<Vec<OutputFormat>, Refusal> {
    let lo_values = values(outcomes, Destination::Memory(Half::Lo), shared);
    let lo = update::fit_half(&lo_values, Half::Lo, shared)?;
    let mut hi = values(outcomes, Destination::Memory(Half::Hi), shared);
    instruction.special = special::fit(outcomes, shared)?;
    let mut formats = Vec::new();
    let mut words = output::Words::default();
    for number in 0..(method.params.len().max(2) - 1) {
        let fitted = fit_output(outcomes, method, number, !shape.dual, shared)?;
        instruction.outputs[number] = fitted.output;
        words.add(fitted.output.as_ref(), fitted.format, shape, method.span)?;
        if !fitted.second_half.is_empty() && !hi.is_empty() {
            let message = "a second output that needs an ALU of its own";
            return Err(rules::OUTPUT_FORM.refuse(fitted.second_half[0].term.span, message));
        }
        hi.extend(fitted.second_half);
        formats.push(fitted.format);
    }
    let hi = update::fit_half(&hi, Half::Hi, shared)?;
    let HalfAlus { first, second, math_operand } = lo;
    (instruction.lo1, instruction.lo2) = (first, second);
    (instruction.hi1, instruction.hi2) = (hi.first, hi.second);
    if let Some(operand) = math_operand {
        instruction.math_operand = operand;
    }
    special::check_alus(instruction, method.span)?;
    Ok(formats)
}

fn fit_output(
    outcomes: &[Vec<Assignment>],
    method: &Method,
    number: usize,
    free: bool,
    shared: &mut Resources<'_>,
) -> Result<output::Fitted, Refusal> {
    let to = Destination::Output(number);
    let values = values(outcomes, to, shared);
    let param = method.params.get(1 + number);
    let ty = param.map_or(&Type::Void, |param| &param.ty);
    if matches!(ty, Type::Enum(_)) {
        let member = |outcome: &Vec<Assignment>| {
            let last = outcome.iter().rev().find(|a| a.to == to);
            match last.map(|assignment| &assignment.term.kind) {
                Some(TermKind::Constant(member)) => *member as u32,
                _ => 0,
            }
        };
        // Fewer outcomes than 16 are repeated: those of units that the chip has not are all the same.
        let members = std::array::from_fn(|at| member(&outcomes[at % outcomes.len()]));
        return output::fit_member(members, method.span, shared);
    }
    let width = match param.map(|param| &param.layout) {
        Some(sojourn_p4::ir::Layout::Narrow(_, scalar)) => scalar.width(),
        _ => 32,
    };
    output::fit(&values, &in_order(outcomes, to), width, free, shared)
}

/// The terms of the output in the order of the text; none if one statement has several of them.
fn in_order(outcomes: &[Vec<Assignment>], to: Destination) -> Vec<&Term> {
    let mut assignments: Vec<&Assignment> =
        outcomes.iter().flatten().filter(|a| a.to == to).collect();
    assignments.sort_by_key(|assignment| assignment.statement);
    assignments.dedup_by(|a, b| a.statement == b.statement && a.term == b.term);
    if assignments.windows(2).any(|pair| pair[0].statement == pair[1].statement) {
        return Vec::new();
    }
    assignments.into_iter().map(|assignment| &assignment.term).collect()
}

/// The different values that go to one destination, each with the outcomes in which it does.
fn values(outcomes: &[Vec<Assignment>], to: Destination, shared: &Resources<'_>) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut in_text: Vec<(usize, &Term, u16)> = Vec::new();
    let units = shared.chip.comparisons;
    for (outcome, assignments) in outcomes.iter().enumerate() {
        for assignment in assignments.iter().filter(|assignment| assignment.to == to) {
            let mask = PredicateMask::outcome(outcome, units).0;
            in_text.push((assignment.statement, &assignment.term, mask));
        }
    }
    in_text.sort_by_key(|(statement, _, _)| *statement);
    for (_, term, mask) in in_text {
        match values.iter_mut().find(|value| value.term == *term) {
            Some(value) => value.mask.0 |= mask,
            None => values.push(Value { term: term.clone(), mask: PredicateMask(mask) }),
        }
    }
    values
}
