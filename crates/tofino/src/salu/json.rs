//! Raw stateful-ALU configurations as JSON: the format of the design-verification vectors.
//!
//! A `setup` holds the instructions of an ALU and their shared settings; a `case` names one of
//! them, the packet operands and a 128-bit RAM word. External test vectors can be run through
//! [`run_salu_json`].

use super::execute::{Fetched, Shared, execute};
use super::instruction::{
    AluOp, ArithmeticOp, Compare, Constant, Instruction, LogicOp, MemoryOperand, Opcode, OperandA,
    OperandB, Output, OutputSource, PhvOperand, PredicateMask, PredicateOutput, Update, Width,
};
use crate::math_unit::{Exponent, ExponentParity, MathUnit};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// Reason why a configuration or a case could not be run.
#[derive(Debug, Error)]
pub enum SaluJsonError {
    /// The setup does not have the expected form.
    #[error("setup: {0}")]
    Setup(serde_json::Error),
    /// The case does not have the expected form.
    #[error("case: {0}")]
    Case(serde_json::Error),
    /// A number that the chip has no encoding for.
    #[error("{what} is {value}; {allowed}")]
    OutOfRange {
        /// The field.
        what: &'static str,
        /// Value that was given.
        value: i64,
        /// Allowed values.
        allowed: &'static str,
    },
    /// Something that should be hexadecimal digits.
    #[error("case: {what} is \"{text}\", not a hexadecimal number of at most {digits} digits")]
    NotHex {
        /// The field.
        what: &'static str,
        /// Text that was given.
        text: String,
        /// Maximum number of digits.
        digits: usize,
    },
}

#[derive(Deserialize)]
struct RawSetup {
    const_regfile: [u32; 4],
    math_table: [u8; 16],
    math_unit: RawMathUnit,
    predicate_output: RawPredicateOutput,
    instructions: Vec<RawInstruction>,
}

#[derive(Deserialize)]
struct RawMathUnit {
    scale: i8,
    invert: bool,
    shift: i8,
}

#[derive(Deserialize)]
struct RawPredicateOutput {
    comb: u8,
    psh: u8,
}

#[derive(Deserialize)]
struct RawInstruction {
    width: u32,
    dual: bool,
    lo2_b_is_math: bool,
    math_source: RawOperand,
    compare: Vec<RawCompare>,
    update: RawUpdates,
    output: RawOutput,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum RawOperand {
    MemLo,
    MemHi,
    PhvLo,
    PhvHi,
    Const,
}

#[derive(Deserialize)]
struct RawCompare {
    unit: RawUnit,
    opcode: u8,
    mem: Option<RawOperand>,
    mem_negate: bool,
    phv: Option<RawOperand>,
    phv_negate: bool,
    const_src: u8,
    const_from_regfile: bool,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum RawUnit {
    Lo,
    Hi,
}

#[derive(Deserialize)]
struct RawUpdates {
    lo1: Option<RawUpdate>,
    lo2: Option<RawUpdate>,
    hi1: Option<RawUpdate>,
    hi2: Option<RawUpdate>,
}

#[derive(Deserialize)]
struct RawUpdate {
    op: u8,
    arith: bool,
    predicate: u8,
    a: RawOperand,
    b: RawOperand,
    const_src: u8,
    const_from_regfile: bool,
}

#[derive(Deserialize)]
struct RawOutput {
    predicate: u8,
    source: u8,
    #[serde(default)]
    complement: bool,
}

#[derive(Deserialize)]
struct RawCase {
    instruction: usize,
    bit_offset: u32,
    phv: String,
    word: String,
    #[serde(default)]
    math_unit: ExponentParity,
}

/// Runs one instruction of `setup` on the operands of `case`.
///
/// Returns the new 128-bit RAM word and the 32-bit output. Expectations in the case are not read.
/// A case may hold `"math_unit": "paper"` for the other parity of the math unit.
pub fn run_salu_json(setup: &Value, case: &Value) -> Result<(u128, u32), SaluJsonError> {
    let setup = RawSetup::deserialize(setup).map_err(SaluJsonError::Setup)?;
    let case = RawCase::deserialize(case).map_err(SaluJsonError::Case)?;
    let raw = setup.instructions.get(case.instruction).ok_or(SaluJsonError::OutOfRange {
        what: "case: instruction",
        value: case.instruction as i64,
        allowed: "the setup has fewer instructions (they are counted from 0)",
    })?;
    let instruction = raw.convert()?;
    let phv = hex("phv", &case.phv, 16)? as u64;
    let word = hex("word", &case.word, 32)?;
    let slots = Slots::new(&instruction, case.bit_offset)?;
    let (shared, at) = (setup.shared(case.math_unit)?, slots.fetch(word, phv));
    let done = execute(&instruction, &shared, &at);
    Ok((slots.store(word, done.lo, done.hi), done.outputs[0] as u32))
}

/// Position of an entry in its RAM word.
struct Slots {
    base: u32,
    width: Width,
}

impl Slots {
    fn new(instruction: &Instruction, bit_offset: u32) -> Result<Slots, SaluJsonError> {
        check("case: bit_offset", bit_offset.into(), 0..=127, "a RAM word has bits 0 to 127")?;
        let width = instruction.width;
        let entry = width.bits() << u32::from(instruction.dual);
        Ok(Slots { base: bit_offset / entry * entry, width })
    }

