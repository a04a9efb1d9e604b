//! Table entries in the program's text, and their priorities (specification 14.2.1.4).

use super::Checker;
use super::keyset::span_of;
use super::messages::code;
use super::table::OpenTable;
use crate::ast::{self, Annotation, AnnotationBody, TableProperty};
use crate::diagnostic::Diagnostic;
use crate::hir::{Entry, Expr, ExprKind, Key, Keyset, Value};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};

/// Numbering of priorities.
struct Counting {
    largest_wins: bool,
    delta: i64,
}

impl Checker<'_> {
    pub(super) fn entries(
        &mut self,
        is_const: bool,
        entries: &[ast::Entry],
        annotations: &[Annotation],
        span: Span,
        all: &[TableProperty],
        open: &mut OpenTable<'_>,
    ) {
        open.table.const_entries = is_const;
        if open.table.keys.is_empty() && !entries.is_empty() {
            let message = "a table without key has no entries";
            self.error(code::ENTRY, span, message);
            return;
        }
        let counting = self.counting(all);
        self.check_need_of_priorities(entries, &open.table.keys);
        let priorities = self.priorities(entries, is_const, &counting, annotations);
        for (entry, priority) in entries.iter().zip(priorities) {
            let keys = open.table.keys.clone();
            let keysets = self.entry_keysets(entry, &keys);
            let Some((action, data)) = self.chosen_action(&entry.action, open) else { continue };
            if open.table.actions[action as usize].default_only {
                let message =
                    format!("`{}` is `@defaultonly`: no entry may use it", entry.action.name.text);
                self.error(code::ENTRY, entry.action.span, message);
            }
            let is_const = is_const || entry.is_const;
            let span = entry.span;
            let entry = Entry { keysets, action, data, priority, is_const, span };
            open.table.entries.push(entry);
        }
    }

    fn counting(&mut self, all: &[TableProperty]) -> Counting {
        let mut counting = Counting { largest_wins: true, delta: 1 };
        if let Some((value, span)) = self.constant_property(all, "largest_priority_wins") {
            match value.kind {
                ExprKind::Const(Value::Bool(truth)) => counting.largest_wins = truth,
                _ => {
                    let message = "`largest_priority_wins` must be `true` or `false`";
                    self.error(code::PRIORITY, span, message);
                }
            }
        }
        if let Some((value, span)) = self.constant_property(all, "priority_delta") {
            let delta = match value.ty {
                Type::InfInt | Type::Bit(_) | Type::Int(_) => Self::constant_number(&value),
                _ => None,
            };
            match delta.and_then(|delta| delta.to_i64()).filter(|d| *d > 0 && *d < 1 << 32) {
                Some(delta) => counting.delta = delta,
                None => {
                    let message = "`priority_delta` must be a number of at least 1";
                    self.error(code::PRIORITY, span, message);
                }
            }
        }
        counting
    }

    /// The priorities of all entries; larger wins, whatever the program's own numbering.
    fn priorities(
        &mut self,
        entries: &[ast::Entry],
        is_const: bool,
        counting: &Counting,
        annotations: &[Annotation],
    ) -> Vec<i64> {
        let written: Vec<Option<i64>> = entries
            .iter()
            .map(|entry| entry.priority.as_ref().and_then(|p| self.written_priority(p, is_const)))
            .collect();
        if let Some(annotated) = self.annotated_priorities(entries, &written) {
            return annotated;
        }
        let count = entries.len() as i64;
        let last = count.saturating_sub(1).saturating_mul(counting.delta).saturating_add(1);
        let step = if counting.largest_wins { -counting.delta } else { counting.delta };
        let none_written = written.iter().all(Option::is_none);
        if !none_written && written.first() == Some(&None) {
            let message = "the first entry needs a priority, since others have one";
            self.error(code::PRIORITY, entries[0].span, message);
        }
        let first = if none_written && counting.largest_wins { last } else { 1 };
        let mut made: Vec<i64> = Vec::with_capacity(entries.len());
        for written in &written {
            let next = made.last().map_or(first, |last: &i64| last.saturating_add(step));
            made.push(written.unwrap_or(next));
        }
        self.check_priorities(entries, &made, counting, annotations);
        if counting.largest_wins { made } else { made.into_iter().map(|p| -p).collect() }
    }

    /// The priorities of entries of which some have p4c's `@priority(n)`: the smallest wins, and an
    /// entry without it has its position in the list, counted from 1.
    fn annotated_priorities(
        &mut self,
        entries: &[ast::Entry],
        written: &[Option<i64>],
    ) -> Option<Vec<i64>> {
        let annotation = |entry: &'_ ast::Entry| {
            entry.annotations.iter().find(|a| &*a.name.text == "priority").cloned()
        };
        let annotated: Vec<Option<Annotation>> = entries.iter().map(annotation).collect();
        if annotated.iter().all(Option::is_none) || written.iter().any(Option::is_some) {
            return None;
        }
        let mut made = Vec::with_capacity(entries.len());
        for (place, annotation) in (1..).zip(&annotated) {
            let value = annotation.as_ref().map_or(Some(place), number_in);
            if let (None, Some(annotation)) = (value, annotation) {
                let message = "`@priority` holds one number from 0 to 2147483647";
                self.error(code::PRIORITY, annotation.name.span, message);
            }
            made.push(-value.unwrap_or(place));
        }
        Some(made)
    }

    fn written_priority(&mut self, priority: &ast::Expr, is_const: bool) -> Option<i64> {
        let value = self.known_integer(priority, "a priority")?;
        if is_const {
            let message = "`const entries` go by their order: they have no priorities";
            self.error(code::PRIORITY, priority.span, message);
            return None;
        }
        let value = value.to_i64().filter(|value| (0..1 << 31).contains(value));
        if value.is_none() {
            let message = "a priority is a number from 0 to 2147483647";
            self.error(code::PRIORITY, priority.span, message);
        }
        value
    }

    /// Warns if the entries cannot overlap, so that priorities have no effect.
    fn check_need_of_priorities(&mut self, entries: &[ast::Entry], keys: &[Key]) {
        let exact = |key: &Key| &*self.program.match_kinds[key.match_kind as usize] == "exact";
        if !keys.iter().all(exact) {
            return;
        }
        if let Some(priority) = entries.iter().find_map(|entry| entry.priority.as_ref()) {
            let message = "a table whose keys are all `exact` has no priorities";
            self.error(code::PRIORITY, priority.span, message);
        }
    }

    fn check_priorities(
        &mut self,
        entries: &[ast::Entry],
        made: &[i64],
        counting: &Counting,
        annotations: &[Annotation],
    ) {
        for (entry, priority) in entries.iter().zip(made) {
            if *priority < 0 || *priority >= 1 << 31 {
                let message = format!("the priority of this entry would be {priority}");
                self.error(code::PRIORITY, entry.span, message);
            }
        }
        if !silenced(annotations, "duplicate_priorities") {
            let mut sorted: Vec<(i64, usize)> = made.iter().copied().zip(0..).collect();
            sorted.sort_unstable();
            for pair in sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                let message = format!("two entries have the priority {}", pair[0].0);
                let at = entries[pair[1].1].span;
                let diagnostic = Diagnostic::warning(code::ENTRY_ORDER, at, message)
                    .with_place(entries[pair[0].1].span, "the other one");
                self.report(diagnostic);
            }
        }
        if !silenced(annotations, "entries_out_of_priority_order") {
            for at in 1..made.len() {
                let late = if counting.largest_wins {
                    made[at - 1] < made[at]
                } else {
                    made[at - 1] > made[at]
                };
                if late {
                    let message = "this entry wins over the one before it";
                    self.warning(code::ENTRY_ORDER, entries[at].span, message);
                }
            }
        }
    }

    fn entry_keysets(&mut self, entry: &ast::Entry, keys: &[Key]) -> Vec<Keyset> {
        let types: Vec<&Type> = keys.iter().map(|key| &key.expr.ty).collect();
        let written = Self::spread(&entry.keysets, &types);
        if written.len() != keys.len() {
            let span = entry.keysets.iter().fold(Span::DUMMY, |span, k| span.to(span_of(k)));
            let (wanted, found) = (keys.len(), entry.keysets.len());
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("the table has {wanted} key{plural}, this entry has {found}");
            self.error(code::ENTRY, span, message);
            return keys.iter().map(|_| Keyset::Any).collect();
        }
        let pairs = written.iter().zip(keys);
        pairs
            .map(|(written, key)| {
                let keyset = self.keyset(written, &key.expr.ty);
                self.check_match_kind(&keyset, key, span_of(written));
                keyset
            })
            .collect()
    }

    /// Checks that a keyset is known and allowed by the key's match kind.
    fn check_match_kind(&mut self, keyset: &Keyset, key: &Key, span: Span) {
        let kind = self.program.match_kinds[key.match_kind as usize].clone();
        let known = match keyset {
            Keyset::Value(a) => self.is_known(a),
            Keyset::Mask(a, b) | Keyset::Range(a, b) => self.is_known(a) && self.is_known(b),
            Keyset::Any | Keyset::ValueSet(_) => true,
        };
        if !known {
            self.error(code::NOT_CONSTANT, span, "the key of an entry must be a known value");
            return;
        }
        let allowed = match (&*kind, keyset) {
            ("exact", Keyset::Mask(..) | Keyset::Range(..)) => false,
            ("lpm" | "ternary", Keyset::Range(..)) => false,
            ("range", Keyset::Mask(..)) => false,
            ("optional", Keyset::Mask(..) | Keyset::Range(..)) => false,
            ("lpm", Keyset::Mask(_, mask)) => is_prefix(mask),
            _ => true,
        };
        if !allowed {
            let what = match keyset {
                Keyset::Mask(..) if &*kind == "lpm" => "a mask that is no prefix",
                Keyset::Mask(..) => "a mask",
                _ => "a range",
            };
            let message = format!("a key that is matched `{kind}` cannot be {what}");
            let diagnostic = Diagnostic::error(code::ENTRY, span, message);
            self.report(diagnostic.with_place(key.span, "the key"));
        }
    }
}

/// True if the mask is ones followed by zeros, or is not known.
fn is_prefix(mask: &Expr) -> bool {
    let (ExprKind::Const(Value::Int(n)), Type::Bit(width) | Type::Int(width)) =
        (&mask.kind, &mask.ty)
    else {
        return true;
    };
    let mask = super::constant::unsigned(n, *width);
    let rest: BigInt = super::constant::power_of_two(*width) - mask;
    // 2^k has k trailing zeros and no other bit than its highest.
    rest.trailing_zeros() == Some(rest.bits().saturating_sub(1)) || rest.is_one()
}

/// The number in an annotation such as `@priority(3)`.
fn number_in(annotation: &Annotation) -> Option<i64> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return None };
    let [token] = tokens.as_slice() else { return None };
    token.text.parse().ok().filter(|value| (0..1 << 31).contains(value))
}

/// True if `@noWarn("what")` is present.
fn silenced(annotations: &[Annotation], what: &str) -> bool {
    annotations.iter().any(|annotation| {
        &*annotation.name.text == "noWarn"
            && match &annotation.body {
                AnnotationBody::Tokens(tokens) => tokens.iter().any(|token| &*token.text == what),
                _ => false,
            }
    })
}
