//! Lookups against a matcher that tries every entry, and the control-plane interface.

use super::*;
use crate::ir::{Expr, ExprKind, Key, Layout, Slot, Table, TableAction, UnitId};
use crate::source::Span;
use proptest::prelude::*;

fn key(name: &str, scalar: Scalar, kind: &str) -> Key {
    let expr = Expr { kind: ExprKind::Const(0), scalar, span: Span::DUMMY };
    let (name, match_kind) = (name.into(), kind.into());
    Key { expr, match_kind, name, annotations: Arc::from([]), span: Span::DUMMY }
}

fn action(name: &str, data: &[(&str, u32)]) -> TableAction {
    let data = data.iter().enumerate().map(|(at, (name, width))| {
        ((*name).into(), Layout::Narrow(Slot(at as u32), Scalar::Bit(*width)))
    });
    TableAction {
        name: name.into(),
        data: data.collect(),
        body: Vec::new(),
        default_only: false,
        table_only: false,
        annotations: Arc::from([]),
        span: Span::DUMMY,
    }
}

fn table(keys: Vec<Key>) -> Table {
    Table {
        name: "Ingress.forward".into(),
        unit: UnitId(0),
        keys,
        actions: vec![action("Ingress.send", &[("port", 9)]), action("NoAction", &[])],
        default_action: Some((1, Vec::new())),
        const_default_action: false,
        entries: Vec::new(),
        const_entries: false,
        size: Some(1000),
        properties: Vec::new(),
        annotations: Arc::from([]),
        span: Span::DUMMY,
    }
}

fn tables(table: Table) -> Tables {
    Tables::new(Arc::new(Program { tables: vec![table], ..Program::default() }))
}

fn send(port: u32) -> EntryTarget {
    EntryTarget::Action("send".into(), vec![("port".into(), BigUint::from(port))])
}

fn exact(value: u32) -> Match {
    Match::Exact(BigUint::from(value))
}

fn spec(keys: Vec<(&str, Match)>, target: EntryTarget) -> EntrySpec {
    let keys = keys.into_iter().map(|(name, given)| (name.to_owned(), given)).collect();
    EntrySpec { keys, target, priority: 0 }
}

fn limbs_of(value: &BigUint, scalar: Scalar) -> SmallVec<[u128; 4]> {
    let mut limbs = SmallVec::new();
    push_limbs(value, scalar, &mut limbs);
    limbs
}

const FORWARD: TableId = TableId(0);

#[test]
fn an_entry_is_found_until_it_is_deleted_and_its_handle_used_again() {
    let mut tables = tables(table(vec![key("hdr.ipv4.dst", Scalar::Bit(32), "exact")]));
    let first = tables.add(FORWARD, &spec(vec![("dst", exact(7))], send(1))).expect("fits");
    let second =
        tables.add(FORWARD, &spec(vec![("hdr.ipv4.dst", exact(8))], send(2))).expect("fits");
    let state = tables.get(FORWARD).expect("there");
    assert_eq!(state.lookup(&[7]), Some(first));
    assert_eq!(state.lookup(&[9]), None);
    let Found::Action(data) = state.found(Some(second)) else { panic!("an action") };
    assert_eq!((data.action, &data.data[..]), (0, &[Datum::Narrow(2)][..]));
    tables.delete(FORWARD, first).expect("there");
    assert_eq!(tables.get(FORWARD).expect("there").lookup(&[7]), None);
    let third = tables.add(FORWARD, &spec(vec![("dst", exact(9))], send(3))).expect("fits");
    assert_eq!(third, first);
}

#[test]
fn an_unknown_name_is_reported_with_similar_names() {
    let mut tables = tables(table(vec![
        key("hdr.ipv4.dst", Scalar::Bit(32), "lpm"),
        key("port", Scalar::Bit(9), "exact"),
    ]));
    let mut says = |spec: EntrySpec| tables.add(FORWARD, &spec).expect_err("refused").to_string();
    let said = says(spec(vec![("hdr.ipv4.dts", exact(1)), ("port", exact(1))], send(1)));
    assert!(said.contains("did you mean `hdr.ipv4.dst`"), "{said}");
    let said = says(spec(vec![("port", exact(512))], send(1)));
    assert!(said.contains("512 does not fit key `port`") && said.contains("9 bits"), "{said}");
    let said = says(spec(vec![("hdr.ipv4.dst", exact(1))], send(1)));
    assert!(said.contains("key `port`") && said.contains("missing"), "{said}");
    let said = says(spec(vec![("port", Match::Any)], send(1)));
    assert!(said.contains("exact"), "{said}");
    let wrong = EntryTarget::Action("sned".into(), vec![]);
    let said = says(spec(vec![("port", exact(1))], wrong));
    assert!(said.contains("did you mean `send`"), "{said}");
    let said = says(spec(vec![("port", exact(1))], EntryTarget::Action("send".into(), vec![])));
    assert!(said.contains("parameter `port`") && said.contains("missing"), "{said}");
    let prefix = Match::Prefix { value: BigUint::ZERO, length: 33 };
    let said = says(spec(vec![("dst", prefix), ("port", exact(1))], send(1)));
    assert!(said.contains("33") && said.contains("32 bits"), "{said}");
    assert!(tables.find("Ingress.forwrd").expect_err("none").to_string().contains("forward"));
    assert_eq!(tables.find("forward"), Ok(FORWARD));
    assert!(tables.get(FORWARD).expect("there").is_empty(), "nothing was added on the way");
}

