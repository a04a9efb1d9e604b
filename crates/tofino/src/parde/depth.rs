//! Bytes that an egress parser takes (T1315), as `ParserEnforceDepthReq` of p4c's back end counts them:
//! extracted and skipped bytes of the states of a way, each loop once.
//!
//! A way that is too short is filled up by a parser counter. Uses the IR; knows no values, and leaves
//! parsers out that extract headers of variable size.

use crate::chip::Chip;
use crate::constant_folding::constant;
use crate::rules;
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Body, Layout, Next, ParserBody, Program, Stmt, StmtKind, Transition, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Checks the egress parser of a program for a chip.
pub fn check(chip: &Chip, program: &Program, parser: UnitId, found: &mut Vec<Diagnostic>) {
    let unit = &program.units[parser.index()];
    let Body::Parser(body) = &unit.body else { return };
    let Some((least, most)) = depths(body) else { return };
    let allowed = &chip.egress_parse_depth;
    if most > *allowed.end() {
        let message = format!("a way of {most} bytes through the egress parser");
        found.push(rules::PARSE_DEPTH.refuse(unit.span, message).into());
    } else if least < *allowed.start()
        && let Some(counter) = counter(program, parser)
    {
        let message = format!("a counter beside a way of {least} bytes through the egress parser");
        found.push(rules::PARSE_DEPTH.refuse(counter, message).into());
    }
}

/// The first use of a parser counter.
fn counter(program: &Program, parser: UnitId) -> Option<Span> {
    let mut first = None;
    visit::unit_statements(program, parser, &mut |stmt| {
        if let StmtKind::Call(call) = &stmt.kind
            && call.object.is_some_and(|id| &*program.objects[id.index()].of == "ParserCounter")
        {
            first.get_or_insert(call.span);
        }
    });
    first
}

/// Bytes of the shortest and of the longest way from the start to an end. States wait in a queue, each
/// once: in a stack, ways that meet again would double the work at each meeting.
fn depths(body: &ParserBody) -> Option<(u64, u64)> {
    let sizes: Vec<u64> =
        body.states.iter().map(|state| size(&state.body)).collect::<Option<_>>()?;
    let start = body.start.index();
    let mut least = BTreeMap::from([(start, sizes[start])]);
    let mut most = BTreeMap::from([(start, (sizes[start], BTreeSet::from([start])))]);
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        let (shortest, (longest, way)) = (least[&at], most[&at].clone());
        for next in successors(body, at) {
            let mut is_news = false;
            let short = shortest + sizes[next];
            if least.get(&next).is_none_or(|known| short < *known) {
                least.insert(next, short);
                is_news = true;
            }
            let long = longest + sizes[next];
            if !way.contains(&next) && most.get(&next).is_none_or(|(known, _)| long > *known) {
                let mut way = way.clone();
                way.insert(next);
                most.insert(next, (long, way));
                is_news = true;
            }
            if is_news && !open.contains(&next) {
                open.push_back(next);
            }
        }
    }
    let is_end = |at: &usize| {
        nexts(&body.states[*at].transition).iter().any(|next| !matches!(next, Next::State(_)))
    };
    let shortest = least.iter().filter(|(at, _)| is_end(at)).map(|(_, depth)| *depth).min()?;
    let longest = most.iter().filter(|(at, _)| is_end(at)).map(|(_, (depth, _))| *depth).max()?;
    Some((shortest, longest))
}

fn successors(body: &ParserBody, at: usize) -> Vec<usize> {
    let index = |next: Next| match next {
        Next::State(state) => Some(state.index()),
        Next::Accept | Next::Reject => None,
    };
    nexts(&body.states[at].transition).into_iter().filter_map(index).collect()
}

/// The targets of a transition; a `select` in which nothing may match rejects.
fn nexts(transition: &Transition) -> Vec<Next> {
    match transition {
        Transition::Direct(next) => vec![*next],
        Transition::Select { cases, .. } => {
            cases.iter().map(|case| case.next).chain([Next::Reject]).collect()
        }
    }
}

/// Bytes that the statements of a state take; none if they vary.
fn size(stmts: &[Stmt]) -> Option<u64> {
    let mut bits = Some(0);
    visit::statements(stmts, &mut |stmt| {
        let more = match &stmt.kind {
            StmtKind::Extract { bits, .. } | StmtKind::Skip { bits, .. } => Some(u64::from(*bits)),
            StmtKind::ExtractNext { stack: Layout::Stack { elements, .. } } => {
                elements.first().map(|element| element.wire_bits(None))
            }
            StmtKind::Advance { bits } => constant(bits).and_then(|bits| u64::try_from(bits).ok()),
            StmtKind::ExtractVar { .. } | StmtKind::ExtractNext { .. } => None,
            _ => Some(0),
        };
        bits = bits.zip(more).map(|(bits, more)| bits + more);
    });
    bits.map(|bits| bits / 8)
}