    fn fetch(&self, word: u128, phv: u64) -> Fetched {
        let mask = u64::from(self.width.mask());
        let bits = self.width.bits();
        Fetched {
            mem_lo: (word >> self.base) as u64 & mask,
            mem_hi: word.checked_shr(self.base + bits).unwrap_or(0) as u64 & mask,
            phv_lo: phv & mask,
            phv_hi: (phv >> bits) & mask,
            ..Fetched::default()
        }
    }

    fn store(&self, word: u128, lo: Option<u64>, hi: Option<u64>) -> u128 {
        let put = |word: u128, at: u32, value: Option<u64>| match value {
            Some(value) => word & !(u128::from(self.width.mask()) << at) | u128::from(value) << at,
            None => word,
        };
        let word = put(word, self.base, lo);
        if hi.is_some() { put(word, self.base + self.width.bits(), hi) } else { word }
    }
}

impl RawSetup {
    fn shared(&self, parity: ExponentParity) -> Result<Shared, SaluJsonError> {
        let exponent = match self.math_unit.shift {
            -1 => Exponent::Half,
            0 => Exponent::Same,
            1 => Exponent::Double,
            value => {
                return Err(SaluJsonError::OutOfRange {
                    what: "setup: math_unit.shift",
                    value: value.into(),
                    allowed: "it is -1, 0 or 1",
                });
            }
        };
        let scale = self.math_unit.scale;
        check("setup: math_unit.scale", scale.into(), -32..=31, "it is -32 to 31")?;
        let RawPredicateOutput { comb, psh } = self.predicate_output;
        check("setup: predicate_output.comb", comb.into(), 0..=31, "it is 0 to 31")?;
        check("setup: predicate_output.psh", psh.into(), 0..=7, "it is 0 to 7")?;
        Ok(Shared {
            rows: self.const_regfile.map(i64::from),
            spare_bits: 0,
            math: MathUnit {
                invert: self.math_unit.invert,
                exponent,
                scale,
                table: self.math_table,
            },
            parity,
            predicate_output: PredicateOutput {
                combined: comb,
                one_hot: (psh < 7).then_some(4 * (1 + psh)),
            },
        })
    }
}

impl RawInstruction {
    fn convert(&self) -> Result<Instruction, SaluJsonError> {
        let width = Width::from_bits(self.width).ok_or(SaluJsonError::OutOfRange {
            what: "setup: width",
            value: self.width.into(),
            allowed: "a register is 1, 8, 16 or 32 bits wide",
        })?;
        let mut instruction = Instruction::idle(width, self.dual);
        for raw in &self.compare {
            instruction.compare[raw.unit as usize] = Some(raw.convert()?);
        }
        let update =
            |raw: &Option<RawUpdate>, math| raw.as_ref().map(|raw| raw.convert(math)).transpose();
        instruction.lo1 = update(&self.update.lo1, false)?;
        instruction.lo2 = update(&self.update.lo2, self.lo2_b_is_math)?;
        instruction.hi1 = update(&self.update.hi1, false)?;
        instruction.hi2 = update(&self.update.hi2, false)?;
        instruction.math_operand = match self.math_source {
            RawOperand::MemLo => OutputSource::Memory(MemoryOperand::Lo),
            RawOperand::MemHi => OutputSource::Memory(MemoryOperand::Hi),
            RawOperand::PhvLo => OutputSource::Phv(PhvOperand::Lo),
            RawOperand::PhvHi => OutputSource::Phv(PhvOperand::Hi),
            RawOperand::Const => return Err(wrong_operand("setup: math_source")),
        };
        instruction.outputs[0] = Some(self.output.convert()?);
        Ok(instruction)
    }
}

impl RawCompare {
    fn convert(&self) -> Result<Compare, SaluJsonError> {
        check("setup: compare opcode", self.opcode.into(), 0..=15, "it is 0 to 15")?;
        let mem = match self.mem {
            None => None,
            Some(RawOperand::MemLo) => Some(MemoryOperand::Lo),
            Some(RawOperand::MemHi) => Some(MemoryOperand::Hi),
            Some(_) => return Err(wrong_operand("setup: compare mem")),
        };
        let phv = match self.phv {
            None => None,
            Some(RawOperand::PhvLo) => Some(PhvOperand::Lo),
            Some(RawOperand::PhvHi) => Some(PhvOperand::Hi),
            Some(_) => return Err(wrong_operand("setup: compare phv")),
        };
        Ok(Compare {
            opcode: Opcode::from_code(self.opcode),
            mem,
            mem_negate: self.mem_negate,
            phv,
            phv_negate: self.phv_negate,
            constant: constant(self.const_src, self.const_from_regfile)?,
            masks: Compare::WHOLE,
        })
    }
}

impl RawUpdate {
    fn convert(&self, b_is_math: bool) -> Result<Update, SaluJsonError> {
        check("setup: update op", self.op.into(), 0..=15, "it is 0 to 15")?;
        let a = match self.a {
            RawOperand::MemLo => OperandA::Memory(MemoryOperand::Lo),
            RawOperand::MemHi => OperandA::Memory(MemoryOperand::Hi),
            RawOperand::Const => OperandA::Constant,
            _ => return Err(wrong_operand("setup: update a")),
        };
        let b = match self.b {
            _ if b_is_math => OperandB::Math,
            RawOperand::PhvLo => OperandB::Phv(PhvOperand::Lo),
            RawOperand::PhvHi => OperandB::Phv(PhvOperand::Hi),
            RawOperand::Const => OperandB::Constant,
            _ => return Err(wrong_operand("setup: update b")),
        };
        Ok(Update {
            op: if self.arith {
                AluOp::Arithmetic(ArithmeticOp::from_code(self.op))
            } else {
                AluOp::Logic(LogicOp(self.op))
            },
            a,
            b,
            constant: constant(self.const_src, self.const_from_regfile)?,
            predicate: predicate(self.predicate)?,
        })
    }
}

impl RawOutput {
    fn convert(&self) -> Result<Output, SaluJsonError> {
        let source = OutputSource::from_code(self.source).ok_or(SaluJsonError::OutOfRange {
            what: "setup: output source",
            value: self.source.into(),
            allowed: "it is 0 to 7",
        })?;
        let predicate = predicate(self.predicate)?;
        Ok(Output { source, predicate, complement: self.complement })
    }
}

/// Four bits: an immediate in two's complement, or (its low two bits) a row of the register file.
fn constant(source: u8, from_regfile: bool) -> Result<Constant, SaluJsonError> {
    check("setup: const_src", source.into(), 0..=15, "it is 0 to 15")?;
    if from_regfile {
        return Ok(Constant::Row(source & 3));
    }
    Ok(Constant::Immediate(if source < 8 { source as i8 } else { source as i8 - 16 }))
}

fn predicate(mask: u8) -> Result<PredicateMask, SaluJsonError> {
    check("setup: predicate", mask.into(), 0..=15, "it has four bits")?;
    Ok(PredicateMask(u16::from(mask) * 0x1111))
}

fn wrong_operand(what: &'static str) -> SaluJsonError {
    use serde::de::Error as _;
    SaluJsonError::Setup(serde_json::Error::custom(format!(
        "{} cannot be taken from there on this chip",
        what.trim_start_matches("setup: ")
    )))
}

fn check(
    what: &'static str,
    value: i64,
    range: std::ops::RangeInclusive<i64>,
    allowed: &'static str,
) -> Result<(), SaluJsonError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SaluJsonError::OutOfRange { what, value, allowed })
}

