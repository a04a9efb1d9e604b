//! Two-rate three-colour meter (RFC 2698) of `Meter` and `DirectMeter`.
//!
//! The caller passes the time with each packet. Tokens are counted in integers of 1e-9 byte (or
//! packet), so that a rate times a span in nanoseconds is exact.

use serde::{Deserialize, Serialize};
use sojourn_packet::Time;

/// Packet colour in TNA's encoding (`MeterColor_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Color {
    /// Within the committed rate.
    Green = 0,
    /// Above the committed, within the peak rate.
    Yellow = 1,
    /// Above the peak rate.
    Red = 3,
}

impl Color {
    /// The colour of a code; TNA's two yellows are one.
    pub fn from_code(code: u8) -> Color {
        match code & 3 {
            0 => Color::Green,
            3 => Color::Red,
            _ => Color::Yellow,
        }
    }
}

/// Rates and bursts of one meter cell, in bytes (packets) per second and bytes (packets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterSpec {
    /// Committed information rate.
    pub cir: u64,
    /// Committed burst size.
    pub cbs: u64,
    /// Peak information rate.
    pub pir: u64,
    /// Peak burst size.
    pub pbs: u64,
}

impl MeterSpec {
    /// Checks that the peak rate is at least the committed rate (RFC 2698, section 2).
    ///
    /// # Errors
    /// An error with the two rates.
    pub fn check(&self) -> Result<(), String> {
        let MeterSpec { cir, pir, .. } = self;
        match pir < cir {
            true => Err(format!(
                "the peak rate {pir} is below the committed rate {cir}, per second (RFC 2698)"
            )),
            false => Ok(()),
        }
    }
}

/// Tokens of one unit.
const UNIT: u128 = 1_000_000_000;

/// One meter cell. Without a spec every packet is green, as on the chip after reset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    spec: Option<MeterSpec>,
    committed: u128,
    peak: u128,
    last: Time,
}

impl Cell {
    /// Configures the cell; both buckets start full at `now`.
    pub fn configure(&mut self, spec: MeterSpec, now: Time) {
        *self = Cell {
            spec: Some(spec),
            committed: u128::from(spec.cbs) * UNIT,
            peak: u128::from(spec.pbs) * UNIT,
            last: now,
        };
    }

    /// Marks a packet of `size` bytes (1 for a packet meter) that arrives at `now` with `color`.
    pub fn mark(&mut self, now: Time, size: u64, color: Color) -> Color {
        let Some(spec) = self.spec else { return color };
        let span = u128::from(now.saturating_sub(self.last).as_nanos());
        self.last = self.last.max(now);
        let fill = |tokens: u128, rate: u64, burst: u64| {
            (tokens + u128::from(rate) * span).min(u128::from(burst) * UNIT)
        };
        self.committed = fill(self.committed, spec.cir, spec.cbs);
        self.peak = fill(self.peak, spec.pir, spec.pbs);
        let cost = u128::from(size) * UNIT;
        if color == Color::Red || self.peak < cost {
            return Color::Red;
        }
        self.peak -= cost;
        if color == Color::Yellow || self.committed < cost {
            return Color::Yellow;
        }
        self.committed -= cost;
        Color::Green
    }
}

/// Unit of a meter's rates (`MeterType_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterKind {
    /// Packets per second.
    Packets,
    /// Bytes per second.
    Bytes,
}

/// An array of meter cells, with the output codes of the colours.
#[derive(Clone, Debug)]
pub struct Meter {
    kind: MeterKind,
    cells: Vec<Cell>,
    /// Output codes of red, yellow and green.
    codes: [u8; 3],
    /// Adjustment added to each packet's length, bytes.
    longer: i32,
}

impl Meter {
    /// Bytes of memory that a cell takes.
    pub const CELL_BYTES: u64 = size_of::<Cell>() as u64;

    /// `size` cells that report `MeterColor_t` values.
    pub fn new(kind: MeterKind, size: usize) -> Meter {
        let codes = [Color::Red as u8, Color::Yellow as u8, Color::Green as u8];
        Meter { kind, cells: vec![Cell::default(); size], codes, longer: 0 }
    }

