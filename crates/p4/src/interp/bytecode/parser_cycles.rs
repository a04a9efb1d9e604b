//! Cycle detection among the states of a parser.

use crate::ir::{Next, State, Transition};

/// True if some state can reach itself. A parser without such a state always ends, so its states
/// need not be counted.
pub(super) fn go_round(states: &[State]) -> bool {
    let mut left: Vec<usize> = (0..states.len()).collect();
    // States without predecessors are removed repeatedly, until none is left.
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
