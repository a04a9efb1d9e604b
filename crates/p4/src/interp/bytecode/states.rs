//! States of parsers: whether a packet can come to one of them twice.

use crate::ir::{Next, State, Transition};

/// True if there is a way from some state back to it. A parser without one comes to its end by
/// itself: its states need not be counted.
pub(super) fn go_round(states: &[State]) -> bool {
    let mut left: Vec<usize> = (0..states.len()).collect();
    // States that no other one leads to are taken away, until there is none.
    loop {
        let mut reached = vec![false; states.len()];
        for next in left.iter().flat_map(|at| nexts(&states[*at])) {
            if let Next::State(to) = next
                && let Some(reached) = reached.get_mut(to.index())
            {
                *reached = true;
            }
        }
        let before = left.len();
        left.retain(|at| reached[*at]);
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

fn nexts(state: &State) -> Vec<Next> {
    match &state.transition {
        Transition::Direct(next) => vec![*next],
        Transition::Select { cases, .. } => cases.iter().map(|case| case.next).collect(),
    }
}
