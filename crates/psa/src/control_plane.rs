//! Control-plane access to a PSA program, before the first packet and at run time.

use super::pipeline::Psa;
use sojourn_control::digest::Digest;
use sojourn_control::runtime_control::{Parts, RegisterCells, RuntimeControl, as_cells};
use sojourn_p4::interp::Tables;
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_p4::ir::{Program, TableId};
use sojourn_packet::Time;
use std::sync::Arc;

impl RuntimeControl for Psa {
    fn program(&self) -> &Arc<Program> {
        self.interpreter.program()
    }

    fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    fn parts(&mut self) -> Parts<'_> {
        let runtime = &mut self.runtime;
        Parts {
            tables: &mut self.tables,
            profiles: &mut runtime.profiles,
            counters: &mut runtime.counters,
            meters: &mut runtime.meters,
            filters: &mut [],
        }
    }

    fn registers(&mut self) -> Vec<&mut dyn RegisterCells> {
        as_cells(&mut self.runtime.registers)
    }

    fn counts_entries(&self, counter: usize) -> bool {
        self.runtime.direct_counters.contains(&counter)
    }

    fn meters_entries(&self, meter: usize) -> bool {
        self.runtime.direct_meters.contains(&meter)
    }

    fn take_digests(&mut self) -> Vec<Digest> {
        self.runtime.digests.take()
    }

    fn note_hits(&mut self, table: TableId) -> bool {
        self.runtime.hits.begin(table);
        true
    }

    fn last_hit(&self, table: TableId, entry: EntryHandle) -> Option<Time> {
        self.runtime.hits.last(table, entry)
    }

    fn fault(&self) -> Option<String> {
        self.runtime.faults.first_drop().map(ToString::to_string)
    }
}
