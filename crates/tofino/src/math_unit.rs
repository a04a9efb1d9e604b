//! Math unit of a stateful ALU: a 16-entry table with an exponent.
//!
//! It has no dependencies, and alone defines the normalisation of an operand. Must not depend on
//! registers or instructions: input and output are one 32-bit word each.
//!
//! Sources: TNA p. 64-65 (what P4 sees), the public reference model and assembler of the chip (the
//! arithmetic), the open-source Tofino back end of p4c (tables made from a formula).

pub use sojourn_target::ExponentParity;

/// Multiplier of the operand's exponent: the power that the table approximates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exponent {
    /// Shift -1: square roots.
    Half,
    /// Shift 0: products and quotients.
    #[default]
    Same,
    /// Shift +1: squares.
    Double,
}

/// The functions that the compiler makes tables for (`MathOp_t` of TNA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MathOp {
    /// `factor * x`
    Mul,
    /// `factor * x^2`
    Sqr,
    /// `factor * sqrt(x)`
    Sqrt,
    /// `factor / x`
    Div,
    /// `factor / x^2`; the compiler's table for it is flat, see [`MathUnit::from_operation`].
    Rsqr,
    /// `factor / sqrt(x)`
    Rsqrt,
}

impl MathOp {
    /// The operation of this name in `MathOp_t`.
    pub fn named(name: &str) -> Option<MathOp> {
        Some(match name {
            "MUL" => MathOp::Mul,
            "SQR" => MathOp::Sqr,
            "SQRT" => MathOp::Sqrt,
            "DIV" => MathOp::Div,
            "RSQR" => MathOp::Rsqr,
            "RSQRT" => MathOp::Rsqrt,
            _ => return None,
        })
    }

    fn inverts(self) -> bool {
        matches!(self, MathOp::Div | MathOp::Rsqr | MathOp::Rsqrt)
    }

    fn exponent(self) -> Exponent {
        match self {
            MathOp::Sqrt | MathOp::Rsqrt => Exponent::Half,
            MathOp::Mul | MathOp::Div => Exponent::Same,
            MathOp::Sqr | MathOp::Rsqr => Exponent::Double,
        }
    }

    /// The function at a normalised operand, as the compiler evaluates it: its `rsqr` lacks
    /// parentheses and is the constant 1.
    fn at(self, x: f64) -> f64 {
        match self {
            MathOp::Mul => x,
            MathOp::Sqr => x * x,
            MathOp::Sqrt => x.sqrt(),
            MathOp::Div => 1.0 / x,
            MathOp::Rsqr => 1.0,
            MathOp::Rsqrt => 1.0 / x.sqrt(),
        }
    }

    /// The largest value of [`MathOp::at`] over the normalised operands.
    fn peak(self) -> f64 {
        match self {
            MathOp::Mul => 1.875,
            MathOp::Sqr => 1.875 * 1.875,
            MathOp::Sqrt => 1.875f64.sqrt(),
            MathOp::Div | MathOp::Rsqr => 1.0,
            MathOp::Rsqrt => 2f64.sqrt(),
        }
    }
}

/// One configured math unit. A register has at most one, shared by all its actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MathUnit {
    /// The exponent of the operand is negated: `1/x` and its kin.
    pub invert: bool,
    /// Operation on the exponent.
    pub exponent: Exponent,
    /// Added to the exponent of the result, -32 to 31.
    pub scale: i8,
    /// `table[i]` answers index `i`; indices 4 to 15 occur for [`Exponent::Half`], 8 to 15
    /// otherwise, and 0 for the operand 0.
    pub table: [u8; 16],
}

/// A `scale` that did not fit its six signed bits and was capped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleCapped {
    /// The scale that the factor asks for.
    pub wanted: i32,
    /// The scale that was used instead.
    pub used: i8,
}

impl MathUnit {
    /// A unit from the tuple of P4, which lists entry 15 first; a short tuple leaves the rest 0.
    pub fn from_tuple(invert: bool, exponent: Exponent, scale: i8, entries: &[u8]) -> MathUnit {
        let mut table = [0; 16];
        for (slot, entry) in table.iter_mut().rev().zip(entries) {
            *slot = *entry;
        }
        MathUnit { invert, exponent, scale, table }
    }

    /// The table that the open-source compiler makes for `MathUnit(op, factor)`; for
    /// `MathUnit(op, a, b)` the factor is `a / b`.
    ///
    /// It samples the lower edge of each bin, so results lie above the formula on average.
    ///
    /// ```
    /// use sojourn_tofino::math_unit::{ExponentParity, MathOp, MathUnit};
    /// let (unit, capped) = MathUnit::from_operation(MathOp::Sqrt, 1.0);
    /// assert!(capped.is_none());
    /// assert_eq!(unit.execute(1 << 20, ExponentParity::Vendor), 1 << 10);
    /// ```
    pub fn from_operation(op: MathOp, factor: f64) -> (MathUnit, Option<ScaleCapped>) {
        let wanted = ((factor * op.peak()).log2().floor() - 7.0) as i32;
        let scale = wanted.clamp(-32, 31) as i8;
        let capped = (wanted != i32::from(scale)).then_some(ScaleCapped { wanted, used: scale });
        let mut table = [0; 16];
        let first = if op.exponent() == Exponent::Half { 4 } else { 8 };
        for (i, entry) in table.iter_mut().enumerate().skip(first) {
            let exact = op.at(i as f64 / 8.0) * factor * 2f64.powi(-i32::from(scale));
            *entry = exact.round_ties_even().clamp(0.0, 255.0) as u8;
        }
        (MathUnit { invert: op.inverts(), exponent: op.exponent(), scale, table }, capped)
    }

