//! The low-pass filter of `Lpf` and `DirectLpf`, and random early detection on its output, of
//! `Wred` and `DirectWred`: one unit of the chip, which is also its meter.
//!
//! Arithmetic and encoding are those of the vendor's functional model (`mau-lpf-meter.cpp`) and
//! driver (`pipe_mgr_meter_drv_workflows.c`), in unscaled clock cycles. The chip's timestamps have
//! 28 bits and are refreshed by sweeps; here they do not wrap, and there are no sweeps.

use serde::{Deserialize, Serialize};
use sojourn_packet::{SplitMix64, Time};
use std::fmt;

/// Clock rate of the chip in Hz, from its driver (facts, section 3).
const CLOCK: u64 = 1_220_000_000;
/// Bits of a time constant's mantissa.
const MANTISSA: u32 = 9;
/// Exponents of a time constant have five bits.
const LARGEST_EXPONENT: u8 = 31;
/// Saturation limit of a value.
const LARGEST: u64 = u32::MAX as u64;
/// Levels of early detection have eight bits.
const LEVEL: u64 = 255;

/// Function of a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filtering {
    /// Their decaying sum: in the long run their rate times the time constant.
    Rate,
    /// Their mean, weighted by age.
    #[default]
    Sample,
}

/// Configuration of a low-pass filter's cell by a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LpfSpec {
    /// Function of the values.
    pub filtering: Filtering,
    /// The time constant while values are above the mean, in nanoseconds.
    pub gain: f64,
    /// The time constant otherwise, in nanoseconds.
    pub decay: f64,
    /// Right shift of the result, in bits; 0 to 31.
    pub scale: u8,
}

/// Configuration of a cell of random early detection by a control plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WredSpec {
    /// The time constant of the mean, in nanoseconds.
    pub time_constant: f64,
    /// Lower threshold of the mean, up to which no packet is dropped.
    pub min: u32,
    /// Upper threshold of the mean, above which every packet is dropped.
    pub max: u32,
    /// The probability at `max`, above 0 and at most 1.
    pub probability: f64,
}

/// Configuration of a cell of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FilterSpec {
    /// Of a low-pass filter.
    Lpf(LpfSpec),
    /// Of random early detection.
    Wred(WredSpec),
}

/// Reason why the chip does not support a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterError {
    /// A time constant that is not a number, or too long.
    TimeConstant,
    /// Gain and decay time differ by a factor other than a power of two: they share a mantissa.
    Mantissa,
    /// More than 31 bits.
    Scale,
    /// A probability of 0, or above 1.
    Probability,
    /// `max` is below `min`, or equal with a probability below 1.
    Thresholds,
    /// A cell of the other kind.
    Kind,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FilterError::TimeConstant => "a time constant is 0 to 3.5e9 ns long",
            FilterError::Mantissa => {
                "gain and decay time share their mantissa: one is the other times a power of two"
            }
            FilterError::Scale => "a result is shifted by 31 bits at most",
            FilterError::Probability => "a largest probability is above 0 and at most 1",
            FilterError::Thresholds => {
                "the upper threshold is above the lower one, or the same and certain"
            }
            FilterError::Kind => "an `Lpf` and a `Wred` are set by different things",
        })
    }
}

impl std::error::Error for FilterError {}

/// (1 + mantissa / 512) * 2^exponent cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimeConstant {
    mantissa: u16,
    exponent: u8,
}

impl TimeConstant {
    /// The next one below a time in nanoseconds; at least one cycle. The driver multiplies in
    /// single precision, which matters when a value that was read is written back.
    fn from_nanoseconds(nanoseconds: f64) -> Result<TimeConstant, FilterError> {
        let cycles = f64::from(nanoseconds as f32 * CLOCK as f32) / 1e9;
        if !cycles.is_finite() || nanoseconds < 0.0 {
            return Err(FilterError::TimeConstant);
        }
        let mut rest = cycles.max(1.0);
        let mut exponent = 0;
        while rest >= 2.0 {
            if exponent == LARGEST_EXPONENT {
                return Err(FilterError::TimeConstant);
            }
            (rest, exponent) = (rest / 2.0, exponent + 1);
        }
        let mantissa = ((rest - 1.0) * f64::from(1_u32 << MANTISSA)) as u16;
        Ok(TimeConstant { mantissa, exponent })
    }

