//! The stateful ALU's instruction as data: compare units, four update ALUs, outputs.
//!
//! Every field is something the chip has a configuration bit for; nothing here executes. The
//! numbers in `from_code` and `code` are Tofino 1's encodings, which its vectors use. Tofino 1 has
//! the first two compare units and the first output, and none of the [`Special`] units.

/// Width of one half of a register entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// `bit<1>`: set, clear and read only.
    One,
    /// 8 bits.
    Eight,
    /// 16 bits.
    Sixteen,
    /// 32 bits.
    ThirtyTwo,
}

impl Width {
    /// The width of this many bits, if the unit has it.
    pub fn from_bits(bits: u32) -> Option<Width> {
        Some(match bits {
            1 => Width::One,
            8 => Width::Eight,
            16 => Width::Sixteen,
            32 => Width::ThirtyTwo,
            _ => return None,
        })
    }

    /// Number of bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Width::One => 1,
            Width::Eight => 8,
            Width::Sixteen => 16,
            Width::ThirtyTwo => 32,
        }
    }

    /// All bits of the width set.
    #[inline]
    pub const fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits())
    }

    /// The low bits of `value` as a signed number.
    #[inline]
    pub const fn sign_extend(self, value: u32) -> i32 {
        let unused = 32 - self.bits();
        ((value << unused) as i32) >> unused
    }
}

/// One of the two memory words that were fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOperand {
    /// The first half of the entry.
    Lo,
    /// The second half of the entry.
    Hi,
}

/// One of the two words that the match-input crossbar delivers from the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhvOperand {
    /// The first slot.
    Lo,
    /// The second slot.
    Hi,
}

/// A constant: four bits in the instruction, or a row of the register file that all actions of
/// the register share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// -8 to 7.
    Immediate(i8),
    /// Row 0 to 3.
    Row(u8),
}

impl Default for Constant {
    fn default() -> Constant {
        Constant::Immediate(0)
    }
}

/// Interpretation of a compare unit's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sense {
    /// `.s`: operands sign-extended, 35-bit sum.
    Signed,
    /// `.u`: operands zero-extended, 35-bit sum.
    Unsigned,
    /// `.uus`: only the low bits of the width, the topmost of them being the sign. This is
    /// serial-number comparison, right across a wrap-around.
    Modular,
}

/// The relation of the sum to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `> 0`
    Greater,
    /// `<= 0`
    LessEqual,
    /// `>= 0`
    GreaterEqual,
    /// `< 0`
    Less,
}

/// Operation of a compare unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// All 35 bits of the sum are zero.
    Equal,
    /// Some bit of the sum is set.
    NotEqual,
    /// An ordering.
    Order(Relation, Sense),
    /// The bits of the mask are equal in the memory word and the packet word, all 64 of them.
    Match(u64),
}

impl Opcode {
    /// The operation of a 4-bit code. The chip's tools use codes 2 and 3 for "off"; evaluated,
    /// they read like 10 and 11.
    pub fn from_code(code: u8) -> Opcode {
        let relation = match code & 3 {
            0 => Relation::Greater,
            1 => Relation::LessEqual,
            2 => Relation::GreaterEqual,
            _ => Relation::Less,
        };
        match code & 15 {
            0 => Opcode::Equal,
            1 => Opcode::NotEqual,
            4..=7 => Opcode::Order(relation, Sense::Signed),
            12..=15 => Opcode::Order(relation, Sense::Modular),
            _ => Opcode::Order(relation, Sense::Unsigned),
        }
    }
}

/// One compare unit: `(±mem) + (±phv) + constant` against zero, each term optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compare {
    /// Operation.
    pub opcode: Opcode,
    /// Memory term.
    pub mem: Option<MemoryOperand>,
    /// The memory term is subtracted.
    pub mem_negate: bool,
    /// Packet term.
    pub phv: Option<PhvOperand>,
    /// The packet term is subtracted.
    pub phv_negate: bool,
    /// Constant term.
    pub constant: Constant,
    /// Bits of the memory term and of the packet term that count.
    pub masks: [u32; 2],
}

impl Compare {
    /// Masks of a unit that looks at whole words.
    pub const WHOLE: [u32; 2] = [u32::MAX; 2];
}

/// Outcomes of the comparisons that enable a unit: bit `cmp0 + 2 * cmp1 + 4 * cmp2 + 8 * cmp3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateMask(pub u16);

impl PredicateMask {
    /// On whatever the comparisons say.
    pub const ALWAYS: PredicateMask = PredicateMask(u16::MAX);
    /// Never on.
    pub const NEVER: PredicateMask = PredicateMask(0);

