//! CoDel's decisions packet by packet, in the order and the words of RFC 8289 section 5.
//!
//! One call for each packet that leaves the queue: the listing's inner loop, several drops at one
//! time, becomes a sequence of decisions. Has no dependencies, so that it cannot share an error
//! with the code under test.

pub const TARGET: i64 = 5_000_000;
pub const INTERVAL: i64 = 100_000_000;

#[derive(Clone, Debug, Default)]
pub struct Codel {
    first_above_time: i64,
    drop_next: i64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Codel {
    /// True if the packet that leaves at `now` after `sojourn_time` is to be dropped; `few`: no
    /// more than one packet is behind it.
    pub fn drops(&mut self, now: i64, sojourn_time: i64, few: bool) -> bool {
        let ok_to_drop = self.dodequeue(now, sojourn_time, few);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.count += 1;
                self.drop_next = control_law(self.drop_next, self.count);
                return true;
            }
        } else if ok_to_drop {
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.lastcount);
            let recent = now - self.drop_next < 16 * INTERVAL;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = control_law(now, self.count);
            self.lastcount = self.count;
            return true;
        }
        false
    }

    fn dodequeue(&mut self, now: i64, sojourn_time: i64, few: bool) -> bool {
        if sojourn_time < TARGET || few {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + INTERVAL;
        } else if now >= self.first_above_time {
            return true;
        }
        false
    }
}

fn control_law(t: i64, count: u32) -> i64 {
    t + spacing(count)
}

/// INTERVAL / sqrt(count), to the nearest nanosecond.
pub fn spacing(count: u32) -> i64 {
    (INTERVAL as f64 / f64::from(count).sqrt()).round() as i64
}