#[test]
fn the_same_match_twice_is_refused_and_so_is_one_too_many() {
    let mut small = table(vec![key("k", Scalar::Bit(8), "exact")]);
    small.size = Some(2);
    let mut tables = tables(small);
    tables.add(FORWARD, &spec(vec![("k", exact(1))], send(1))).expect("fits");
    let twice = tables.add(FORWARD, &spec(vec![("k", exact(1))], send(2)));
    assert!(matches!(twice, Err(TableError::Duplicate { .. })));
    tables.add(FORWARD, &spec(vec![("k", exact(2))], send(1))).expect("fits");
    let full = tables.add(FORWARD, &spec(vec![("k", exact(3))], send(1)));
    assert!(matches!(full, Err(TableError::Full { size: 2, .. })));
}

#[test]
fn constant_entries_and_defaults_are_protected() {
    let mut fixed = table(vec![key("k", Scalar::Bit(8), "exact")]);
    let entry = |value: u8, is_const| ir::Entry {
        patterns: vec![Pattern::Value(BigUint::from(value))],
        action: 0,
        data: vec![BigUint::from(5u8)],
        priority: 1,
        is_const,
        span: Span::DUMMY,
    };
    fixed.entries = vec![entry(1, true), entry(2, false)];
    fixed.const_default_action = true;
    let mut tables = tables(fixed);
    let at =
        |tables: &Tables, key| tables.get(FORWARD).and_then(|t| t.lookup(&[key])).expect("hit");
    let (kept, open) = (at(&tables, 1), at(&tables, 2));
    assert!(matches!(tables.delete(FORWARD, kept), Err(TableError::ConstEntry { .. })));
    assert!(matches!(tables.modify(FORWARD, kept, &send(1)), Err(TableError::ConstEntry { .. })));
    tables.modify(FORWARD, open, &send(9)).expect("open to change");
    let default = tables.set_default(FORWARD, &EntryTarget::Action("NoAction".into(), vec![]));
    assert!(matches!(default, Err(TableError::ConstDefault { .. })));
    tables.clear(FORWARD).expect("there");
    assert_eq!(tables.get(FORWARD).expect("there").len(), 1);
}

#[test]
fn a_table_without_a_key_always_misses() {
    let mut tables = tables(table(Vec::new()));
    assert!(matches!(tables.add(FORWARD, &spec(vec![], send(1))), Err(TableError::NoKeys { .. })));
    tables.set_default(FORWARD, &send(3)).expect("fits");
    let state = tables.get(FORWARD).expect("there");
    assert_eq!(state.lookup(&[]), None);
    assert!(matches!(state.found(None), Found::Action(data) if data.action == 0));
}

const WIDTHS: [u32; 5] = [1, 8, 32, 128, 200];

#[derive(Clone, Debug)]
struct Case {
    scalars: Vec<Scalar>,
    kinds: Vec<&'static str>,
    entries: Vec<(Vec<Match>, i64)>,
    lookups: Vec<Vec<BigUint>>,
}

/// Few different values, so that entries and keys meet.
fn value(scalar: Scalar) -> impl Strategy<Value = BigUint> {
    let width = scalar.width();
    (0u8..6, any::<[u8; 26]>(), 0u32..300).prop_map(move |(small, bytes, bit)| {
        let wide = BigUint::from_bytes_be(&bytes);
        let value = match small {
            5 => wide,
            4 => BigUint::from(1u8) << (bit % width),
            small => BigUint::from(small),
        };
        value & arith::wide_mask(width)
    })
}

