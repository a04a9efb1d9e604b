//! Snapshots of a loaded program: its passes are followed step by step while one waits for a packet.

use super::fit;
use super::pipeline::Tofino;
use sojourn_control::snapshot::Snapshots;
use sojourn_p4::interp::trace::Trace;
use std::sync::Arc;

/// The trace of another observer of the pass.
pub(super) struct SavedTrace(Option<Box<Trace>>);

impl Tofino {
    /// The snapshots; `None` without the program's text, from which stages are estimated.
    pub(super) fn snapshots(&mut self) -> Option<&mut Snapshots> {
        if self.snapshots.is_none() {
            let sources = self.sources.clone()?;
            let plan = fit::plan(self.chip(), self.elaborated(), self.blocks(), &sources);
            self.snapshots = Some(Box::new(Snapshots::new(Arc::new(plan))));
        }
        self.snapshots.as_deref_mut()
    }

    /// Runs a pass, which is followed if a snapshot waits for its packet.
    #[inline(never)]
    pub(super) fn run_followed<D>(
        &mut self,
        egress: bool,
        run: impl FnOnce(&mut Tofino) -> D,
    ) -> D {
        let before = self.follow(egress);
        let out = run(self);
        if let Some(before) = before {
            self.followed(egress, before);
        }
        out
    }

    /// Has a pass followed if a snapshot waits for its packet.
    #[inline]
    fn follow(&mut self, egress: bool) -> Option<SavedTrace> {
        match &self.snapshots {
            Some(snapshots) if snapshots.follows(egress) => Some(self.begin_to_follow()),
            _ => None,
        }
    }

    #[cold]
    fn begin_to_follow(&mut self) -> SavedTrace {
        SavedTrace(self.runtime.trace.replace(Box::new(Trace::with_frames())))
    }

    /// Looks what a pass that was followed is to the snapshots.
    #[cold]
    fn followed(&mut self, egress: bool, before: SavedTrace) {
        let trace = std::mem::take(&mut self.runtime.trace);
        if let (Some(trace), Some(snapshots)) = (&trace, &mut self.snapshots) {
            snapshots.passed(egress, trace);
        }
        // An observer of the packet gets the steps, too.
        self.runtime.trace = before.0.and(trace);
    }
}
