//! The rules of the chip that a program can break, each with its code, its reason and its cure.
//!
//! A diagnostic names the rule it is about; the reason on the silicon and the suggestion come from
//! here, so that every message about a rule gives the same ones. Codes: `T01` register entries,
//! `T02` comparisons, `T03` updates, `T04` outputs, `T05` what a register's actions share, `T06`
//! statements, `T07` accesses to registers, `T08` programs, `T09` deparsers.

use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::source::Span;

/// A rule of the chip.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable code.
    pub code: &'static str,
    /// The rule in one line.
    pub title: &'static str,
    /// Why the silicon has it.
    pub reason: &'static str,
    /// What to do instead.
    pub cure: &'static str,
}

/// Why a program is refused: an error that is cheap to hand upwards.
#[derive(Debug)]
pub struct Refusal(Box<Diagnostic>);

impl Refusal {
    /// Another place that matters.
    #[must_use]
    pub fn with_place(self, span: Span, text: impl Into<String>) -> Refusal {
        Refusal(Box::new(self.0.with_place(span, text)))
    }

    /// Words beside the mark at the primary place.
    #[must_use]
    pub fn with_label(self, text: impl Into<String>) -> Refusal {
        Refusal(Box::new(self.0.with_label(text)))
    }
}

impl From<Refusal> for Diagnostic {
    fn from(refusal: Refusal) -> Diagnostic {
        *refusal.0
    }
}

impl Rule {
    /// An error about this rule, with its reason and cure.
    pub fn refuse(&'static self, span: Span, message: impl Into<String>) -> Refusal {
        let error = Diagnostic::error(self.code, span, message);
        Refusal(Box::new(error.with_note(self.reason).with_help(self.cure)))
    }

    /// A warning about this rule, with its reason and cure.
    pub fn warning(&'static self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(self.code, span, message).with_note(self.reason).with_help(self.cure)
    }
}

