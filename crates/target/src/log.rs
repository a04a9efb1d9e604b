//! The lines of text that a program writes while packets pass (`log_msg` of v1model).
//!
//! The newest lines are stored until they are fetched. Must not depend on the content of a line.

pub use sojourn_packet::{LogLine, ProgramLog};
use std::collections::VecDeque;

/// Number of lines stored; a further line evicts the oldest.
const KEPT_LINES: usize = 4096;

/// The pending lines.
#[derive(Clone, Debug, Default)]
pub struct Log {
    lines: VecDeque<LogLine>,
    lost: u64,
}

impl Log {
    /// Takes the pending lines.
    pub fn take(&mut self) -> ProgramLog {
        let lost = std::mem::take(&mut self.lost);
        ProgramLog { lost, lines: self.lines.drain(..).collect() }
    }

    /// Appends a line.
    pub fn push(&mut self, line: LogLine) {
        if self.lines.len() == KEPT_LINES {
            self.lines.pop_front();
            self.lost += 1;
        }
        self.lines.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_packet::Time;

    #[test]
    fn the_oldest_lines_are_lost_and_counted() {
        let mut log = Log::default();
        for number in 0..KEPT_LINES as u64 + 3 {
            log.push(LogLine { at: Time(number), text: number.to_string() });
        }
        let taken = log.take();
        assert_eq!((taken.lost, taken.lines.len()), (3, KEPT_LINES));
        assert_eq!(taken.lines[0].text, "3");
        assert_eq!(log.take(), ProgramLog::default());
    }
}
