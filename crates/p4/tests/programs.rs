//! Runs the small programs of `programs/`: each says itself what has to come of it.
//!
//! `programs/README.md` describes the expectation lines.

use num_bigint::{BigInt, BigUint};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::interp::{Executor, Frame, Interpreter, NoExterns, PacketIn, PacketOut, Tables};
use sojourn_p4::interp::{arith, copy_layout};
use sojourn_p4::ir::{Body, Layout, PackageArg, Scalar, UnitId};
use sojourn_p4::preprocess::PreprocessOptions;
use sojourn_p4::source::SourceMap;
use sojourn_p4::types::Type;
use sojourn_p4::{Compiled, compile};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// One run of a program and what it is to give.
#[derive(Clone, Debug, Default)]
struct Run {
    input: Option<String>,
    packet: Option<String>,
    output: Option<String>,
    emitted: Option<String>,
    reject: bool,
    error: Option<String>,
}

/// Expected result of a file.
#[derive(Debug, Default)]
struct Expectations {
    ok: bool,
    errors: Vec<(String, u32)>,
    runs: Vec<Run>,
}

fn expectations(text: &str) -> Expectations {
    let mut found = Expectations::default();
    let comments = text.lines().filter_map(|line| line.strip_prefix("// "));
    let pairs = comments.filter_map(|line| line.split_once(':'));
    for (kind, rest) in pairs {
        let rest = rest.trim().to_owned();
        match kind {
            "expect" => found.ok = rest == "ok",
            "expect-error" => {
                let (phrase, line) = rest.rsplit_once("at line ").unwrap_or((&rest, "0"));
                found.errors.push((phrase.trim().to_owned(), line.trim().parse().unwrap_or(0)));
            }
            "input" => found.runs.push(Run { input: Some(rest), ..Run::default() }),
            "packet" => match found.runs.last_mut() {
                Some(run)
                    if run.packet.is_none() && run.output.is_none() && run.input.is_some() =>
                {
                    run.packet = Some(rest);
                }
                _ => found.runs.push(Run { packet: Some(rest), ..Run::default() }),
            },
            "output" | "emitted" | "verdict" | "parser-error" => {
                if found.runs.is_empty() {
                    found.runs.push(Run::default());
                }
                let run = found.runs.last_mut().expect("there is one");
                match kind {
                    "output" => run.output = Some(rest),
                    "emitted" => run.emitted = Some(rest),
                    "verdict" => run.reject = rest == "reject",
                    _ => run.error = Some(rest),
                }
            }
            _ => {}
        }
    }
    found
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries = std::fs::read_dir(folder).expect("the programs are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "p4"));
    paths.sort();
    paths
}

fn options() -> PreprocessOptions {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/include");
    PreprocessOptions { include_paths: vec![include], ..PreprocessOptions::default() }
}

/// The scalars of a layout by name, `a.b[1].$valid$` being the validity of a header.
fn places(layout: &Layout, name: &str, out: &mut Vec<(String, Layout)>) {
    let join = |name: &str, part: &str| {
        if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") }
    };
    let mut fields = |parts: &[Layout], ty: &Type| {
        let (Type::Struct(of) | Type::Header(of) | Type::HeaderUnion(of)) = ty else { return };
        for (part, field) in parts.iter().zip(&of.fields) {
            places(part, &join(name, &field.name), out);
        }
    };
    match layout {
        Layout::Header { fields: parts, ty, .. }
        | Layout::Struct { fields: parts, ty }
        | Layout::Union { members: parts, ty } => fields(parts, ty),
        Layout::Stack { elements, .. } => {
            for (at, element) in elements.iter().enumerate() {
                places(element, &format!("{name}[{at}]"), out);
            }
        }
        other => out.push((name.to_owned(), other.clone())),
    }
}

fn number(text: &str) -> BigInt {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    match digits {
        "true" => BigInt::from(1),
        "false" => BigInt::from(0),
        _ => BigInt::parse_bytes(digits.as_bytes(), radix).expect("a number") * sign,
    }
}

fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn scalar(layout: &Layout) -> Scalar {
    match layout {
        Layout::Narrow(_, scalar) | Layout::Wide(_, scalar) => *scalar,
        other => panic!("no scalar: {other:?}"),
    }
}

fn get(frame: &Frame, layout: &Layout) -> BigUint {
    match layout {
        Layout::Narrow(slot, _) => BigUint::from(frame.get(*slot)),
        Layout::Wide(slot, _) => frame.get_wide(*slot),
        other => panic!("no scalar: {other:?}"),
    }
}

fn set(frame: &mut Frame, layout: &Layout, value: &BigUint) {
    match layout {
        Layout::Narrow(slot, _) => frame.set(*slot, arith::narrowed(value)),
        Layout::Wide(slot, _) => frame.set_wide(*slot, value.clone()),
        other => panic!("no scalar: {other:?}"),
    }
}

/// The blocks of `Main` and the parameter `s` of each.
fn blocks(compiled: &Compiled) -> Vec<(UnitId, Layout)> {
    let main = compiled.program.main.as_ref().expect("a main package");
    let units = main.args.iter().filter_map(|(_, arg)| match arg {
        PackageArg::Unit(unit) => Some(*unit),
        _ => None,
    });
    let with_s = units.map(|unit| {
        let params = &compiled.program.units[unit.index()].params;
        let s = params.iter().find(|param| !matches!(param.layout, Layout::Object));
        (unit, s.expect("a parameter `s`").layout.clone())
    });
    with_s.collect()
}

fn execute(compiled: &Compiled, run: &Run, executor: Executor) -> Result<(), String> {
    let interpreter = Interpreter::with_executor(compiled.program.clone(), executor);
    let tables = Tables::new(compiled.program.clone());
    let blocks = blocks(compiled);
    let (first, layout) = blocks.first().expect("a block");
    let mut state = (interpreter.frame(*first), layout.clone());
    let mut named = Vec::new();
    places(layout, "", &mut named);
    for (name, value) in pairs(run.input.as_deref()) {
        let place = named.iter().find(|(known, _)| known == name);
        let (_, place) = place.ok_or_else(|| format!("no input `{name}`"))?;
        set(&mut state.0, place, &arith::pattern(&number(value), scalar(place).width()));
    }
    let packet = bytes(run.packet.as_deref().unwrap_or(""));
    let mut out = PacketOut::new();
    for (unit, layout) in &blocks {
        let mut frame = interpreter.frame(*unit);
        copy_layout(&state.0, &state.1, &mut frame, layout);
        match &compiled.program.units[unit.index()].body {
            Body::Parser(_) => {
                let input = PacketIn::new(&packet, 0);
                let parsed = interpreter
                    .run_parser(*unit, &mut frame, input, &tables, &mut NoExterns)
                    .map_err(|halt| halt.to_string())?;
                let error = compiled.program.errors[parsed.error as usize].to_string();
                if parsed.accepted == run.reject {
                    return Err(format!("accepted: {}, error {error}", parsed.accepted));
                }
                if run.reject {
                    let expected = run.error.as_deref().unwrap_or("NoError");
                    return if error == expected { Ok(()) } else { Err(format!("error {error}")) };
                }
            }
            Body::Control { .. } => interpreter
                .run_control(*unit, &mut frame, Some(&mut out), &tables, &mut NoExterns)
                .map_err(|halt| halt.to_string())?,
        }
        state = (frame, layout.clone());
    }
    let mut named = Vec::new();
    places(&state.1, "", &mut named);
    let mut wrong = String::new();
    for (name, value) in pairs(run.output.as_deref()) {
        let place = named.iter().find(|(known, _)| known == name);
        let (_, place) = place.ok_or_else(|| format!("no output `{name}`"))?;
        let (found, expected) = (get(&state.0, place), number(value));
        if found != arith::pattern(&expected, scalar(place).width()) {
            let found = arith::number(scalar(place), &found);
            let _ = write!(wrong, "{name} is {found}, not {expected}; ");
        }
    }
    if let Some(emitted) = &run.emitted
        && out.take() != bytes(emitted)
    {
        wrong.push_str("other bytes emitted");
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn pairs(text: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    text.unwrap_or("").split_whitespace().filter_map(|pair| pair.split_once('='))
}

/// Message, label, notes and help of a diagnostic.
fn words(diagnostic: &Diagnostic) -> String {
    let mut parts = vec![diagnostic.message.clone()];
    parts.extend(diagnostic.label.clone());
    parts.extend(diagnostic.labels.iter().map(|label| label.text.clone()));
    parts.extend(diagnostic.notes.iter().chain(&diagnostic.help).cloned());
    parts.extend(diagnostic.suggestions.iter().map(|suggestion| suggestion.text.clone()));
    parts.join("\n")
}

fn check_errors(
    expected: &[(String, u32)],
    found: &[Diagnostic],
    sources: &SourceMap,
) -> Result<(), String> {
    let found: Vec<(u32, String)> = found
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(|d| (sources.location(d.primary).map_or(0, |at| at.line), words(d)))
        .collect();
    let fits = |(phrase, line): &(String, u32), (at, text): &(u32, String)| {
        line == at && text.contains(phrase.as_str())
    };
    for wanted in expected {
        if !found.iter().any(|found| fits(wanted, found)) {
            return Err(format!("no error {wanted:?} among {found:#?}"));
        }
    }
    match found.iter().find(|found| !expected.iter().any(|wanted| fits(wanted, found))) {
        Some(extra) => Err(format!("an error that was not expected: {extra:?}")),
        None => Ok(()),
    }
}

fn failures(of: impl Fn(&Path, &Expectations) -> Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    for path in programs() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let expectations = expectations(&text);
        all.extend(
            of(&path, &expectations).into_iter().map(|failure| format!("{name}: {failure}")),
        );
    }
    all
}

#[test]
fn every_program_gives_the_results_that_it_states() {
    let mut runs = 0;
    let count = std::cell::Cell::new(0);
    let failures = failures(|path, expectations| {
        if !expectations.ok {
            return Vec::new();
        }
        match compile(path, &options()) {
            Err(error) => vec![error.to_string()],
            Ok(compiled) => {
                count.set(count.get() + expectations.runs.len());
                let runs = expectations.runs.iter();
                runs.filter_map(|run| {
                    [Executor::Flat, Executor::Tree].into_iter().find_map(|executor| {
                        let failed = execute(&compiled, run, executor).err()?;
                        Some(format!("{executor:?}, {run:?}: {failed}"))
                    })
                })
                .collect()
            }
        }
    });
    runs += count.get();
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
    assert!(runs >= 80, "only {runs} runs were found");
}

#[test]
fn every_faulty_program_is_refused_with_the_errors_that_it_states() {
    let failures = failures(|path, expectations| {
        if expectations.errors.is_empty() {
            return Vec::new();
        }
        match compile(path, &options()) {
            Ok(_) => vec!["was accepted".to_owned()],
            Err(error) => check_errors(&expectations.errors, &error.diagnostics, &error.sources)
                .err()
                .into_iter()
                .collect(),
        }
    });
    assert!(failures.is_empty(), "{} wrong:\n{}", failures.len(), failures.join("\n"));
}
