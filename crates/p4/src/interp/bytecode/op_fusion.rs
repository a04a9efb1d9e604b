//! Fusion of adjacent operations of one kind: extracted headers become one read of the packet,
//! emitted headers one list, and slots set to constants one list.
//!
//! The fused operation continues behind all of them. They remain in place, for jumps into the
//! middle and for packets that end there.

use super::code::{Op, Run, To, UnitCode};
use super::header::Reader;

impl UnitCode {
    /// Fuses operations; jumps are resolved already.
    pub(super) fn join(&mut self, ops: &mut [Op]) {
        for at in 0..ops.len() {
            if let Some((count, reader)) = self.read_at(&ops[at..]) {
                let (run, to) = (self.runs.len() as u32, (at + count) as To);
                self.runs.push(Run { reader, first: ops[at] });
                ops[at] = Op::Read { run, to };
            }
        }
        let mut at = 0;
        while at < ops.len() {
            let sets = ops[at..].iter().map_while(|op| match *op {
                Op::Set { to, value } => Some((to, value)),
                _ => None,
            });
            let sets: Box<[_]> = sets.collect();
            let mut count = sets.len();
            if count > 1 {
                let (list, to) = (self.sets.len() as u32, (at + count) as To);
                self.sets.push(sets);
                ops[at] = Op::SetEach { list, to };
            } else if let Some((header, more)) = emits_at(&ops[at..]) {
                count = more;
                ops[at] = Op::EmitEach { header, count: count as u16, to: (at + count) as To };
            }
            at += count.max(1);
        }
    }

    /// Number of these operations that form one read, with its reader.
    fn read_at(&self, ops: &[Op]) -> Option<(usize, Reader)> {
        let (mut bytes, mut headers, mut found) = (0, Vec::new(), None);
        for (at, op) in ops.iter().enumerate() {
            match *op {
                Op::Skip { bits } if bits.is_multiple_of(8) => {
                    bytes += (bits / 8) as usize;
                    // The bits skipped behind a header must be present, too.
                    if found.is_some() {
                        let Some(reader) = Reader::new(&headers, bytes) else { break };
                        found = Some((at + 1, reader));
                    }
                }
                Op::Extract { header } => {
                    let header = &self.extracted[header as usize];
                    let Some(wire) = &header.wire else { break };
                    // Of a header extracted twice, the last extraction counts.
                    if headers.iter().any(|(_, valid, _)| *valid == header.valid) {
                        break;
                    }
                    headers.push((bytes, header.valid, wire.clone()));
                    bytes += (header.bits / 8) as usize;
                    let Some(reader) = Reader::new(&headers, bytes) else { break };
                    found = Some((at + 1, reader));
                }
                _ => break,
            }
        }
        found
    }
}

/// First of the adjacent headers that these operations emit, and their number.
fn emits_at(ops: &[Op]) -> Option<(u32, usize)> {
    let Some(Op::Emit { header: first }) = ops.first() else { return None };
    let next = |(at, op): (u32, &Op)| matches!(op, Op::Emit { header } if *header == first + at);
    let count = (0..u32::from(u16::MAX)).zip(ops).take_while(|(at, op)| next((*at, op))).count();
    (count > 1).then_some((*first, count))
}
