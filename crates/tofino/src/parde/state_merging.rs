//! Parser states that the compiler joins: a state that always leads to one without other
//! predecessors is one state with it.
//!
//! Known values and shifted bytes are properties of the joined state. Unreachable states do not
//! count. States with annotations and states that extract a header of variable size stay separate.
//! Depends on the IR's parsers.

use sojourn_p4::ir::{Next, ParserBody, State, StateId, StmtKind, Transition};
use std::collections::BTreeSet;

/// The states of a parser that can be reached, joined: each list is one state of the compiler's.
pub fn chains(parser: &ParserBody) -> Vec<Vec<StateId>> {
    let reachable = reachable(parser);
    let mut callers = vec![0; parser.states.len()];
    for state in &reachable {
        let state = &parser.states[state.index()];
        followers(state).into_iter().for_each(|next| callers[next.index()] += 1);
    }
    let joined = |state: StateId| {
        let from = &parser.states[state.index()];
        let Transition::Direct(Next::State(next)) = from.transition else { return None };
        let to = &parser.states[next.index()];
        let alone = callers[next.index()] == 1 && next != parser.start;
        (alone && !stays_apart(from) && !stays_apart(to)).then_some(next)
    };
    let second: BTreeSet<StateId> = reachable.iter().filter_map(|state| joined(*state)).collect();
    let heads = reachable.iter().filter(|state| !second.contains(state));
    heads.map(|head| std::iter::successors(Some(*head), |state| joined(*state)).collect()).collect()
}

fn reachable(parser: &ParserBody) -> BTreeSet<StateId> {
    let (mut seen, mut open) = (BTreeSet::from([parser.start]), vec![parser.start]);
    while let Some(state) = open.pop() {
        let next = followers(&parser.states[state.index()]);
        open.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    seen
}

/// The states that a state leads to, each once.
fn followers(state: &State) -> BTreeSet<StateId> {
    let target = |next: &Next| match next {
        Next::State(state) => Some(*state),
        _ => None,
    };
    match &state.transition {
        Transition::Direct(next) => target(next).into_iter().collect(),
        Transition::Select { cases, .. } => {
            cases.iter().filter_map(|case| target(&case.next)).collect()
        }
    }
}

fn stays_apart(state: &State) -> bool {
    let varies = |kind: &StmtKind| matches!(kind, StmtKind::ExtractVar { .. });
    !state.annotations.is_empty() || state.body.iter().any(|stmt| varies(&stmt.kind))
}
