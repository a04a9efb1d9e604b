//! Snapshots: contents and results of a chip's stages for one packet.
//!
//! A control plane names the stages of a pass and a trigger: the first packet whose fields, on
//! entry to the first of those stages, equal the trigger's is captured. While a snapshot is armed,
//! the packets of its pass are traced step by step; otherwise they are not. The target's [`Plan`]
//! gives the stage of each step and field, so this module must not depend on a target.

mod capture;
mod plan;

pub use plan::{Field, Part, PassPlan, Plan, Slot, Step};

use crate::{ControlError, Number};
use capture::TracedPacket;
use serde::{Deserialize, Serialize};
use sojourn_p4::interp::trace::Trace;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings of a snapshot, from a control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotSetting {
    /// True for egress, false for ingress.
    #[serde(default)]
    pub egress: bool,
    /// The first stage, in which the trigger is evaluated.
    pub first: u32,
    /// The last stage.
    pub last: u32,
    /// Required values of fields on entry to the first stage; any packet triggers if it is empty.
    #[serde(default)]
    pub trigger: Vec<TriggerField>,
}

/// A condition about a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerField {
    /// Name of the field in the program: `hdr.ipv4.ttl`, `hdr.ipv4.$valid$`.
    pub field: String,
    /// Required value.
    pub value: Number,
    /// The bits that count.
    pub mask: Number,
}

/// State of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotState {
    /// Absent or not armed.
    #[default]
    Passive,
    /// Waiting for a packet.
    Armed,
    /// A packet is captured.
    Full,
}

/// A snapshot, read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotRead {
    /// State.
    pub state: SnapshotState,
    /// Captured stages, in order; empty until the snapshot is full.
    pub stages: Vec<StageSeen>,
}

/// Field values and step results of one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSeen {
    /// Its number.
    pub stage: u32,
    /// Fields on entry: those in a container that the stage sees, of valid headers.
    pub fields: BTreeMap<String, Number>,
    /// Containers on entry, by the chip's numbers.
    pub containers: BTreeMap<u16, u32>,
    /// The steps that are in it.
    pub steps: Vec<StepSeen>,
    /// The next step that ran after this stage, if any.
    pub next: Option<StepName>,
}

/// Name of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepName {
    /// A table's full name, or the name of another step in the stage estimate.
    pub name: String,
    /// Whether it is a table of the program.
    pub is_table: bool,
}

/// Result of a step for the packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSeen {
    /// Name of the step.
    pub step: StepName,
    /// Whether the packet reached it.
    pub executed: bool,
    /// Whether an entry was hit.
    pub hit: bool,
    /// The entry's handle.
    pub entry: Option<u32>,
}

/// A snapshot that is armed or full.
#[derive(Clone, Debug)]
struct Snapshot {
    setting: SnapshotSetting,
    seen: Option<Vec<StageSeen>>,
}

/// The snapshots of a program.
#[derive(Clone, Debug)]
pub struct Snapshots {
    plan: Arc<Plan>,
    /// By pass and first stage.
    all: BTreeMap<(bool, u32), Snapshot>,
    /// Whether a snapshot of ingress, and one of egress, is armed.
    armed: [bool; 2],
}

impl Snapshots {
    /// Creates an empty set for a program with this plan.
    pub fn new(plan: Arc<Plan>) -> Snapshots {
        Snapshots { plan, all: BTreeMap::new(), armed: [false; 2] }
    }

    /// Arms a snapshot, in place of one with its first stage.
    ///
    /// # Errors
    /// Returns an error if its stages or fields do not exist, or the program does not fit the
    /// stages.
    pub fn arm(&mut self, setting: &SnapshotSetting) -> Result<(), ControlError> {
        if let Some(why) = &self.plan.refused {
            return Err(ControlError::Message(format!("there are no snapshots of it: {why}")));
        }
        let (first, last, stages) = (setting.first, setting.last, self.plan.stages);
        if first > last || last >= stages {
            let why =
                format!("a snapshot of stages {first} to {last}: there are 0 to {}", stages - 1);
            return Err(ControlError::Message(why));
        }
        for asked in &setting.trigger {
            if !self.stages_of(setting.egress, &asked.field)?.contains(&first) {
                let why = format!("stage {first} does not see `{}`", asked.field);
                return Err(ControlError::Message(why));
            }
        }
        let made = Snapshot { setting: setting.clone(), seen: None };
        self.all.insert((setting.egress, first), made);
        self.update_armed();
        Ok(())
    }

    /// Removes a snapshot; returns whether it existed.
    pub fn disarm(&mut self, egress: bool, first: u32) -> bool {
        let was = self.all.remove(&(egress, first)).is_some();
        self.update_armed();
        was
    }

    /// Current state of a snapshot.
    pub fn read(&self, egress: bool, first: u32) -> SnapshotRead {
        match self.all.get(&(egress, first)) {
            None => SnapshotRead::default(),
            Some(Snapshot { seen: None, .. }) => {
                SnapshotRead { state: SnapshotState::Armed, stages: Vec::new() }
            }
            Some(Snapshot { seen: Some(stages), .. }) => {
                SnapshotRead { state: SnapshotState::Full, stages: stages.clone() }
            }
        }
    }

    /// The stages that see a field.
    ///
    /// # Errors
    /// The pass has no such field.
    pub fn stages_of(&self, egress: bool, field: &str) -> Result<Vec<u32>, ControlError> {
        let plan = &self.plan.passes[usize::from(egress)];
        let found = plan.fields.iter().find(|known| known.name == field);
        let names: Vec<&str> = plan.fields.iter().map(|known| known.name.as_str()).collect();
        let unknown = || ControlError::unknown("field", field, &names);
        let stages = found.ok_or_else(unknown)?.stages.clone();
        Ok(stages.into_iter().flatten().collect())
    }

    /// Whether packets of a pass must be traced.
    #[inline]
    pub fn follows(&self, egress: bool) -> bool {
        self.armed[usize::from(egress)]
    }

    /// Processes the trace of a packet.
    pub fn passed(&mut self, egress: bool, trace: &Trace) {
        let plan = &self.plan.passes[usize::from(egress)];
        // A packet that a parser drops reaches no stage.
        let Some(traced) = TracedPacket::new(plan, trace) else { return };
        for ((_, first), snapshot) in &mut self.all {
            let Snapshot { setting, seen } = snapshot;
            if setting.egress == egress
                && seen.is_none()
                && traced.matches(*first, &setting.trigger)
            {
                *seen = Some((*first..=setting.last).map(|stage| traced.at(stage)).collect());
            }
        }
        self.update_armed();
    }

    fn update_armed(&mut self) {
        let waits = |pass| {
            let mut all = self.all.values();
            all.any(|known| known.setting.egress == pass && known.seen.is_none())
        };
        self.armed = [waits(false), waits(true)];
    }
}
