//! Atomic blocks: the strongly connected components of the flow between state variables, in
//! topological order. After Kosaraju and Sharir, without recursion.

use std::collections::BTreeSet;

/// Groups of `count` variables with flows `edges`, each before those that it flows into. If several
/// orders are possible, the group with the lowest number comes first.
pub fn strongly_connected_components(
    count: usize,
    edges: impl Iterator<Item = (usize, usize)> + Clone,
) -> Vec<Vec<usize>> {
    let mut onward = vec![Vec::new(); count];
    let mut back = vec![Vec::new(); count];
    for (from, to) in edges {
        onward[from].push(to);
        back[to].push(from);
    }
    let mut finished = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    for start in 0..count {
        visit(start, &onward, &mut seen, &mut finished);
    }
    let mut seen = vec![false; count];
    let mut groups = Vec::new();
    for start in finished.into_iter().rev() {
        let mut group = Vec::new();
        visit(start, &back, &mut seen, &mut group);
        if !group.is_empty() {
            group.sort_unstable();
            groups.push(group);
        }
    }
    topological_order(groups, &onward)
}

/// The groups, each before those that it flows into, the lowest number first.
fn topological_order(mut groups: Vec<Vec<usize>>, onward: &[Vec<usize>]) -> Vec<Vec<usize>> {
    groups.sort_unstable();
    let mut group_of = vec![0; onward.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|at| group_of[*at] = number);
    }
    let mut waits = vec![0_u32; groups.len()];
    for (from, list) in onward.iter().enumerate() {
        let others = list.iter().filter(|to| group_of[**to] != group_of[from]);
        others.for_each(|to| waits[group_of[*to]] += 1);
    }
    let mut ready: BTreeSet<usize> = (0..groups.len()).filter(|at| waits[*at] == 0).collect();
    let mut ordered = Vec::with_capacity(groups.len());
    while let Some(number) = ready.pop_first() {
        for from in &groups[number] {
            for to in onward[*from].iter().map(|to| group_of[*to]).filter(|to| *to != number) {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        ordered.push(std::mem::take(&mut groups[number]));
    }
    ordered
}

/// Everything reachable from `start` and not yet seen, each after its own successors.
fn visit(start: usize, next: &[Vec<usize>], seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut stack = vec![(start, 0)];
    while let Some((at, done)) = stack.pop() {
        match next[at].get(done) {
            Some(to) => {
                stack.push((at, done + 1));
                if !std::mem::replace(&mut seen[*to], true) {
                    stack.push((*to, 0));
                }
            }
            None => finished.push(at),
        }
    }
}