    /// The same meter with other output codes.
    pub fn with_codes(mut self, red: u8, yellow: u8, green: u8) -> Meter {
        self.codes = [red, yellow, green];
        self
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there is no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Sets the adjustment of packet lengths, bytes; returns the previous one.
    pub fn lengthen(&mut self, bytes: i32) -> i32 {
        std::mem::replace(&mut self.longer, bytes)
    }

    /// Configures one cell; false if there is no such cell.
    pub fn configure(&mut self, index: usize, spec: MeterSpec, now: Time) -> bool {
        self.cells.get_mut(index).map(|cell| cell.configure(spec, now)).is_some()
    }

    /// Removes rates and bursts of one cell; false if there is no such cell.
    pub fn reset(&mut self, index: usize) -> bool {
        self.cells.get_mut(index).map(|cell| *cell = Cell::default()).is_some()
    }

    /// Rates and bursts of one cell, if it exists and is configured.
    pub fn spec(&self, index: usize) -> Option<MeterSpec> {
        self.cells.get(index)?.spec
    }

    /// Marks a packet of `bytes` bytes less `adjust`; an index beyond the array is green.
    pub fn execute(
        &mut self,
        index: usize,
        now: Time,
        bytes: u64,
        adjust: u64,
        color: Color,
    ) -> u8 {
        let size = match self.kind {
            MeterKind::Packets => 1,
            MeterKind::Bytes => {
                bytes.saturating_sub(adjust).saturating_add_signed(self.longer.into())
            }
        };
        let color = match self.cells.get_mut(index) {
            Some(cell) => cell.mark(now, size, color),
            None => color,
        };
        match color {
            Color::Red => self.codes[0],
            Color::Yellow => self.codes[1],
            Color::Green => self.codes[2],
        }
    }

    /// Makes room for `size` cells (direct meters grow with their table).
    pub fn grow(&mut self, size: usize) {
        if size > self.cells.len() {
            self.cells.resize(size, Cell::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: MeterSpec = MeterSpec { cir: 1_000, cbs: 1_000, pir: 2_000, pbs: 2_000 };

    fn cell() -> Cell {
        let mut cell = Cell::default();
        cell.configure(SPEC, Time::ZERO);
        cell
    }

    #[test]
    fn a_burst_is_green_up_to_cbs_yellow_up_to_pbs_and_red_beyond() {
        let mut cell = cell();
        let colors: Vec<Color> = (0..5).map(|_| cell.mark(Time::ZERO, 500, Color::Green)).collect();
        use Color::*;
        assert_eq!(colors, [Green, Green, Yellow, Yellow, Red]);
    }

    #[test]
    fn the_long_run_shares_are_those_of_the_rates() {
        let mut cell = cell();
        let mut seen = [0u32; 4];
        // 4,000 bytes a second, so a quarter is committed and half is within the peak rate.
        for n in 0..40_000 {
            let color = cell.mark(Time::from_micros(n * 25_000), 100, Color::Green);
            seen[color as usize] += 1;
        }
        let [green, yellow, _, red] = seen;
        assert!((9_990..=10_020).contains(&green), "{seen:?}");
        assert!((9_990..=10_020).contains(&yellow), "{seen:?}");
        assert_eq!(green + yellow + red, 40_000);
    }

    #[test]
    fn a_colour_aware_meter_never_improves_a_packet() {
        assert_eq!(cell().mark(Time::ZERO, 1, Color::Red), Color::Red);
        assert_eq!(cell().mark(Time::ZERO, 1, Color::Yellow), Color::Yellow);
    }

    #[test]
    fn an_unconfigured_meter_lets_everything_pass_green() {
        let mut meter = Meter::new(MeterKind::Bytes, 1).with_codes(9, 8, 7);
        assert_eq!(meter.execute(0, Time::ZERO, 1 << 40, 0, Color::Green), 7);
    }

    #[test]
    fn a_meter_may_take_packets_to_be_longer_than_they_are() {
        let mut meter = Meter::new(MeterKind::Bytes, 1);
        meter.configure(0, SPEC, Time::ZERO);
        assert_eq!((meter.lengthen(-100), meter.lengthen(901)), (0, -100));
        assert_eq!(meter.execute(0, Time::ZERO, 100, 0, Color::Green), Color::Yellow as u8);
    }

    #[test]
    fn a_packet_meter_counts_packets_whatever_their_size() {
        let mut meter = Meter::new(MeterKind::Packets, 1);
        meter.configure(0, MeterSpec { cir: 1, cbs: 1, pir: 1, pbs: 1 }, Time::ZERO);
        let mut ask = |bytes| meter.execute(0, Time::ZERO, bytes, 0, Color::Green);
        assert_eq!((ask(9_000), ask(1)), (0, 3));
    }
}
