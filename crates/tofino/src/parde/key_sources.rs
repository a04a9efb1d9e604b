//! Sources of a `select` key in a parser: the last writes on the paths to its state (T1309).
//!
//! The match registers are filled from the packet. Depends on the IR's parsers and `state_merging`.

use super::copy_propagation::Known;
use crate::constant_folding::constant;
use sojourn_p4::ir::{Layout, Next, ParserBody, Slot, StateId, Stmt, StmtKind, Transition};
use sojourn_p4::visit;
use std::collections::HashSet;

/// The last write to a variable on a way to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Bytes of the packet, a field, or what an extern answers.
    Packet,
    /// A constant.
    Constant,
    /// There is none.
    Nothing,
}

/// The joined states of a parser and the ways between them.
pub struct Ways<'p> {
    body: &'p ParserBody,
    chains: &'p [Vec<StateId>],
    /// For each chain those that lead to it.
    before: Vec<Vec<usize>>,
}

impl<'p> Ways<'p> {
    /// The ways between `chains`, the joined states of `body`.
    pub fn new(body: &'p ParserBody, chains: &'p [Vec<StateId>]) -> Ways<'p> {
        let head = |state: StateId| chains.iter().position(|chain| chain.first() == Some(&state));
        let mut before = vec![Vec::new(); chains.len()];
        for (from, chain) in chains.iter().enumerate() {
            let Some(last) = chain.last() else { continue };
            let mut lead = |next: &Next| {
                if let Next::State(state) = next
                    && let Some(to) = head(*state)
                {
                    before[to].push(from);
                }
            };
            match &body.states[last.index()].transition {
                Transition::Direct(next) => lead(next),
                Transition::Select { cases, .. } => cases.iter().for_each(|case| lead(&case.next)),
            }
        }
        Ways { body, chains, before }
    }

    /// Last writes to a variable on each path to the end of a chain.
    pub fn sources(&self, chain: usize, slot: Slot) -> HashSet<Source> {
        let mut found = HashSet::new();
        let (mut seen, mut open) = (HashSet::from([chain]), vec![chain]);
        while let Some(at) = open.pop() {
            if let Some(source) = self.written_in(at, slot) {
                found.insert(source);
                continue;
            }
            if self.chains[at].first() == Some(&self.body.start) {
                found.insert(Source::Nothing);
            }
            open.extend(self.before[at].iter().copied().filter(|before| seen.insert(*before)));
        }
        found
    }

    /// The last write in a chain.
    fn written_in(&self, chain: usize, slot: Slot) -> Option<Source> {
        let states = &self.chains[chain];
        let begins = states.first() == Some(&self.body.start);
        let init: &[Stmt] = if begins { &self.body.init } else { &[] };
        let bodies = states.iter().flat_map(|state| &self.body.states[state.index()].body);
        let (mut known, mut last) = (Known::default(), None);
        for stmt in init.iter().chain(bodies) {
            visit::statements(std::slice::from_ref(stmt), &mut |inner| {
                visit::written(inner, &mut |written| {
                    if written == slot {
                        last = Some(kind(inner, slot, &known));
                    }
                });
            });
            known.step(stmt);
        }
        last
    }
}

fn kind(stmt: &Stmt, slot: Slot, known: &Known) -> Source {
    match &stmt.kind {
        StmtKind::Set(_, value) if constant(&known.resolved(value)).is_some() => Source::Constant,
        // The validity of a header that is extracted is the constant 1.
        StmtKind::Extract { header: Layout::Header { valid, .. }, .. }
        | StmtKind::ExtractVar { header: Layout::Header { valid, .. }, .. }
            if *valid == slot =>
        {
            Source::Constant
        }
        _ => Source::Packet,
    }
}