fn criterion(scalar: Scalar, kind: &'static str) -> BoxedStrategy<Match> {
    let width = scalar.width();
    match kind {
        "exact" => value(scalar).prop_map(Match::Exact).boxed(),
        "lpm" => (value(scalar), 0..=width)
            .prop_map(|(value, length)| Match::Prefix { value, length })
            .boxed(),
        "range" => (value(scalar), value(scalar))
            .prop_map(move |(a, b)| {
                let number = |v| arith::number(scalar, v);
                let (low, high) = if number(&a) <= number(&b) { (a, b) } else { (b, a) };
                Match::Range { low, high }
            })
            .boxed(),
        "optional" => prop_oneof![value(scalar).prop_map(Match::Exact), Just(Match::Any)].boxed(),
        _ => (value(scalar), value(scalar))
            .prop_map(|(value, mask)| Match::Ternary { value, mask })
            .boxed(),
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let column = (
        prop::sample::select(&WIDTHS[..]),
        any::<bool>(),
        prop::sample::select(&["exact", "ternary", "lpm", "range", "optional"][..]),
    );
    prop::collection::vec(column, 1..4).prop_flat_map(|columns| {
        let scalars: Vec<Scalar> = columns
            .iter()
            .map(
                |(width, signed, _)| {
                    if *signed { Scalar::Int(*width) } else { Scalar::Bit(*width) }
                },
            )
            .collect();
        let kinds: Vec<&'static str> = columns.iter().map(|(_, _, kind)| *kind).collect();
        let criteria: Vec<_> =
            scalars.iter().zip(&kinds).map(|(scalar, kind)| criterion(*scalar, kind)).collect();
        let entries = prop::collection::vec((criteria, -3i64..3), 0..30);
        let key: Vec<_> = scalars.iter().map(|scalar| value(*scalar)).collect();
        let lookups = prop::collection::vec(key, 1..20);
        (entries, lookups).prop_map(move |(entries, lookups)| Case {
            scalars: scalars.clone(),
            kinds: kinds.clone(),
            entries,
            lookups,
        })
    })
}

fn holds(given: &Match, scalar: Scalar, value: &BigUint) -> bool {
    let width = scalar.width();
    match given {
        Match::Any => true,
        Match::Exact(wanted) => wanted == value,
        Match::Ternary { value: wanted, mask } => (wanted & mask) == (value & mask),
        Match::Prefix { value: wanted, length } => {
            (wanted >> (width - length)) == (value >> (width - length))
        }
        Match::Range { low, high } => {
            let number = |v| arith::number(scalar, v);
            number(low) <= number(value) && number(value) <= number(high)
        }
    }
}

fn prefix_of(given: &[Match], scalars: &[Scalar]) -> u32 {
    let lengths = given.iter().zip(scalars).map(|(given, scalar)| match given {
        Match::Prefix { length, .. } => *length,
        Match::Exact(_) => scalar.width(),
        _ => 0,
    });
    lengths.sum()
}

proptest! {
    #[test]
    fn every_lookup_finds_what_trying_all_entries_finds(case in cases(), gone in any::<u64>()) {
        let names = ["a", "b", "c"];
        let keys = case.scalars.iter().zip(&case.kinds).zip(names);
        let keys = keys.map(|((scalar, kind), name)| key(name, *scalar, kind)).collect();
        let mut tables = tables(table(keys));
        let ranked = case.kinds.iter().any(|kind| !matches!(*kind, "exact" | "lpm"));
        let mut present: Vec<(EntryHandle, Vec<Match>, i64)> = Vec::new();
        for (at, (matches, priority)) in case.entries.iter().enumerate() {
            let keys = names.iter().zip(matches).map(|(n, m)| ((*n).to_owned(), m.clone())).collect();
            let spec = EntrySpec { keys, target: send(1), priority: *priority };
            if let Ok(handle) = tables.add(FORWARD, &spec) {
                present.push((handle, matches.clone(), *priority));
                if gone >> (at % 64) & 1 == 1 && at % 3 == 0 {
                    tables.delete(FORWARD, handle).expect("just added");
                    present.pop();
                }
            }
        }
        for lookup in &case.lookups {
            let mut expected: Option<((i64, u32), EntryHandle)> = None;
            for (handle, matches, priority) in &present {
                let fits = matches.iter().zip(&case.scalars).zip(lookup);
                if !fits.clone().all(|((given, scalar), value)| holds(given, *scalar, value)) {
                    continue;
                }
                let rank = if ranked { (*priority, 0) } else { (0, prefix_of(matches, &case.scalars)) };
                // The first of equal ranks wins.
                if expected.is_none_or(|(best, _)| rank > best) {
                    expected = Some((rank, *handle));
                }
            }
            let mut key = SmallVec::<[u128; 8]>::new();
            for (value, scalar) in lookup.iter().zip(&case.scalars) {
                key.extend(limbs_of(value, *scalar));
            }
            let found = tables.get(FORWARD).expect("there").lookup(&key);
            prop_assert_eq!(found, expected.map(|(_, handle)| handle));
        }
    }
}

/// A kind of key element, and a form that it may be given in.
fn kind_and_form() -> impl Strategy<Value = (&'static str, Form)> {
    let pairs = [
        ("exact", Form::Exact),
        ("lpm", Form::Exact),
        ("lpm", Form::Prefix),
        ("ternary", Form::Ternary),
        ("ternary", Form::Prefix),
        ("range", Form::Range),
        ("optional", Form::Exact),
        ("exact", Form::Ternary),
    ];
    prop::sample::select(pairs.to_vec())
}

/// Keys of a table, rows for it, and whether the last key element is left out.
fn rows_of_a_table() -> impl Strategy<Value = (Vec<Key>, Rows)> {
    let element = (kind_and_form(), prop::sample::select(vec![5u32, 9, 128, 130]));
    (prop::collection::vec(element, 1..4), any::<bool>(), any::<bool>()).prop_flat_map(
        |(elements, prioritised, partly)| {
            let name = |at: usize| format!("k{at}");
            let keys = elements.iter().enumerate().map(|(at, ((kind, _), width))| {
                let scalar = if at == 1 { Scalar::Int(*width) } else { Scalar::Bit(*width) };
                key(&name(at), scalar, kind)
            });
            let given = elements.len() - usize::from(partly && elements.len() > 1);
            let forms = elements.iter().enumerate().map(|(at, ((_, form), _))| (name(at), *form));
            let template = EntryTemplate {
                keys: forms.take(given).collect(),
                action: "send".into(),
                args: vec!["port".into()],
                prioritised,
            };
            let row = prop::collection::vec(0..34u128, template.width());
            let rows = prop::collection::vec(row, 1..8).prop_map(move |numbers| {
                let mut rows = Rows::new(template.clone());
                numbers.into_iter().for_each(|row| rows.push(row));
                rows
            });
            (Just(keys.collect::<Vec<Key>>()), rows)
        },
    )
}

proptest! {
    #[test]
    fn rows_are_taken_and_refused_as_the_same_entries_by_name_are(
        (keys, rows) in rows_of_a_table(),
    ) {
        let (mut together, mut named) = (tables(table(keys.clone())), tables(table(keys)));
        let mut one_by_one = (0..rows.len()).map(|at| {
            named.add(FORWARD, &rows.spec(at)).map_err(|error| (at, error.to_string()))
        });
        let refused = one_by_one.find_map(Result::err);
        let done = together.add_rows(FORWARD, &rows);
        prop_assert_eq!(done.as_ref().err().map(|(at, why)| (*at, why.to_string())), refused);
        let left = together.entries(FORWARD).expect("there");
        match done {
            Ok(undone) => {
                prop_assert_eq!(left, named.entries(FORWARD).expect("there"));
                together.undo(FORWARD, undone);
            }
            Err(_) => prop_assert!(left.is_empty()),
        }
        prop_assert!(together.entries(FORWARD).expect("there").is_empty());
    }
}

#[test]
fn a_row_without_numbers_is_an_entry_like_another() {
    let mut any = tables(table(vec![key("k", Scalar::Bit(12), "ternary")]));
    let action = "NoAction".to_owned();
    let mut rows =
        Rows::new(EntryTemplate { keys: vec![], action, args: vec![], prioritised: false });
    rows.push([]);
    any.add_rows(FORWARD, &rows).expect("it fits");
    assert!(any.get(FORWARD).expect("there").lookup(&[5]).is_some());
    rows.push([]);
    assert_eq!(any.add_rows(FORWARD, &rows).expect_err("the same match").0, 0);
}

fn by_number(numbers: impl IntoIterator<Item = [u128; 2]>) -> Rows {
    let keys = vec![("k".to_owned(), Form::Exact)];
    let (action, args) = ("send".to_owned(), vec!["port".to_owned()]);
    let mut rows = Rows::new(EntryTemplate { keys, action, args, prioritised: false });
    numbers.into_iter().for_each(|row| rows.push(row));
    rows
}

#[test]
fn a_row_that_does_not_fit_is_named_by_its_number_and_leaves_the_table_as_it_was() {
    let mut exact = tables(table(vec![key("k", Scalar::Bit(12), "exact")]));
    exact.add(FORWARD, &spec(vec![("k", self::exact(7))], send(1))).expect("it fits");
    let mut refused = |rows: Rows| {
        let (at, error) = exact.add_rows(FORWARD, &rows).expect_err("refused");
        assert_eq!(exact.get(FORWARD).expect("there").len(), 1);
        (at, error.to_string())
    };
    let (at, why) = refused(by_number([[1, 1], [4096, 1]]));
    assert!(at == 1 && why.contains("12 bits"), "{why}");
    let (at, why) = refused(by_number([[1, 512]]));
    assert!(at == 0 && why.contains("9 bits"), "{why}");
    let (at, why) = refused(by_number([[1, 1], [2, 1], [7, 2]]));
    assert!(at == 2 && why.contains("same match"), "{why}");
    let (at, why) = refused(by_number((10..1010).map(|at| [at, 0])));
    assert!(at == 999 && why.contains("full"), "{why}");
}