    fn nanoseconds(self) -> f64 {
        let cycles = (1.0 + f64::from(self.mantissa) / f64::from(1_u32 << MANTISSA))
            * f64::from(2_u32.pow(u32::from(self.exponent)));
        cycles * 1e9 / CLOCK as f64
    }
}

/// Drop levels of early detection, in steps of 2^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Levels {
    exponent: u8,
    /// No packet is dropped up to this level.
    first: u8,
    /// From `first` to the level at which every packet would be dropped.
    span: u8,
    /// Every packet is dropped above this level.
    last: u8,
    /// Number of random bits that must also be 0.
    scale: u8,
}

/// Of an unconfigured cell.
const UNSET: Levels = Levels { exponent: 24, first: 255, span: 255, last: 255, scale: 0 };

impl Levels {
    fn new(spec: &WredSpec) -> Result<Levels, FilterError> {
        if !(spec.probability > 0.0 && spec.probability <= 1.0) {
            return Err(FilterError::Probability);
        }
        let percent = (spec.probability * 100.0).ceil();
        let (min, max) = (u64::from(spec.min), u64::from(spec.max));
        if max < min || max == min && percent < 100.0 {
            return Err(FilterError::Thresholds);
        }
        // Number of values of the random byte below the threshold, at `max`.
        let chance = (percent / 100.0 * LEVEL as f64).max(1.0);
        let span_for = |chance: f64| match percent < 100.0 {
            true => (LEVEL as f64 * (max - min) as f64 / chance) as u64,
            false => max - min,
        };
        let exponent_for = |span: u64| {
            let largest = span.max(max);
            (0..=LARGEST_EXPONENT).find(|exponent| largest >> exponent <= LEVEL)
        };
        // A small probability requires random bits equal to 0 in addition to a larger probability,
        // if the levels do not become coarser.
        let scale = (0..=7_u8).rev().find(|scale| chance * f64::from(1_u32 << scale) <= 255.0);
        let scale = scale.unwrap_or(0);
        let plain = exponent_for(span_for(chance));
        let scaled = exponent_for(span_for(chance * f64::from(1_u32 << scale)));
        let (scale, exponent) = match (plain, scaled) {
            (plain, Some(scaled)) if plain.is_none_or(|plain| scaled <= plain) => (scale, scaled),
            (Some(plain), _) => (0, plain),
            (None, _) => return Err(FilterError::Thresholds),
        };
        let span = span_for(chance * f64::from(1_u32 << scale));
        let level = |value: u64| (value >> exponent) as u8;
        Ok(Levels { exponent, first: level(min), span: level(span), last: level(max), scale })
    }

    /// Lower threshold, upper threshold and the probability there.
    fn read(self) -> (u32, u32, f64) {
        let value = |level: u8| u32::from(level) << self.exponent;
        let (min, max) = (value(self.first), value(self.last));
        let part = f64::from(self.last.saturating_sub(self.first)) / f64::from(self.span.max(1));
        let probability = part / f64::from(1_u32 << self.scale);
        let certain = self.first == self.last && self.span == 0;
        (min, max, if certain { 1.0 } else { probability.min(1.0) })
    }

    /// Whether a packet is dropped at this mean.
    fn drop(self, mean: u64, random: u64) -> bool {
        let (byte, bits) = (random & 0xff, random >> 8 & 0x7f);
        let threshold = ((u64::from(self.span) * byte) >> 8) + u64::from(self.first);
        let threshold = threshold.min(u64::from(self.last));
        let must_be_zero = bits & ((1 << self.scale) - 1);
        (mean > threshold << self.exponent && must_be_zero == 0)
            || mean > u64::from(self.last) << self.exponent
    }
}

