//! Rules that a v1model program must follow, each with its code, its reason and its cure.
//!
//! Codes: `V01` the package, `V02` externs, tables and arithmetic.

pub use sojourn_target::rule::Refusal;

sojourn_target::rules! { without programs:
    PACKAGE "V0101" "`main` is a `V1Switch` of six blocks"
        "parser, checksum verification, ingress, egress, checksum update and deparser are what the switch runs"
        "write `V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(), MyDeparser()) main;`"

    UNKNOWN_EXTERN "V0201" "only the externs of v1model.p4 do something"
        "an extern that a program declares by itself has no meaning here, as in bmv2 without a plug-in"
        "use an extern of v1model.p4, or write the function in P4"
    EXTERN_ARGUMENT "V0202" "an extern's constructor has arguments that it can work with"
        "sizes and algorithms are fixed when the program is loaded"
        "give a constant in range"
    FIELD_LIST "V0203" "`@field_list` has numbers from 0 to 255"
        "the lists that a field belongs to are fixed when the program is loaded, and a call names one by its number"
        "write numbers, constants or members of an enum with values, with commas between them; for anything else, declare a constant"
    PROFILE_DEFAULT "V0204" "a table with an action profile or selector has no default action"
        "bmv2 runs a member of the profile or nothing: p4c leaves `default_action` out for such a table, and a miss does nothing"
        "test `t.apply().miss` and do there what the default action should do"

    DIVISION "V0205" "what divides is a constant power of two"
        "p4c makes shifts and masks of `/` and `%` by powers of two, and refuses every other division that it cannot do itself while it compiles"
        "multiply by a scaled reciprocal and shift, or look the quotient up in a table"
    HEADER_BYTES "V0206" "a header is whole bytes"
        "bmv2 takes headers from packets and puts them there byte by byte, and p4c refuses others"
        "add a field that fills the last byte"
}
