//! Merging of statements into actions: neighbours that do not depend on each other, with at most
//! one extern call among them. The vendor's compiler builds actions of statements outside tables in
//! this way; a called action is one anyway.

use super::bits::Bits;
use super::node::{Kind, Node};
use sojourn_p4::source::{SourceMap, Span};

/// The nodes that are needed, merged; guards point into the new list.
pub fn merge(nodes: Vec<Node>, sources: &SourceMap) -> Vec<Node> {
    let mut merged: Vec<Node> = Vec::new();
    let mut place = vec![None; nodes.len()];
    let guards: Vec<Option<usize>> = nodes.iter().map(|node| node.guard).collect();
    for (at, mut node) in nodes.into_iter().enumerate().filter(|(_, node)| node.alive) {
        node.guard = guards[at].and_then(|guard| place[guard]);
        match merged.last_mut() {
            Some(group) if one_action(group, &node, sources) => join(group, node),
            _ => merged.push(node),
        }
        place[at] = Some(merged.len() - 1);
    }
    merged
}

fn one_action(group: &Node, next: &Node, sources: &SourceMap) -> bool {
    let alike = group.kind == Kind::Action
        && next.kind == Kind::Action
        && group.list == next.list
        && group.guard == next.guard
        && group.path == next.path;
    alike
        && !next.chooses_checksum()
        && group.calls + next.calls <= 1
        && group.extra == 0
        && next.extra == 0
        && !group.writes.iter().any(|write| {
            // In front of a statement of the control itself, the compiler compares whole fields.
            let meets = |bits: &Bits| match next.in_action {
                true => bits.overlap(&write.bits),
                false => bits.place == write.bits.place,
            };
            let read = next.reads.iter().any(|read| meets(&read.bits));
            read || next.writes.iter().any(|other| meets(&other.bits))
        })
        && same_text(group.span, next.span, sources)
}

/// True if there is no brace between the two: they are in one action, or both in none.
pub fn same_text(first: Span, second: Span, sources: &SourceMap) -> bool {
    if second.start < first.end {
        return first == second;
    }
    !sources.text(Span::new(first.end, second.start)).contains(['{', '}'])
}

fn join(group: &mut Node, next: Node) {
    if !next.registers.is_empty() || group.name.is_empty() {
        // The register gives the name; what else the action does comes after it.
        group.name = format!("{}, {}", next.name, group.name);
    } else if !group.name.split(", ").any(|name| name == next.name) {
        group.name = format!("{}, {}", group.name, next.name);
    }
    group.span = group.span.to(next.span);
    let written = || next.writes.iter().map(|write| write.bits);
    group.words.iter_mut().for_each(|word| word.extend(written()));
    group.reads.extend(next.reads);
    group.writes.extend(next.writes);
    group.in_part.extend(next.in_part);
    group.registers.extend(next.registers);
    group.accesses.extend(next.accesses);
    group.objects.extend(next.objects);
    group.calls += next.calls;
    group.data_bytes += next.data_bytes;
    group.shared_byte |= next.shared_byte;
}