/// One cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mantissa: u16,
    rise: u8,
    fall: u8,
    filtering: Filtering,
    scale: u8,
    levels: Levels,
    value: u32,
    /// Cycle of the value; `None` before the first one, which counts in full.
    stamp: Option<u64>,
}

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            mantissa: 0,
            rise: 0,
            fall: 0,
            filtering: Filtering::Sample,
            scale: 0,
            levels: UNSET,
            value: 0,
            stamp: None,
        }
    }
}

impl Cell {
    /// The mean with one more value, of 33 bits as on the chip.
    fn update(&mut self, now: u64, given: u32) -> u64 {
        let (value, given) = (u64::from(self.value), u64::from(given));
        let exponent = match (self.filtering, given > value) {
            (Filtering::Sample, false) => self.fall,
            _ => self.rise,
        };
        let Some(stamp) = self.stamp else {
            self.stamp = Some(now);
            self.value = given as u32;
            return given;
        };
        let (step, elapsed) = self.step(now.saturating_sub(stamp), exponent);
        self.stamp = Some(stamp + elapsed);
        let mean = decayed(self.filtering, value, given, step);
        let mean = mean & 0x1_ffff_ffff;
        self.value = mean.min(LARGEST) as u32;
        mean
    }

    /// Binary logarithm of the elapsed time over the time constant, `None` if the time is too short
    /// to count; and the part of the time that is counted.
    fn step(&self, since: u64, exponent: u8) -> (Option<i32>, u64) {
        let Some(highest) = since.checked_ilog2() else { return (None, 0) };
        // Mantissa bits below a cycle are ignored.
        let kept = 0x200 | (0x1ff_u32 << 9 >> exponent.min(9)) & 0x1ff;
        let mantissa = u128::from((1 << MANTISSA | u32::from(self.mantissa)) & kept);
        let counted = |power: u32| (mantissa << power >> MANTISSA) as u64;
        let (mut power, mut step) = (highest, highest as i32 - i32::from(exponent));
        if counted(power) > since {
            step -= 1;
            match power.checked_sub(1) {
                Some(lower) => power = lower,
                None => return (None, 0),
            }
        }
        if step <= -8 {
            return (None, 0);
        }
        (Some(step), counted(power))
    }
}

/// e^-x by the chip's shifts, where x is 2^`step`.
fn decayed(filtering: Filtering, value: u64, given: u64, step: Option<i32>) -> u64 {
    let Some(step) = step else {
        return match filtering {
            Filtering::Rate => value + given,
            Filtering::Sample => value,
        };
    };
    let (first, second) = match step {
        4.. => return given,
        3 => (12, 14),
        2 => (6, 9),
        1 => (3, 7),
        0 => (2, 3),
        _ => (step.unsigned_abs(), 2 * step.unsigned_abs() + 1),
    };
    let kept = |of: u64| match step >= 0 {
        true => (of >> first) + (of >> second),
        false => of - (of >> first) + (of >> second),
    };
    match filtering {
        Filtering::Rate => kept(value) + given,
        Filtering::Sample if step >= 0 => {
            kept(value) + given - (given >> first) - (given >> second)
        }
        Filtering::Sample => kept(value) + (given >> first) - (given >> second),
    }
}

/// Output of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// The mean.
    Mean,
    /// One of two values.
    Verdict { drop: u8, keep: u8 },
}

/// An array of cells.
#[derive(Clone, Debug)]
pub struct Filter {
    cells: Vec<Cell>,
    output: Output,
    random: SplitMix64,
}

impl Filter {
    /// Bytes of memory that a cell takes.
    pub const CELL_BYTES: u64 = size_of::<Cell>() as u64;

    /// `size` cells of an `Lpf`, which pass their inputs on.
    pub fn lpf(size: usize) -> Filter {
        let random = SplitMix64::new(0);
        Filter { cells: vec![Cell::default(); size], output: Output::Mean, random }
    }