    /// The outcomes in which a compare unit says yes.
    pub const fn unit(unit: usize) -> PredicateMask {
        PredicateMask([0xaaaa, 0xcccc, 0xf0f0, 0xff00][unit & 3])
    }

    /// One outcome of so many comparisons, whatever the other units say.
    pub const fn outcome(outcome: usize, comparisons: usize) -> PredicateMask {
        let repeated = if comparisons > 2 { 1 } else { 0x1111 };
        PredicateMask(repeated << outcome)
    }
}

/// Operand A of an update ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandA {
    /// A memory word as fetched.
    Memory(MemoryOperand),
    /// The ALU's constant.
    Constant,
}

/// Operand B of an update ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandB {
    /// A packet word.
    Phv(PhvOperand),
    /// The ALU's constant.
    Constant,
    /// The math unit's result; only ALU lo2 has the wire.
    Math,
}

/// Arithmetic of an update ALU, `a` and `b` being its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// Unsigned saturating `a + b`.
    SaturatingAddUnsigned,
    /// Signed saturating `a + b`.
    SaturatingAddSigned,
    /// Unsigned saturating `a - b`.
    SaturatingSubUnsigned,
    /// Signed saturating `a - b`.
    SaturatingSubSigned,
    /// Unsigned minimum.
    MinUnsigned,
    /// Signed minimum.
    MinSigned,
    /// Unsigned maximum.
    MaxUnsigned,
    /// Signed maximum.
    MaxSigned,
    /// Unsigned saturating `b - a`.
    SaturatingRsubUnsigned,
    /// Signed saturating `b - a`.
    SaturatingRsubSigned,
    /// `a + b` modulo the width.
    Add,
    /// `a - b` modulo the width.
    Sub,
    /// `b - a` modulo the width.
    Rsub,
    /// A code without a function (8, 9 and 13): the result is 0.
    Reserved,
}

impl ArithmeticOp {
    /// The operation of a 4-bit code.
    pub fn from_code(code: u8) -> ArithmeticOp {
        match code & 15 {
            0 => ArithmeticOp::SaturatingAddUnsigned,
            1 => ArithmeticOp::SaturatingAddSigned,
            2 => ArithmeticOp::SaturatingSubUnsigned,
            3 => ArithmeticOp::SaturatingSubSigned,
            4 => ArithmeticOp::MinUnsigned,
            5 => ArithmeticOp::MinSigned,
            6 => ArithmeticOp::MaxUnsigned,
            7 => ArithmeticOp::MaxSigned,
            10 => ArithmeticOp::SaturatingRsubUnsigned,
            11 => ArithmeticOp::SaturatingRsubSigned,
            12 => ArithmeticOp::Add,
            14 => ArithmeticOp::Sub,
            15 => ArithmeticOp::Rsub,
            _ => ArithmeticOp::Reserved,
        }
    }
}

/// Any boolean function of two bits, as its truth table: bit 0 for `!a & !b`, 1 for `!a & b`,
/// 2 for `a & !b`, 3 for `a & b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogicOp(pub u8);

impl LogicOp {
    /// All bits 0.
    pub const CLEAR: LogicOp = LogicOp(0b0000);
    /// `a & b`
    pub const AND: LogicOp = LogicOp(0b1000);
    /// `a | b`
    pub const OR: LogicOp = LogicOp(0b1110);
    /// `a ^ b`
    pub const XOR: LogicOp = LogicOp(0b0110);
    /// `a`
    pub const A: LogicOp = LogicOp(0b1100);
    /// `b`
    pub const B: LogicOp = LogicOp(0b1010);
    /// `!a`
    pub const NOT_A: LogicOp = LogicOp(0b0011);
    /// `!b`
    pub const NOT_B: LogicOp = LogicOp(0b0101);
    /// All bits 1.
    pub const SET: LogicOp = LogicOp(0b1111);
}

/// Operation of an update ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AluOp {
    /// Arithmetic.
    Arithmetic(ArithmeticOp),
    /// A boolean function.
    Logic(LogicOp),
}

/// One update ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// Operation.
    pub op: AluOp,
    /// Operand A.
    pub a: OperandA,
    /// Operand B.
    pub b: OperandB,
    /// The one constant of this ALU.
    pub constant: Constant,
    /// Outcomes in which the ALU is enabled.
    pub predicate: PredicateMask,
}

/// The word that leaves the stateful ALU towards the action data bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputSource {
    /// Memory as fetched.
    Memory(MemoryOperand),
    /// A packet word.
    Phv(PhvOperand),
    /// The new value of a half, or the fetched one if the half was not written.
    Alu(MemoryOperand),
    /// The outcome of the comparisons.
    Predicate,
    /// Code 7: no wire on this chip, which puts out 0.
    Nothing,
    /// The address of the entry.
    Address,
    /// The quotient of the division.
    Quotient,
    /// The remainder of the division.
    Remainder,
    /// The smallest or largest element, as it is before a change.
    Extreme,
    /// The number of that element.
    ExtremeIndex,
}

