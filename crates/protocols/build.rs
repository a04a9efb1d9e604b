//! Makes Rust of the interface definitions in `proto/`: messages, and a trait and a client for each
//! service; and keeps the definitions themselves: of P4Info, by which its text is written, and all of
//! them, for clients in other languages. `protox` reads them, so no `protoc` is needed.

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
    // Maps that are sorted: the same program has the same bytes.
    let made = tonic_prost_build::configure().build_transport(false).btree_map(".");
    made.codec_path("crate::codec::Bounded").compile_fds(read)?;
    Ok(())
}
