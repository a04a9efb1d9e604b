//! Control protocols on top of the control operations: a program's objects with the names and ids
//! of P4Runtime and BfRt, and the messages of both on the wire.
//!
//! | module | content |
//! |---|---|
//! | [`wire`] | the messages themselves |
//! | [`ids`] | numbers for names |
//! | [`p4info()`] | a program for P4Runtime |
//! | [`p4runtime`] | a server of P4Runtime, without an address |
//! | [`bfrt`] | a program for BfRt, and a server of it, without an address |
//! | [`device`] | the switch behind a server |
//! | [`request_queue`] | requests that wait for their instant of virtual time |
//! | [`serve`] | servers on an address |
//!
//! Messages become operations of `sojourn_control`, which the engine executes. This crate must not
//! depend on P4's text form, on the clock of a switch, or on the switch's driver.

pub mod bfrt;
mod codec;
mod connections;
pub mod device;
pub mod failure;
pub mod ids;
mod p4info;
pub mod p4runtime;
pub mod request_queue;
pub mod serve;

pub use p4info::{bytes as p4info_bytes, p4info, text as p4info_text};

/// The messages and services of the interface definitions in `proto/`, one module for each package.
///
/// The modules are nested by package name, because the messages refer to each other by these names.
#[allow(missing_docs, clippy::all)]
pub mod wire {
    /// Package `google.rpc`: a status with details, and the codes.
    pub mod google {
        /// Package `google.rpc`.
        pub mod rpc {
            tonic::include_proto!("google.rpc");
        }
    }
    /// P4Runtime.
    pub mod p4 {
        /// Package `p4.v1`: the service and its messages.
        pub mod v1 {
            tonic::include_proto!("p4.v1");
        }
        /// Package `p4.config.v1`: P4Info.
        pub mod config {
            /// Package `p4.config.v1`.
            pub mod v1 {
                tonic::include_proto!("p4.config.v1");
            }
        }
    }
    /// Package `bfrt_proto`: BfRt, the runtime interface of Tofino.
    pub mod bfrt_proto {
        tonic::include_proto!("bfrt_proto");
    }
}

/// The interface definitions, a `FileDescriptorSet` with all their imports.
pub const DEFINITIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/definitions.fds"));

#[cfg(test)]
mod tests {
    use super::wire::p4::config::v1 as p4info;
    use prost::Message;

    #[test]
    fn a_message_of_p4info_is_on_the_wire_as_the_definition_numbers_its_fields() {
        let preamble = p4info::Preamble { id: 0x0200_0001, name: "t".into(), ..Default::default() };
        let table = p4info::Table { preamble: Some(preamble), size: 5, ..Default::default() };
        // Field 1, seven bytes long: field 1 a varint of four bytes, field 2 one character; field 8.
        assert_eq!(table.encode_to_vec(), [10, 8, 8, 129, 128, 128, 16, 18, 1, b't', 64, 5]);
    }
}