impl OutputSource {
    /// The source of a 3-bit code.
    pub fn from_code(code: u8) -> Option<OutputSource> {
        Some(match code {
            0 => OutputSource::Memory(MemoryOperand::Hi),
            1 => OutputSource::Memory(MemoryOperand::Lo),
            2 => OutputSource::Phv(PhvOperand::Hi),
            3 => OutputSource::Phv(PhvOperand::Lo),
            4 => OutputSource::Alu(MemoryOperand::Hi),
            5 => OutputSource::Alu(MemoryOperand::Lo),
            6 => OutputSource::Predicate,
            7 => OutputSource::Nothing,
            _ => return None,
        })
    }
}

/// The output of an instruction: 0 unless its predicate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Source of the output.
    pub source: OutputSource,
    /// Outcomes in which it is enabled.
    pub predicate: PredicateMask,
    /// One-bit registers only: the complement of the bit.
    pub complement: bool,
}

/// Position of the comparisons' outcome in the output word; one setting per register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredicateOutput {
    /// Position of the bit that is set if any selected outcome occurred.
    pub combined: u8,
    /// Position of the bits, one per outcome of the comparisons, or none.
    pub one_hot: Option<u8>,
}

impl PredicateOutput {
    /// The output word for those of the selected outcomes that occurred.
    #[inline]
    pub fn word(self, chosen: u16) -> u32 {
        let one_hot = self.one_hot.map_or(0, |shift| u32::from(chosen) << shift);
        u32::from(chosen != 0) << self.combined | one_hot
    }
}

impl Default for PredicateOutput {
    /// Configuration of the chip's compiler: the combined bit at 0, the four bits above it at 4.
    fn default() -> PredicateOutput {
        PredicateOutput { combined: 0, one_hot: Some(4) }
    }
}

/// A word that a division takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// A memory word as fetched.
    Memory(MemoryOperand),
    /// A packet word.
    Phv(PhvOperand),
    /// A constant.
    Constant(Constant),
}

/// A signed division of the low 16 bits of two words. It takes the place of ALU hi2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Division {
    /// Dividend.
    pub dividend: Word,
    /// Divisor.
    pub divisor: Word,
}

/// A number in an instruction, or one from the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A constant of the program.
    Constant(u16),
    /// A packet word.
    Phv(PhvOperand),
}

/// Change of the element that was found: it is limited to the element's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// By so much, at most 255.
    pub by: Number,
    /// Downwards.
    pub down: bool,
}

/// Search of the 128-bit word for its smallest or largest unsigned element; of equal ones the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    /// The largest one is looked for.
    pub largest: bool,
    /// Elements have 16 bits, otherwise 8.
    pub wide: bool,
    /// Elements that take part, as bits.
    pub mask: Number,
    /// Change of the element that was found.
    pub change: Option<Change>,
}

/// Units that Tofino 2 has besides comparisons and update ALUs. An action uses one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Quotient and remainder.
    Division(Division),
    /// Minimum or maximum, which leaves the update ALUs idle.
    Search(Search),
}

/// Output words of an instruction.
pub const OUTPUTS: usize = 4;

/// One of the (at most four) instructions of a stateful ALU: what one register action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Width of each half.
    pub width: Width,
    /// The entry has two halves, and the second is written back too.
    pub dual: bool,
    /// Compare units, the first two lo and hi; an absent one says no.
    pub compare: [Option<Compare>; 4],
    /// First ALU of the first half.
    pub lo1: Option<Update>,
    /// Second ALU of the first half.
    pub lo2: Option<Update>,
    /// First ALU of the second half.
    pub hi1: Option<Update>,
    /// Second ALU of the second half.
    pub hi2: Option<Update>,
    /// Input of the math unit: an operand of the packet or of memory.
    pub math_operand: OutputSource,
    /// The outputs that it has.
    pub outputs: [Option<Output>; OUTPUTS],
    /// Another unit that it uses.
    pub special: Option<Special>,
}

impl Instruction {
    /// An instruction that does nothing to an entry of this shape.
    pub fn idle(width: Width, dual: bool) -> Instruction {
        Instruction {
            width,
            dual,
            compare: [None; 4],
            lo1: None,
            lo2: None,
            hi1: None,
            hi2: None,
            math_operand: OutputSource::Memory(MemoryOperand::Lo),
            outputs: [None; OUTPUTS],
            special: None,
        }
    }
}
