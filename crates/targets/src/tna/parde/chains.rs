//! Parser states that the compiler joins: one that always leads to a state without other
//! predecessors is one state with it.
//!
//! What is known in a state, and which bytes it shifts, is a matter of the joined state. Stands on the
//! IR's parsers.

use sojourn_p4::ir::{Next, ParserBody, StateId, Transition};

/// The states of a parser, joined: each list is one state of the compiler's.
pub fn chains(parser: &ParserBody) -> Vec<Vec<StateId>> {
    let predecessors = predecessors(parser);
    let follower = |state: StateId| match &parser.states.get(state.index())?.transition {
        Transition::Direct(Next::State(next))
            if *next != parser.start && predecessors[next.index()] == 1 =>
        {
            Some(*next)
        }
        _ => None,
    };
    let all = || (0..parser.states.len()).map(|at| StateId(at as u32));
    let mut follows = vec![false; parser.states.len()];
    all().filter_map(follower).for_each(|next| follows[next.index()] = true);
    let heads = all().filter(|state| !follows[state.index()]);
    heads.map(|head| std::iter::successors(Some(head), |state| follower(*state)).collect()).collect()
}

/// How many transitions lead to each state.
fn predecessors(parser: &ParserBody) -> Vec<u32> {
    let mut count = vec![0; parser.states.len()];
    for state in &parser.states {
        let mut see = |next: &Next| {
            if let Next::State(next) = next {
                count[next.index()] += 1;
            }
        };
        match &state.transition {
            Transition::Direct(next) => see(next),
            Transition::Select { cases, .. } => cases.iter().for_each(|case| see(&case.next)),
        }
    }
    count
}
