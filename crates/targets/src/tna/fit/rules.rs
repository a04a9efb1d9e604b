//! Rules about the whole of a control: conditions, actions, stages, time. They complete the list
//! of [`crate::tna::rules`], with codes from `T10` on: `T10` conditions and actions, `T11` stages,
//! `T12` time.

use crate::tna::rules::{self, Rule};

macro_rules! rules {
    ($($name:ident $code:literal $title:literal $reason:literal $cure:literal)*) => {
        $(#[doc = $title]
        pub static $name: Rule = Rule { code: $code, title: $title, reason: $reason, cure: $cure };)*

        /// The rules of this file in the order of their codes.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    ORDER_OF_FIELDS "T1001" "a condition does not order two fields"
        "a gateway matches like a TCAM: it can find fields equal, but not tell which is larger"
        "subtract in an action with |-| and ask in the next stage whether the difference is 0, or compare in a stateful ALU"
    RANGE_WIDTH "T1002" "a condition orders a field and a constant over at most 12 bits"
        "a gateway compares with `<` in 12 hash bits, four at a time; masks and == have 4 bytes more"
        "subtract in an action with |-| and ask whether the difference is 0, compare in a stateful ALU, or compare a slice of the upper bits"
    CONDITION_ARITHMETIC "T1003" "a condition does not compute"
        "a gateway has no adder; the value has to be in a field before its stage"
        "compute it in an action of an earlier stage"
    DEPENDENT_STEPS "T1004" "an action does everything at once"
        "the instructions of an action run in one stage, and each combines two sources: no result is there for another one"
        "split the action in two; the second takes a stage of its own"
    MULTIPLICATION "T1005" "an action adds, subtracts, shifts by constants and does boolean functions"
        "the instruction set has no multiplication, division or remainder; only powers of two become shifts"
        "use a MathUnit, a match table with the results, or a sum of shifts"
    VARIABLE_SHIFT "T1006" "a shift has a constant count"
        "the shifter takes its count from the instruction"
        "use a match table on the count whose actions shift by constants"
    LOOP "T1007" "a packet passes each stage once"
        "there is no way back in the pipeline; a compiler can at most write out the rounds of a loop whose number it knows"
        "write the rounds out, or let the packet recirculate"
    SATURATING_WIDTH "T1008" "saturating arithmetic fits one container"
        "containers have 8, 16 or 32 bits, and saturation does not carry from one to the next"
        "saturate in 32 bits"
    WIDE_ARITHMETIC "T1009" "arithmetic wider than 32 bits takes several containers"
        "a sum of more than 32 bits is a chain of instructions with carries, in neighbouring containers of one stage"
        "use the low 32 bits if they tell enough: differences of timestamps do up to 4.29 s"

    STAGES "T1101" "a program has 12 stages"
        "each stage can use what an earlier one wrote, and the chip has 12 stages, for ingress and egress together"
        "shorten the longest chain of steps that need each other: compute side by side what does not depend on each other, combine steps in a stateful ALU, or recirculate"
    REGISTER_STAGE "T1102" "all accesses to a register are in one stage"
        "a register's memory is bound to the stage that holds it, and an access cannot wait for the result of another"
        "merge the accesses into one register action, or keep the state in two registers"

    UNSIGNED_TIME "T1201" "an unsigned comparison of 32-bit times is wrong every 4.29 s"
        "32 bits of nanoseconds start again from 0 after 4.295 s; then a time in the past is the larger number"
        "declare the register `int<32>` and compare a difference: `(int<32>)now - time >= 0` is right for times less than 2.1 s apart"
    QUEUE_TIME "T1202" "the queue's timestamps have 18 bits and wrap after 262 us"
        "enq_tstamp and deq_timedelta are the nanosecond counter cut to 18 bits, unless tf1.tm.cfg timestamp_shift_bits is set"
        "bridge global_tstamp of ingress, or set the shift to 9 or more, which gives units of 512 ns and 134 ms"
}

/// The rule with this code, of this file or of [`rules::ALL`].
pub fn find(code: &str) -> Option<&'static Rule> {
    let mut all = rules::ALL.iter().chain(ALL);
    all.find(|rule| rule.code.eq_ignore_ascii_case(code)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_go_on_where_those_of_registers_end() {
        let codes: Vec<&str> = rules::ALL.iter().chain(ALL).map(|rule| rule.code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_rule_is_found_by_its_code_in_either_case() {
        assert_eq!(find("t1101").map(|rule| rule.code), Some("T1101"));
        assert!(find("T0201").is_some());
        assert!(find("T9999").is_none());
    }
}