    /// The result for a 32-bit operand: table entry times a power of two, truncated to 32 bits.
    ///
    /// A power outside -31..=31 gives 0, not the largest value: the unit does not saturate.
    #[inline]
    pub fn execute(&self, operand: u32, parity: ExponentParity) -> u32 {
        let (entry, shift) = self.look_up(operand, parity);
        match shift {
            0..=31 => entry << shift,
            -31..=-1 => entry >> -shift,
            _ => 0,
        }
    }

    /// The table entry for an operand, and by how much it is shifted.
    #[inline]
    fn look_up(&self, operand: u32, parity: ExponentParity) -> (u32, i32) {
        let mut leading = operand.checked_ilog2().unwrap_or(0);
        let power = match self.exponent {
            Exponent::Half => {
                leading += (leading & 1) ^ u32::from(parity == ExponentParity::Paper);
                leading >> 1
            }
            Exponent::Same => leading,
            Exponent::Double => leading << 1,
        } as i32;
        let index = ((u64::from(operand) << 3) >> leading) & 15;
        let shift = if self.invert { -power } else { power } + i32::from(self.scale);
        (u32::from(self.table[index as usize]), shift)
    }

    /// The smallest operand of so many bits whose result loses bits at the top when it is stored in
    /// `result_bits`; none if that happens to none.
    pub fn first_cut(
        &self,
        operand_bits: u32,
        result_bits: u32,
        parity: ExponentParity,
    ) -> Option<u32> {
        // An operand's leading one and the three bits behind it decide.
        let operands = (0..operand_bits.min(32))
            .flat_map(|leading| (8..16u64).map(move |digits| ((digits << leading) >> 3) as u32));
        operands.into_iter().find(|operand| {
            let (entry, shift) = self.look_up(*operand, parity);
            entry != 0
                && shift >= 0
                && (shift > 31 || u64::from(entry) << shift >> result_bits != 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The reciprocal square root of the published P4-CoDel program: 1e8 ns / sqrt(n).
    fn p4_codel() -> MathUnit {
        let entries = [0x46, 0x48, 0x4b, 0x4e, 0x52, 0x56, 0x5a, 0x60, 0x66, 0x6f, 0x79, 0x87];
        MathUnit::from_tuple(true, Exponent::Half, 20, &entries)
    }

    /// Smallest and largest relative error against 1e8 / sqrt(n), in percent.
    fn error_range(
        unit: &MathUnit,
        parity: ExponentParity,
        argument: fn(u32) -> u32,
        last: u32,
    ) -> [f64; 2] {
        let errors = (1..=last).map(|n| {
            let exact = 1e8 / f64::from(n).sqrt();
            (f64::from(unit.execute(argument(n), parity)) / exact - 1.0) * 100.0
        });
        errors.fold([f64::MAX, f64::MIN], |[lo, hi], e| [lo.min(e), hi.max(e)])
    }

    fn assert_range(range: [f64; 2], lo: f64, hi: f64) {
        assert!((range[0] - lo).abs() < 0.005 && (range[1] - hi).abs() < 0.005, "{range:?}");
    }

    #[test]
    fn one_gives_101_ms_in_the_vendor_reading_and_142_ms_in_the_papers() {
        assert_eq!(p4_codel().execute(1, ExponentParity::Vendor), 0x0600_0000);
        assert_eq!(p4_codel().execute(1, ExponentParity::Paper), 0x0870_0000);
    }

    #[test]
    fn the_first_steps_of_p4_codel_are_the_published_ones() {
        let us = |n, parity| p4_codel().execute(n, parity) / 1000;
        let vendor: Vec<u32> = (1..=5).map(|n| us(n, ExponentParity::Vendor)).collect();
        assert_eq!(vendor, [100_663, 70_778, 58_195, 50_331, 45_088]);
        let paper: Vec<u32> = (1..=5).map(|n| us(n, ExponentParity::Paper)).collect();
        assert_eq!(paper, [141_557, 100_663, 81_788, 70_778, 63_438]);
    }

    #[test]
    fn p4_codels_table_errs_by_at_most_12_percent_upwards_in_the_vendor_reading() {
        let range = |last| error_range(&p4_codel(), ExponentParity::Vendor, |n| n, last);
        assert_range(range(64), -0.13, 10.50);
        assert_range(range(400), -0.13, 11.56);
        assert_range(range(100_000), -0.13, 11.91);
    }

    #[test]
    fn a_doubled_count_makes_the_vendor_reading_a_quarter_too_short() {
        let range = error_range(&p4_codel(), ExponentParity::Vendor, |n| 2 * n, 100_000);
        assert_range(range, -29.38, -20.87);
    }

    #[test]
    fn the_papers_reading_is_42_to_58_percent_too_long_and_right_for_the_doubled_count() {
        assert_range(error_range(&p4_codel(), ExponentParity::Paper, |n| n, 100_000), 41.24, 58.27);
        assert_range(
            error_range(&p4_codel(), ExponentParity::Paper, |n| 2 * n, 100_000),
            -0.13,
            11.91,
        );
    }

    #[test]
    fn the_compilers_own_rsqrt_table_is_as_good_as_p4_codels() {
        let (unit, capped) = MathUnit::from_operation(MathOp::Rsqrt, 1e8);
        assert_eq!((unit.scale, capped), (20, None));
        assert_range(error_range(&unit, ExponentParity::Vendor, |n| n, 100_000), -0.41, 11.91);
    }

    #[test]
    fn a_table_of_bin_centres_halves_the_error() {
        let entries = [0x89, 0x8e, 0x93, 0x99, 0x9f, 0xa7, 0xaf, 0xb9, 0xc5, 0xd4, 0xe6, 0xff];
        let unit = MathUnit::from_tuple(true, Exponent::Half, 19, &entries);
        assert_range(error_range(&unit, ExponentParity::Vendor, |n| n, 100_000), -5.46, 5.69);
    }

    #[test]
    fn a_power_of_32_and_more_gives_zero_instead_of_saturating() {
        let square = MathUnit::from_tuple(false, Exponent::Double, 0, &[255; 16]);
        assert_eq!(square.execute(1 << 15, ExponentParity::Vendor), 255 << 30);
        assert_eq!(square.execute(1 << 16, ExponentParity::Vendor), 0);
    }

    #[test]
    fn the_first_operand_whose_result_is_cut_is_found() {
        let (thousand, _) = MathUnit::from_operation(MathOp::Mul, 1000.0);
        let cut = thousand.first_cut(32, 32, ExponentParity::Vendor).unwrap();
        let exact = |x: u32| u64::from(x) * 1000;
        assert!(exact(cut) >= 1 << 32 && exact(cut - cut / 8) < 1 << 32, "{cut}");
        assert!(u64::from(thousand.execute(cut, ExponentParity::Vendor)) < exact(cut) / 2);
        assert_eq!(thousand.first_cut(16, 32, ExponentParity::Vendor), None);
        assert_eq!(p4_codel().first_cut(32, 32, ExponentParity::Vendor), None);
    }

    #[test]
    fn zero_looks_up_entry_zero() {
        let unit = MathUnit { table: [7; 16], scale: 2, ..MathUnit::default() };
        assert_eq!(unit.execute(0, ExponentParity::Vendor), 28);
    }

    #[test]
    fn a_factor_too_large_for_the_scale_is_capped_and_reported() {
        let (_, capped) = MathUnit::from_operation(MathOp::Mul, 1e15);
        assert_eq!(capped, Some(ScaleCapped { wanted: 43, used: 31 }));
    }

    #[test]
    fn the_compilers_rsqr_table_is_flat() {
        let (unit, _) = MathUnit::from_operation(MathOp::Rsqr, 1000.0);
        assert!(unit.table[8..].iter().all(|entry| *entry == unit.table[8]));
    }

    fn operations() -> impl Strategy<Value = MathOp> {
        prop_oneof![
            Just(MathOp::Mul),
            Just(MathOp::Sqr),
            Just(MathOp::Sqrt),
            Just(MathOp::Div),
            Just(MathOp::Rsqrt),
        ]
    }

    proptest! {
        /// Three mantissa bits leave at most a factor (9/8)^2 within one bin; the table adds half
        /// a step of 1/128, and cutting to an integer adds less than one.
        #[test]
        fn every_operation_is_its_formula_within_one_bin(
            op in operations(), x in 1u32.., log_factor in 0f64..30.0,
        ) {
            let factor = log_factor.exp2();
            let x = f64::from(x);
            let exact = factor * match op {
                MathOp::Mul => x,
                MathOp::Sqr => x * x,
                MathOp::Sqrt => x.sqrt(),
                MathOp::Div => 1.0 / x,
                _ => 1.0 / x.sqrt(),
            };
            prop_assume!(exact < 2f64.powi(31));
            let (unit, _) = MathUnit::from_operation(op, factor);
            let power = (exact.log2() - 8.0).floor();
            prop_assume!(power < 28.0);
            let got = f64::from(unit.execute(x as u32, ExponentParity::Vendor));
            let (lo, hi) = (exact / 1.28 - 1.0, exact * 1.28 + 1.0);
            prop_assert!(got >= lo.floor() && got <= hi, "{got} for {exact}");
        }

        #[test]
        fn the_paper_reads_the_double_of_an_operand_as_the_vendor_reads_the_operand(
            x in 1u32..(1 << 31), scale in -20i8..20,
        ) {
            let unit = MathUnit { scale, ..p4_codel() };
            prop_assert_eq!(
                unit.execute(2 * x, ExponentParity::Paper),
                unit.execute(x, ExponentParity::Vendor),
            );
        }
    }
}