fn hex(what: &'static str, text: &str, digits: usize) -> Result<u128, SaluJsonError> {
    let fits = text.len() <= digits && !text.starts_with('+');
    u128::from_str_radix(text, 16).ok().filter(|_| fits).ok_or_else(|| SaluJsonError::NotHex {
        what,
        text: text.to_owned(),
        digits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setup(width: u32, dual: bool) -> Value {
        let off = json!({"op": 0, "arith": false, "predicate": 0, "a": "const", "b": "const",
                         "const_src": 0, "const_from_regfile": false});
        let increment = json!({"op": 12, "arith": true, "predicate": 15, "a": "mem_lo",
                               "b": "const", "const_src": 1, "const_from_regfile": false});
        json!({
            "const_regfile": [0, 0, 0, 0],
            "math_table": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "math_unit": {"scale": 0, "invert": false, "shift": 0},
            "predicate_output": {"comb": 0, "psh": 0},
            "instructions": [{
                "width": width, "dual": dual, "lo2_b_is_math": false, "math_source": "mem_lo",
                "compare": [],
                "update": {"lo1": increment, "lo2": off, "hi1": off, "hi2": off},
                "output": {"predicate": 15, "source": 1},
            }],
        })
    }

    fn case(bit_offset: u32, word: &str) -> Value {
        json!({"instruction": 0, "bit_offset": bit_offset, "phv": "0", "word": word})
    }

    #[test]
    fn only_the_addressed_entry_of_the_word_changes() {
        let ask = |width, dual, offset| {
            let word = "ffffffffffffffffffffffffffffffff";
            run_salu_json(&setup(width, dual), &case(offset, word)).unwrap()
        };
        assert_eq!(ask(8, false, 15), (u128::MAX - 0xff00, 0xff));
        assert_eq!(ask(16, true, 127), (u128::MAX - (0xffff << 96), 0xffff));
        assert_eq!(ask(32, false, 127), (u128::MAX >> 32, 0xffff_ffff));
        assert_eq!(ask(1, false, 3), (u128::MAX - 8, 1));
    }

    #[test]
    fn output_source_7_puts_out_zero() {
        let mut setup = setup(8, false);
        setup["instructions"][0]["output"]["source"] = json!(7);
        assert_eq!(run_salu_json(&setup, &case(0, "41")).unwrap(), (0x42, 0));
        setup["instructions"][0]["output"]["source"] = json!(8);
        let message = run_salu_json(&setup, &case(0, "41")).unwrap_err().to_string();
        assert_eq!(message, "setup: output source is 8; it is 0 to 7");
    }

    #[test]
    fn an_error_in_a_field_names_the_allowed_values() {
        let complain =
            |setup: &Value, case: &Value| run_salu_json(setup, case).unwrap_err().to_string();
        let good = setup(8, false);
        assert_eq!(
            complain(&setup(12, false), &case(0, "0")),
            "setup: width is 12; a register is 1, 8, 16 or 32 bits wide"
        );
        assert_eq!(
            complain(&good, &case(128, "0")),
            "case: bit_offset is 128; a RAM word has bits 0 to 127"
        );
        assert_eq!(
            complain(&good, &case(0, "xyz")),
            "case: word is \"xyz\", not a hexadecimal number of at most 32 digits"
        );
        let mut missing = good.clone();
        missing.as_object_mut().unwrap().remove("math_unit");
        assert_eq!(complain(&missing, &case(0, "0")), "setup: missing field `math_unit`");
        let mut odd = good.clone();
        odd["instructions"][0]["update"]["lo1"]["a"] = json!("phv_lo");
        assert_eq!(
            complain(&odd, &case(0, "0")),
            "setup: update a cannot be taken from there on this chip"
        );
    }

    #[test]
    fn a_case_may_ask_for_the_papers_math_unit() {
        let mut setup = setup(32, false);
        setup["math_table"][4] = json!(9);
        setup["math_table"][8] = json!(5);
        setup["math_unit"]["shift"] = json!(-1);
        let instruction = &mut setup["instructions"][0];
        instruction["lo2_b_is_math"] = json!(true);
        instruction["update"]["lo1"]["predicate"] = json!(0);
        instruction["update"]["lo2"] = json!({"op": 10, "arith": false, "predicate": 15,
            "a": "mem_lo", "b": "const", "const_src": 0, "const_from_regfile": false});
        let mut case = case(0, "1");
        assert_eq!(run_salu_json(&setup, &case).unwrap().0, 5);
        case["math_unit"] = json!("paper");
        assert_eq!(run_salu_json(&setup, &case).unwrap().0, 9);
    }
}
