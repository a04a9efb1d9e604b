//! Generates Rust from the interface definitions in `proto/`: messages, and a trait and a client
//! for each service. Also writes the definitions themselves: those of P4Info, for its text form,
//! and all of them, for clients in other languages. `protox` parses them, so `protoc` is not
//! needed.
//!
//! Also writes the layout of each message (`shapes.rs`), from which a bound on its size in memory
//! is computed: as Rust, so that the sizes are those of the types.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs, io};

const DEFINITIONS: [&str; 2] = ["p4/v1/p4runtime.proto", "bfrt/bfruntime.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let read = protox::compile(DEFINITIONS, ["proto"]).map_err(io::Error::other)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut compiler = protox::Compiler::new(["proto"]).map_err(io::Error::other)?;
    compiler.include_imports(true).open_file("p4/config/v1/p4info.proto")?;
    fs::write(out.join("p4info.fds"), compiler.encode_file_descriptor_set())?;
    let mut whole = protox::Compiler::new(["proto"]).map_err(io::Error::other)?;
    whole.include_imports(true).open_files(DEFINITIONS)?;
    fs::write(out.join("definitions.fds"), whole.encode_file_descriptor_set())?;
    fs::write(out.join("shapes.rs"), shapes(&read)?)?;
    // Ordered maps, so that the same program has the same bytes.
    let made = tonic_prost_build::configure().build_transport(false).btree_map(".");
    let mut names = tonic_prost_build::Config::new();
    names.enable_type_names();
    made.codec_path("crate::codec::Bounded").compile_fds_with_config(read, names)?;
    Ok(())
}

/// Field stored outside its message: its number, whether it is repeated, and its message type, if
/// any.
type Field = (i32, bool, Option<String>);

/// Messages by their names: the path of the type in Rust, and fields.
type Known = BTreeMap<String, (String, Vec<Field>)>;

/// Path that marks a map entry.
const MAP: &str = "map";

/// The table of all messages, as Rust.
fn shapes(read: &FileDescriptorSet) -> Result<String, std::fmt::Error> {
    let mut known = Known::new();
    for file in read.file.iter().filter(|file| !file.package().starts_with("google.protobuf")) {
        let module = format!("crate::wire::{}", file.package().replace('.', "::"));
        file.message_type.iter().for_each(|of| list(of, file.package(), &module, &mut known));
    }
    let places: BTreeMap<&String, usize> = known.keys().zip(0..).collect();
    let mut text = "&[\n".to_owned();
    for (name, (path, fields)) in &known {
        let of_map = |value: &String| known.get(value).map(|(path, _)| path.as_str());
        let path = match path.as_str() {
            // An entry of a map is a string and a value.
            MAP => {
                let value = fields.iter().find_map(|(_, _, value)| of_map(value.as_ref()?));
                format!("(String, {})", value.unwrap_or("String"))
            }
            path => path.to_owned(),
        };
        write!(text, "Shape {{ name: {name:?}, size: size_of::<{path}>(), fields: &[")?;
        for (number, is_many, message) in fields {
            let place = message.as_ref().and_then(|message| places.get(message));
            // Recursive fields are stored outside their message, too.
            let apart = *is_many || message.as_ref().is_some_and(|of| reaches(&known, of, name));
            match (place, message) {
                (Some(place), _) => {
                    write!(text, "({number}, FieldCodec::Message({place}, {apart})), ")?
                }
                // Fields with messages of other packages are recorded only if repeated.
                (None, Some(_)) | (None, None) if *is_many => {
                    write!(text, "({number}, FieldCodec::Bytes), ")?
                }
                _ => {}
            }
        }
        writeln!(text, "] }},")?;
    }
    text.push(']');
    Ok(text)
}

/// Collects a message and those nested in it.
fn list(message: &DescriptorProto, package: &str, module: &str, known: &mut Known) {
    let name = format!("{package}.{}", message.name());
    let inside = format!("{module}::{}", snake(message.name()));
    message.nested_type.iter().for_each(|of| list(of, &name, &inside, known));
    let field = |field: &prost_types::FieldDescriptorProto| {
        let is_many = field.label() == Label::Repeated;
        let message = match field.r#type() {
            Type::Message => Some(field.type_name().trim_start_matches('.').to_owned()),
            Type::String | Type::Bytes => None,
            _ => return None,
        };
        Some((field.number(), is_many, message))
    };
    let fields = message.field.iter().filter_map(field).collect();
    let of_map = message.options.as_ref().is_some_and(|options| options.map_entry());
    let path = match of_map {
        true => MAP.to_owned(),
        false => format!("{module}::{}", camel(message.name())),
    };
    known.insert(name, (path, fields));
}

/// Whether a message may contain another one, or is it.
fn reaches(known: &Known, from: &str, to: &str) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(name) = left.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            let fields = known.get(name).into_iter().flat_map(|(_, fields)| fields);
            left.extend(fields.filter_map(|(_, _, message)| message.as_deref()));
        }
    }
    false
}

/// Rust name of a message.
fn camel(name: &str) -> String {
    match name.chars().any(char::is_lowercase) {
        true => name.to_owned(),
        false => name[..1].to_owned() + &name[1..].to_lowercase(),
    }
}

/// Name of the module of a message's nested declarations.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut made = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let ends = before.is_some_and(|before| !before.is_uppercase() && before != '_');
        let begins = before.is_some_and(|before| before.is_uppercase())
            && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (ends || begins) {
            made.push('_');
        }
        made.extend(letter.to_lowercase());
    }
    made
}
