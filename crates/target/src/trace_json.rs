//! Traced passes as JSON: each step with its source position and text.
//!
//! Numbers below 2^53 are JSON numbers, others are strings of digits. A viewer needs no data from
//! the program.

use crate::observer::Pass;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde_json::{Map, Value, json};
use sojourn_p4::interp::tables::{EntryTarget, EntryView, Match};
use sojourn_p4::interp::trace::{Called, Ended, Lookup, Named, Node, What, Write};
use sojourn_p4::ir::Scalar;
use sojourn_p4::source::SourceMap;

/// One pass.
pub fn pass(pass: &Pass, sources: &SourceMap) -> Value {
    let mut object = serde_json::to_value(pass.pass_input).unwrap_or_default();
    let bytes: String = pass.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    object["time"] = pass.at.0.into();
    object["packet"] = pass.packet.number().into();
    object["generated"] = pass.packet.is_generated().into();
    object["bytes"] = bytes.into();
    object["zeros"] = pass.zeros.into();
    object["blocks"] = steps(&pass.steps, sources);
    object["became"] = serde_json::to_value(&pass.result).unwrap_or_default();
    object
}

fn steps(nodes: &[Node], sources: &SourceMap) -> Value {
    nodes.iter().map(|node| step(node, sources)).collect()
}

fn step(node: &Node, sources: &SourceMap) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    match &node.what {
        What::Unit { name, parsed, halted } => {
            put("step", if parsed.is_some() { "parser" } else { "control" }.into());
            put("name", (&**name).into());
            if let Some(Ended { accepted, error, consumed }) = parsed {
                put("accepted", (*accepted).into());
                put("error", (&**error).into());
                put("consumed_bits", (*consumed).into());
            }
            if let Some(why) = halted {
                put("halted", why.as_str().into());
            }
        }
        What::State { name } => {
            put("step", "state".into());
            put("name", (&**name).into());
        }
        What::Goes { to, keys } => {
            put("step", "transition".into());
            put("to", (&**to).into());
            put("keys", list(keys));
        }
        What::Branch { on } => {
            put("step", "branch".into());
            put("on", named(on));
        }
        What::Table(lookup) => table(lookup, &mut put),
        What::Call(called) => call(called, &mut put),
        What::Extract { header, fields } => {
            put("step", "extract".into());
            put("header", (&**header).into());
            put("fields", fields.as_deref().map_or(Value::Null, list));
        }
        What::Emit { headers } => {
            put("step", "emit".into());
            let headers = headers.iter();
            put(
                "headers",
                headers
                    .map(|(of, fields)| json!({"header": &**of, "fields": list(fields)}))
                    .collect(),
            );
        }
        What::Set { writes } => {
            put("step", "set".into());
            put("writes", writes.iter().map(write).collect());
        }
    }
    if let Some(place) = sources.location(node.span) {
        put("place", place.to_string().into());
        // For a long construct such as a block, the first line suffices.
        if !matches!(node.what, What::Unit { .. } | What::State { .. }) {
            let text = sources.text(node.span);
            // A condition is shown in full, though it may take several lines.
            let text = match node.what {
                What::Branch { .. } => text.split('{').next().unwrap_or(""),
                _ => text.lines().next().unwrap_or(""),
            };
            put("text", text.split_whitespace().collect::<Vec<_>>().join(" ").into());
        }
    }
    if !node.steps.is_empty() {
        put("steps", steps(&node.steps, sources));
    }
    Value::Object(object)
}

fn table(lookup: &Lookup, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    put("step", "table".into());
    put("name", (&*lookup.table).into());
    let key = |(kind, key): &(std::sync::Arc<str>, Named)| {
        let mut object = named(key);
        object["kind"] = (&**kind).into();
        object
    };
    put("keys", lookup.keys.iter().map(key).collect());
    put("hit", lookup.hit.into());
    put("entry", lookup.entry.as_ref().map_or(Value::Null, entry));
    put(
        "action",
        lookup
            .action
            .as_ref()
            .map_or(Value::Null, |(name, data)| json!({"name": &**name, "data": list(data)})),
    );
}

fn entry(view: &EntryView) -> Value {
    let keys: Map<String, Value> = view
        .keys
        .iter()
        .map(|(name, matched)| (name.clone(), pattern_text(matched).into()))
        .collect();
    let mut object = json!({"handle": view.handle.0, "keys": keys, "const": view.is_const});
    if view.priority != 0 {
        object["priority"] = view.priority.into();
    }
    if let EntryTarget::Reference(reference) = view.target {
        object["member_or_group"] = reference.into();
    }
    object
}

/// Match value of a key element, as control planes write it.
fn pattern_text(matched: &Match) -> String {
    match matched {
        Match::Exact(value) => value.to_string(),
        Match::Ternary { value, mask } => format!("{value:#x} &&& {mask:#x}"),
        Match::Prefix { value, length } => format!("{value:#x}/{length}"),
        Match::Range { low, high } => format!("{low}..{high}"),
        other => format!("{other:?}"),
    }
}

fn call(called: &Called, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    put("step", "call".into());
    put("object", (&*called.object).into());
    put("name", (&*called.name).into());
    put("args", list(&called.args));
    put("results", list(&called.results));
    put("writes", called.writes.iter().map(write).collect());
    if let Some((access, now)) = &called.access {
        let words = |words: &[BigUint]| words.iter().map(number).collect::<Value>();
        let unit = access.unit.iter().map(|(name, text)| json!({"unit": name, "does": text}));
        put(
            "access",
            json!({
                "register": &*access.memory,
                "index": access.index,
                "old": words(&access.words),
                "new": words(now),
                "alu": unit.collect::<Value>(),
            }),
        );
    }
}

fn list(of: &[Named]) -> Value {
    of.iter().map(named).collect()
}

fn named(of: &Named) -> Value {
    json!({"name": &*of.name, "bits": of.scalar.width(), "value": scalar(of.scalar, &of.value)})
}

fn write(of: &Write) -> Value {
    let mut object = named(&of.now);
    object["old"] = scalar(of.now.scalar, &of.old);
    object
}

fn scalar(scalar: Scalar, value: &BigUint) -> Value {
    // Targets mark an unset value with a bit above its width.
    if value.bits() > u64::from(scalar.width()) {
        return Value::Null;
    }
    match scalar {
        Scalar::Bool => (*value != BigUint::ZERO).into(),
        Scalar::Int(width @ 1..=63) => {
            let bits = value.to_u64().unwrap_or(0) as i64;
            let unused = 64 - width;
            ((bits << unused) >> unused).into()
        }
        _ => number(value),
    }
}

fn number(value: &BigUint) -> Value {
    match value.to_u64().filter(|value| *value < 1 << 53) {
        Some(value) => value.into(),
        None => value.to_string().into(),
    }
}
