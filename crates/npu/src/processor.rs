//! Parameters of a processor: number of threads, and latencies.

use super::rules::{self, Refusal};
use num_bigint::BigUint;
use sojourn_p4::ir::{Const, Package, PackageArg};
use sojourn_packet::{SplitMix64, Time};
use sojourn_target::arguments::number;
use std::ops::RangeInclusive;

/// A time drawn uniformly from a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UniformTime {
    least: u64,
    most: u64,
}

impl UniformTime {
    pub fn draw(self, random: &mut SplitMix64) -> Time {
        Time(self.least + random.up_to(u128::from(self.most - self.least)) as u64)
    }
}

/// Numeric parameters of the package `NPU`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Processor {
    /// Number of threads.
    pub threads: usize,
    /// Maximum number of packets waiting for a thread.
    pub input_buffer: usize,
    /// Time of a pass without its accesses.
    pub processing: UniformTime,
    /// Latency of an access, both ways.
    pub access: UniformTime,
    /// True if packets leave in the order of arrival.
    pub in_order: bool,
}

const A_SECOND: u64 = 1_000_000_000;

impl Processor {
    /// Parameters of an instance; missing ones have the declaration's default.
    pub fn new(main: &Package) -> Result<Processor, Refusal> {
        let figure = |name, range| figure(main, name, range);
        let drawn = |least, most| {
            let times = (figure(least, 0..=A_SECOND)?, figure(most, 0..=A_SECOND)?);
            if times.0 > times.1 {
                let message = format!("`{least}` is {}, `{most}` is {}", times.0, times.1);
                return Err(rules::FIGURE.refuse(main.span, message));
            }
            Ok(UniformTime { least: times.0, most: times.1 })
        };
        Ok(Processor {
            threads: figure("threads", 1..=65_536)? as usize,
            input_buffer: figure("input_buffer", 1..=1 << 20)? as usize,
            processing: drawn("processing_min", "processing_max")?,
            access: drawn("access_min", "access_max")?,
            in_order: is_true(main, "in_order"),
        })
    }
}

fn constant<'p>(main: &'p Package, name: &str) -> Option<&'p Const> {
    main.args.iter().find_map(|(known, arg)| match arg {
        PackageArg::Const(value) if &**known == name => Some(value),
        _ => None,
    })
}

fn figure(main: &Package, name: &str, range: RangeInclusive<u64>) -> Result<u64, Refusal> {
    let value = constant(main, name).and_then(number);
    let found = value.as_ref().and_then(|value| u64::try_from(value).ok());
    found.filter(|value| range.contains(value)).ok_or_else(|| {
        let said = value.map_or_else(|| "not a known number".into(), |value| value.to_string());
        let (least, most) = range.into_inner();
        let message = format!("`{name}` is {said}; it is {least} to {most}");
        rules::FIGURE.refuse(main.span, message)
    })
}

fn is_true(main: &Package, name: &str) -> bool {
    matches!(constant(main, name), Some(Const::Scalar(_, value)) if *value != BigUint::ZERO)
}