macro_rules! rules {
    ($($name:ident $code:literal $title:literal $reason:literal $cure:literal)*) => {
        $(#[doc = $title]
        pub static $name: Rule = Rule { code: $code, title: $title, reason: $reason, cure: $cure };)*

        /// All rules in the order of their codes.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    ENTRY_TYPE "T0101" "a register entry is one or two words of 1, 8, 16 or 32 bits"
        "the memory word of a stateful ALU is cut into entries of 8, 16 or 32 bits, single or in pairs, or single bits"
        "use `bit<1>`, `bit`/`int` of 8, 16 or 32 bits, or a struct of two fields of one such type"
    ACTION_TYPE "T0102" "a register action has the entry type of its register"
        "the action's instruction runs on the memory that the register lays out"
        "give the action the same entry type as the register"

    COMPARISONS "T0201" "a register action makes at most two comparisons"
        "a stateful ALU has two compare units, and every condition of the action is a function of their two answers"
        "compute a condition before, in another stage, and hand its result in as a field; or split the state over two registers"
    COMPARE_TERMS "T0202" "a comparison has at most one memory word, one packet field and one constant"
        "a compare unit adds up one memory word, one packet word and one constant, each at most once, and looks at the sum"
        "compute the difference of two packet fields in an action of an earlier stage"
    COMPARE_SHAPE "T0203" "a comparison is a sum against zero"
        "a compare unit adds and subtracts; it has no masks, no shifts and no boolean functions"
        "put the masked or combined value into a metadata field first and compare that"
    COMPARE_SLICE "T0204" "a comparison looks at the whole memory word"
        "a compare unit takes the memory word as it is, not some of its bits"
        "keep the bits that are compared in a register of their own"
    COMPARE_NARROW "T0205" "a modular comparison has the width of the register"
        "the unit takes the top bit of the register's width for the sign; a narrower difference has its sign elsewhere"
        "use a register of the width of the operands, or widen them before"
    COMPARE_CONSTANT "T0206" "the constant of a comparison fits 32 signed bits"
        "constants of a stateful ALU lie in 32-bit rows and are sign-extended in a comparison"
        "compare with a smaller number, for instance of coarser units, or compare a difference"
    COMPARE_CONSTANT_CUT "T0207" "the constant of a comparison fits the register's width as a signed number"
        "in 8-bit and 16-bit mode the unit keeps that many bits of the constant and sign-extends them"
        "use a wider register, or a packet field for the number"

    TWO_VALUES "T0301" "at most two different values are computed for each half of an entry"
        "each half of the entry has two update ALUs, whose results are OR-ed; each computes one value when its predicate holds"
        "let branches compute the same value from different inputs, or split the state over two registers"
    EXCLUSIVE_WRITES "T0302" "each half of an entry is assigned once on a path"
        "all ALUs work at the same time; the results of two that are on are OR-ed, the later does not win"
        "put the assignments into the branches of one if/else"
    ONE_OPERATOR "T0303" "an update is one operation"
        "an update ALU does one operation on two operands; only the OR of two such results is free, as the two ALUs of a half are OR-ed"
        "compute a part of the expression in an action of an earlier stage"
    MEMORY_WITH_MEMORY "T0304" "the two halves of an entry cannot be combined"
        "operand A of an update ALU is memory or a constant, operand B a packet field, a constant or the math unit's result"
        "hand one of the two out, combine them in a later stage, and write back with another packet"
    FIELD_WITH_FIELD "T0305" "two packet fields cannot be combined"
        "only operand B of an update ALU can be a packet field"
        "combine the fields in an action of an earlier stage"
    ONE_CONSTANT "T0306" "an update uses one constant"
        "each update ALU selects one immediate or one row of the register file"
        "fold the constants into one, or hand one of them in as a packet field"
    MATH_HALF "T0307" "the math unit's result goes to the first half of an entry"
        "only the second ALU of the first half has a wire from the math unit"
        "swap the two fields of the entry"
    MATH_WITH_FIELD "T0308" "the math unit's result is added to memory or a constant only"
        "the math unit takes the place of the packet field, as operand B of its ALU"
        "write the bare result into the register, hand it out, and add the field in a later stage"
    UPDATE_OPERATION "T0309" "update ALUs add, subtract, take minimum or maximum, and do boolean functions"
        "a stateful ALU of Tofino 1 has no shifter, multiplier or divider"
        "shift by a constant in an action of another stage; use a MathUnit or a match table for products and quotients"
    CUT_RESULT "T0310" "an update writes the whole word"
        "a result is stored as wide as the register; some of its bits cannot be picked"
        "use a register of the width that is wanted, or mask with `&`"
    FIELD_WIDTH "T0311" "a packet field is at most as wide as the register"
        "the packet inputs of the ALU have the width of the register"
        "take a slice of the field, or use a wider register"
    MATH_OPERAND "T0312" "the math unit reads memory or a packet field"
        "its input comes from the fetched memory words or the packet inputs, not from a constant or another ALU"
        "put the operand into a metadata field before"
    OLD_VALUE "T0350" "reading an entry after assigning to it gives the old value"
        "all parts of the ALU work at the same time on the words that were fetched; only an output can show the new value"
        "read first and assign last, so that the text says what the chip does"
    BOTH_WRITE "T0351" "two assignments to one half can happen together"
        "the results of two ALUs that are on are OR-ed"
        "put the assignments into the branches of one if/else"

    OUTPUT_SOURCES "T0401" "one action always puts out the same thing"
        "the output of an instruction is wired to one source; it can only be switched off, which gives 0"
        "put out one value, or give a register of one word so that its free second half can choose between two"
    OUTPUT_READ "T0402" "the output cannot be read back"
        "the output word leaves the ALU; nothing inside sees it"
        "use the expression itself a second time"
    OUTPUT_FORM "T0403" "an output is memory, a field, an updated half, or the outcome of the comparisons"
        "a register of two words has no ALU left for a value of its own; a power of two can come from the comparisons"
        "put out a condition or a half of the entry, and compute the rest in a later stage"
    ONE_OUTPUT "T0404" "an action has one output"
        "the stateful ALU of Tofino 1 has one 32-bit output"
        "keep the second value in a register of its own, or put out the predicate and compute both later"
    OUTPUT_CONSTANTS "T0405" "outputs of a register's actions share the predicate's place"
        "where the outcome of the comparisons lies in the output word is one setting for all actions of a register"
        "use the same constant for all of them, such as 1"
    PREDICATE_FIRST "T0406" "the arguments of predicate() are the action's first comparisons"
        "its first argument is the first compare unit, its second argument the second"
        "call `this.predicate` before the other conditions"

    FIELD_INPUTS "T0501" "all actions of a register together use at most two packet fields"
        "the input crossbar brings two words from the packet to a stateful ALU, at places that are the same for all actions"
        "copy the fields into the same metadata field before, in exclusive branches, so that the actions share it"
    CONSTANT_ROWS "T0502" "all actions of a register together use at most four large constants and parameters"
        "constants outside -8..7 and RegisterParams lie in a register file of four rows"
        "use fewer constants, or hand some of them in as packet fields"
    ACTION_COUNT "T0503" "a register has at most four actions"
        "a stateful ALU holds four instructions"
        "merge actions, choosing between their updates by a packet field"
    MATH_UNITS "T0504" "a register has one math unit"
        "a stateful ALU has one table and one set of controls for it"
        "use one MathUnit for all actions of the register"
    PARAMETER_USE "T0505" "a RegisterParam stands alone"
        "a parameter is a row of the register file, used as the one constant of an ALU or compare unit"
        "use the parameter by itself or as one operand"

    STATEMENT "T0601" "a register action consists of assignments, if/else and ?:"
        "the body becomes one instruction, in which everything happens at the same time"
        "move everything else out of the register action"
    CALL "T0602" "a register action can only call MathUnit.execute, RegisterParam.read, min, max and predicate"
        "an instruction has no other units"
        "call it before and hand its result in as a field"
    ONE_BIT "T0603" "a one-bit register is set, cleared or read"
        "single-bit entries have their own small ALU: no comparison, no input from the packet"
        "use a register of bit<8> for anything else"
    OUTSIDE_WRITE "T0604" "a register action writes its entry and its output only"
        "an instruction reads packet fields but writes none"
        "assign to the output and copy it where `execute` is called"

    ONE_ACCESS "T0701" "a packet accesses a register once in a pass"
        "a register lives in one stage, and its ALU runs once for each packet that passes"
        "make the two calls exclusive (if/else), merge them into one register action, or use two registers"
    GRESSES "T0702" "a register belongs to ingress or to egress"
        "a stateful ALU is wired to one of the two passes"
        "use one register in each"
    READ_AND_WRITE "T0703" "Register.read and Register.write in one pass are one access"
        "both happen in the one instruction that runs for the packet"
        "write a RegisterAction that does both"

    ONE_INDEX "T0704" "the registers and meters of one table action share an index"
        "a table has one address bus for the stateful ALUs and meters that its actions use"
        "put the accesses into actions of two tables, or called one after the other"

    ARCHITECTURE "T0801" "the program is for the Tofino Native Architecture"
        "the blocks of a program and the order of their parameters belong to an architecture"
        "include tna.p4 and give `main` as `Switch(Pipeline(...))`"
    PIPELINE "T0802" "a pipeline has six blocks with the parameters of TNA"
        "parser, match-action pipeline and deparser of ingress and of egress"
        "give `Pipeline` the six blocks in the order of tna.p4"
    EXTERN_ARGUMENT "T0803" "the argument of an extern is one that the chip can be configured with"
        "the extern is a block of the chip whose configuration has limits"
        "see the note above"
    UNSUPPORTED "T0804" "a part of the architecture that is not simulated"
        "the program asks for something this tool does not have yet"
        "leave it out for the simulation, for instance under an #ifdef"

    MIRROR_HEADER "T0901" "a mirror header is at most 32 bytes of whole bytes"
        "the mirror unit has 32 bytes for it"
        "carry fewer fields"
    RESUBMIT_HEADER "T0902" "resubmitted metadata is at most 8 bytes"
        "the path back to the ingress buffer carries 64 bits"
        "carry fewer fields"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(ALL.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn no_title_ends_in_a_stop() {
        for rule in ALL {
            for text in [rule.title, rule.reason, rule.cure] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}", rule.code);
            }
        }
    }
}