    /// `size` cells of a `Wred`, which drop nothing.
    pub fn wred(size: usize, drop: u8, keep: u8, seed: u64) -> Filter {
        let (output, random) = (Output::Verdict { drop, keep }, SplitMix64::new(seed));
        Filter { cells: vec![Cell::default(); size], output, random }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there is no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Configures one cell and resets its state; false if there is no such cell.
    ///
    /// # Errors
    /// The chip does not support the configuration.
    pub fn configure(&mut self, index: usize, spec: &FilterSpec) -> Result<bool, FilterError> {
        let made = match (spec, self.output) {
            (FilterSpec::Lpf(spec), Output::Mean) => {
                let (gain, decay) = (
                    TimeConstant::from_nanoseconds(spec.gain)?,
                    TimeConstant::from_nanoseconds(spec.decay)?,
                );
                if gain.mantissa != decay.mantissa {
                    return Err(FilterError::Mantissa);
                }
                if spec.scale > 31 {
                    return Err(FilterError::Scale);
                }
                Cell {
                    mantissa: gain.mantissa,
                    rise: gain.exponent,
                    fall: decay.exponent,
                    filtering: spec.filtering,
                    scale: spec.scale,
                    ..Cell::default()
                }
            }
            (FilterSpec::Wred(spec), Output::Verdict { .. }) => {
                let constant = TimeConstant::from_nanoseconds(spec.time_constant)?;
                Cell {
                    mantissa: constant.mantissa,
                    rise: constant.exponent,
                    fall: constant.exponent,
                    levels: Levels::new(spec)?,
                    ..Cell::default()
                }
            }
            _ => return Err(FilterError::Kind),
        };
        Ok(self.cells.get_mut(index).map(|cell| *cell = made).is_some())
    }

    /// Resets one cell to its initial configuration; false if there is no such cell.
    pub fn reset(&mut self, index: usize) -> bool {
        self.cells.get_mut(index).map(|cell| *cell = Cell::default()).is_some()
    }

    /// Configuration of a cell, as stored by the chip; `None` beyond the array.
    pub fn spec(&self, index: usize) -> Option<FilterSpec> {
        let cell = self.cells.get(index)?;
        let time = |exponent| TimeConstant { mantissa: cell.mantissa, exponent }.nanoseconds();
        Some(match self.output {
            Output::Mean => FilterSpec::Lpf(LpfSpec {
                filtering: cell.filtering,
                gain: time(cell.rise),
                decay: time(cell.fall),
                scale: cell.scale,
            }),
            Output::Verdict { .. } => {
                let (min, max, probability) = cell.levels.read();
                let probability = if cell.levels == UNSET { 0.0 } else { probability };
                let time_constant = time(cell.rise);
                FilterSpec::Wred(WredSpec { time_constant, min, max, probability })
            }
        })
    }

    /// Passes a value to a cell at a time; returns its output. A cell beyond the array behaves as
    /// an unconfigured one.
    pub fn execute(&mut self, index: usize, now: Time, given: u32) -> u32 {
        let cycles = u128::from(now.as_nanos()) * u128::from(CLOCK) / 1_000_000_000;
        let mut beyond = Cell::default();
        let cell = self.cells.get_mut(index).unwrap_or(&mut beyond);
        let mean = cell.update(cycles as u64, given);
        match self.output {
            Output::Mean => cell.value >> cell.scale,
            Output::Verdict { drop, keep } => {
                let dropped = cell.levels.drop(mean, self.random.next());
                u32::from(if dropped { drop } else { keep })
            }
        }
    }

    /// Makes room for `size` cells (direct filters grow with their table).
    pub fn grow(&mut self, size: usize) {
        if size > self.cells.len() {
            self.cells.resize(size, Cell::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: f64 = 1e6;

    fn lpf(filtering: Filtering, gain: f64, decay: f64) -> Filter {
        let mut filter = Filter::lpf(1);
        let spec = FilterSpec::Lpf(LpfSpec { filtering, gain, decay, scale: 0 });
        assert_eq!(filter.configure(0, &spec), Ok(true));
        filter
    }

    /// Passes `value` in once a microsecond; returns the mean after `count` times.
    fn after(filter: &mut Filter, from: u64, count: u64, value: u32) -> f64 {
        let last = (from..from + count).map(|at| filter.execute(0, Time::from_micros(at), value));
        f64::from(last.last().unwrap_or(0))
    }

    /// The model's own test passes a value a microsecond to a filter of 1 ms and compares with an
    /// ideal filter; here the values are larger, so that rounding does not hide the course.
    #[test]
    fn a_rate_filter_sums_up_what_decays_with_its_time_constant() {
        let mut filter = lpf(Filtering::Rate, MILLISECOND, MILLISECOND);
        for (count, ideal) in [(100, 95.210), (200, 182.179), (278, 242.825)] {
            let mut fresh = filter.clone();
            let seen = after(&mut fresh, 0, count, 100_000) / 100_000.0;
            assert!((seen / ideal - 1.0).abs() < 0.06, "{count}: {seen} {ideal}");
        }
        // In the long run the sum of a thousand.
        let long = after(&mut filter, 0, 20_000, 100_000) / 100_000.0;
        assert!((long / 1000.0 - 1.0).abs() < 0.06, "{long}");
    }

    #[test]
    fn a_sample_filter_goes_to_a_new_value_with_its_time_constant() {
        let mut filter = lpf(Filtering::Sample, MILLISECOND, MILLISECOND);
        assert_eq!(after(&mut filter, 0, 1, 1_000_000), 1_000_000.0, "the first counts whole");
        let there = after(&mut filter, 1, 1_000, 0);
        assert!((there / 1_000_000.0 - (-1.0_f64).exp()).abs() < 0.06, "{there}");
    }

    #[test]
    fn values_above_the_mean_count_by_the_gain_time_others_by_the_decay_time() {
        let mut filter = lpf(Filtering::Sample, 0.125 * MILLISECOND, MILLISECOND);
        after(&mut filter, 0, 1, 0);
        let up = after(&mut filter, 1, 500, 1_000_000);
        assert!(up > 950_000.0, "{up}");
        let down = after(&mut filter, 501, 500, 0) / up;
        assert!((down - (-0.5_f64).exp()).abs() < 0.06, "{down}");
    }

    #[test]
    fn after_a_long_pause_only_the_new_value_counts() {
        let mut filter = lpf(Filtering::Rate, MILLISECOND, MILLISECOND);
        after(&mut filter, 0, 1_000, 1_000);
        assert_eq!(filter.execute(0, Time::from_millis(100), 7), 7);
    }

    #[test]
    fn a_filter_without_configuration_passes_its_input() {
        let mut filter = Filter::lpf(2);
        for (at, value) in [(1, 9), (2, 0), (3, u32::MAX)] {
            assert_eq!(filter.execute(1, Time::from_micros(at), value), value);
        }
        let Some(FilterSpec::Lpf(spec)) = filter.spec(1) else { panic!() };
        assert!(spec.gain < 1.0 && spec.filtering == Filtering::Sample && spec.scale == 0);
    }

    #[test]
    fn a_value_is_shifted_by_the_cells_scale_and_saturates() {
        let mut filter = Filter::lpf(1);
        let (filtering, gain) = (Filtering::Rate, MILLISECOND);
        let spec = LpfSpec { filtering, gain, decay: gain, scale: 4 };
        assert_eq!(filter.configure(0, &FilterSpec::Lpf(spec)), Ok(true));
        filter.execute(0, Time::from_micros(1), u32::MAX);
        assert_eq!(filter.execute(0, Time::from_micros(1), u32::MAX), u32::MAX >> 4);
    }

    #[test]
    fn time_constants_are_read_back_as_the_chip_has_them() {
        for asked in [1.0, 17.3, 250.0, 1e6, 3.4e9] {
            let found = TimeConstant::from_nanoseconds(asked).unwrap().nanoseconds();
            assert!(found <= asked && found > asked * 0.998, "{asked}: {found}");
        }
        assert_eq!(TimeConstant::from_nanoseconds(4e9), Err(FilterError::TimeConstant));
        // Values that the vendor's packet tests write and read back at this clock rate.
        let read = f64::from(7.966_188_4_f32);
        assert_eq!(TimeConstant::from_nanoseconds(read).unwrap().nanoseconds() as f32, read as f32);
        assert_eq!(TimeConstant::from_nanoseconds(f64::NAN), Err(FilterError::TimeConstant));
        let mut filter = Filter::lpf(1);
        let filtering = Filtering::Sample;
        let spec = LpfSpec { filtering, gain: 1000.0, decay: 1500.0, scale: 0 };
        assert_eq!(filter.configure(0, &FilterSpec::Lpf(spec)), Err(FilterError::Mantissa));
    }

    fn wred(min: u32, max: u32, probability: f64) -> Filter {
        let mut filter = Filter::wred(1, 1, 0, 7);
        let spec = WredSpec { time_constant: 1.0, min, max, probability };
        assert_eq!(filter.configure(0, &FilterSpec::Wred(spec)), Ok(true));
        filter
    }

    /// The share of drops at a constant mean.
    fn share(filter: &Filter, mean: u32) -> f64 {
        let mut filter = filter.clone();
        let dropped = (0..20_000_u64).map(|at| filter.execute(0, Time::from_micros(at), mean));
        f64::from(dropped.sum::<u32>()) / 20_000.0
    }

    #[test]
    fn between_the_thresholds_the_chance_of_a_drop_grows_to_the_largest() {
        let filter = wred(100, 300, 0.5);
        assert_eq!(share(&filter, 100), 0.0);
        assert!((share(&filter, 200) - 0.25).abs() < 0.03);
        assert!((share(&filter, 300) - 0.5).abs() < 0.03);
        assert_eq!(share(&filter, 301), 1.0);
    }

    #[test]
    fn a_small_chance_is_had_from_more_random_bits() {
        let filter = wred(1_000, 4_000, 0.05);
        assert!(filter.cells[0].levels.scale > 0);
        assert!((share(&filter, 4_000) - 0.05).abs() < 0.01);
    }

    #[test]
    fn thresholds_are_read_back_in_the_chips_steps() {
        for (min, max, probability) in [(20, 500, 0.1), (480, 700, 0.97), (33, 90, 1.0)] {
            let Some(FilterSpec::Wred(read)) = wred(min, max, probability).spec(0) else {
                panic!()
            };
            assert!(read.min <= min && f64::from(min - read.min) <= f64::from(max) / 64.0);
            assert!(read.max <= max && f64::from(max - read.max) <= f64::from(max) / 64.0);
            assert!((read.probability - probability).abs() <= 0.1, "{read:?} {probability}");
        }
    }

    #[test]
    fn early_detection_without_configuration_drops_nothing() {
        let filter = Filter::wred(1, 1, 0, 7);
        assert_eq!(share(&filter, 0xff00_0000), 0.0);
        let Some(FilterSpec::Wred(spec)) = filter.spec(0) else { panic!() };
        assert_eq!((spec.min, spec.max, spec.probability), (0xff00_0000, 0xff00_0000, 0.0));
    }

    #[test]
    fn operations_that_the_chip_lacks_are_refused() {
        let mut filter = Filter::wred(1, 1, 0, 7);
        let mut ask = |min, max, probability| {
            let spec = WredSpec { time_constant: 1.0, min, max, probability };
            filter.configure(0, &FilterSpec::Wred(spec))
        };
        assert_eq!(ask(1, 2, 0.0), Err(FilterError::Probability));
        assert_eq!(ask(1, 2, 1.5), Err(FilterError::Probability));
        assert_eq!(ask(2, 1, 0.5), Err(FilterError::Thresholds));
        assert_eq!(ask(2, 2, 0.5), Err(FilterError::Thresholds));
        assert_eq!(ask(2, 2, 1.0), Ok(true));
    }
}
