//! P4Info as text, in the format of protobuf's own printer.

use crate::wire::p4::config::v1::P4Info;
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, MapKey, Value};
use std::fmt::Write;

/// Definitions that give the fields' names.
const DEFINITIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/p4info.fds"));
const FILE: &str = "p4/config/v1/p4info.proto";
const MESSAGE: &str = "p4.config.v1.P4Info";

/// The text of a P4Info, after a comment line about its contents.
pub fn text(info: &P4Info) -> String {
    let mut out = format!("# proto-file: {FILE}\n# proto-message: {MESSAGE}\n\n");
    let pool = DescriptorPool::decode(DEFINITIONS).expect("the definitions that were compiled in");
    let descriptor = pool.get_message_by_name(MESSAGE).expect("P4Info is defined there");
    let bytes = info.encode_to_vec();
    let message = DynamicMessage::decode(descriptor, &bytes[..]).expect("what was just encoded");
    fields(&message, 0, &mut out);
    out
}

fn fields(message: &DynamicMessage, depth: usize, out: &mut String) {
    let mut set: Vec<(FieldDescriptor, &Value)> = message.fields().collect();
    set.sort_by_key(|(field, _)| field.number());
    for (field, value) in set {
        match value {
            Value::List(values) => values.iter().for_each(|one| line(&field, one, depth, out)),
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(name, _)| order(name));
                let entry = field.kind();
                let Some(entry) = entry.as_message().cloned() else { continue };
                let (key, inner) = (entry.map_entry_key_field(), entry.map_entry_value_field());
                for (name, value) in entries {
                    open(field.name(), depth, out);
                    line(&key, &Value::from(name.clone()), depth + 1, out);
                    line(&inner, value, depth + 1, out);
                    close(depth, out);
                }
            }
            one => line(&field, one, depth, out),
        }
    }
}

/// Sort key of a map's entries; all of P4Info's maps are by name.
fn order(key: &MapKey) -> String {
    key.as_str().map_or_else(|| format!("{key:?}"), str::to_owned)
}

fn open(name: &str, depth: usize, out: &mut String) {
    let _ = writeln!(out, "{}{name} {{", "  ".repeat(depth));
}

fn close(depth: usize, out: &mut String) {
    let _ = writeln!(out, "{}}}", "  ".repeat(depth));
}

fn line(field: &FieldDescriptor, value: &Value, depth: usize, out: &mut String) {
    let name = field.name();
    if let Value::Message(inner) = value {
        open(name, depth, out);
        fields(inner, depth + 1, out);
        return close(depth, out);
    }
    let shown = match value {
        Value::Bool(truth) => truth.to_string(),
        Value::I32(number) => number.to_string(),
        Value::I64(number) => number.to_string(),
        Value::U32(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F32(number) => number.to_string(),
        Value::F64(number) => number.to_string(),
        Value::String(text) => quoted(text.as_bytes()),
        Value::Bytes(bytes) => quoted(bytes),
        Value::EnumNumber(number) => {
            let kind = field.kind();
            let named = kind.as_enum().and_then(|kind| kind.get_value(*number));
            named.map_or_else(|| number.to_string(), |value| value.name().to_owned())
        }
        Value::Message(_) | Value::List(_) | Value::Map(_) => return,
    };
    let _ = writeln!(out, "{}{name}: {shown}", "  ".repeat(depth));
}

/// A string in quotes: bytes other than printable ASCII as three octal digits.
fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_protobuf_does() {
        assert_eq!(quoted(b"@n(\"x\")\n\x01\xc3"), "\"@n(\\\"x\\\")\\n\\001\\303\"");
    }
}
