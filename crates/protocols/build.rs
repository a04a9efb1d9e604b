//! Makes Rust of the interface definitions in `proto/`: messages, and a trait and a client for each
//! service. `protox` reads them, so no `protoc` is needed.

use std::io;

const DEFINITIONS: [&str; 2] = ["p4/v1/p4runtime.proto", "bfrt/bfruntime.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let read = protox::compile(DEFINITIONS, ["proto"]).map_err(io::Error::other)?;
    tonic_prost_build::configure().build_transport(false).compile_fds(read)?;
    Ok(())
}
