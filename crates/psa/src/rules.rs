//! Rules that a PSA program must follow, each with its code, its reason and its cure.
//!
//! Codes: `S01` the package, `S02` externs, tables, arithmetic and headers.

pub use sojourn_target::rule::Refusal;

sojourn_target::rules! { without programs:
    PACKAGE "S0101" "`main` is a `PSA_Switch` of an ingress and an egress pipeline"
        "each pipeline is a parser, a control and a deparser with the parameters that psa.p4 declares"
        "write `IngressPipeline(...) ip; EgressPipeline(...) ep; PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;`"

    UNKNOWN_EXTERN "S0201" "only the externs of psa.p4 do something"
        "an extern that a program declares by itself has no meaning here"
        "use an extern of psa.p4, or write the function in P4"
    EXTERN_ARGUMENT "S0202" "an extern's constructor has arguments that it can work with"
        "sizes, algorithms and ranges are fixed when the program is loaded"
        "give a constant in range"
    HEADER_BYTES "S0203" "a header is whole bytes"
        "parsers take headers from packets and deparsers write them byte by byte, and p4c refuses others"
        "add a field that fills the last byte"
    PROFILE_DEFAULT "S0204" "a table with an action profile or selector has no default action"
        "bmv2 runs a member of the profile or nothing: p4c leaves `default_action` out for such a table, and a miss does nothing"
        "test `t.apply().miss` and do there what the default action should do"
    DIVISION "S0205" "what divides is a constant power of two"
        "p4c makes shifts and masks of `/` and `%` by powers of two, and refuses every other division that it cannot do itself while it compiles"
        "multiply by a scaled reciprocal and shift, or look the quotient up in a table"
    SHIFT_COUNT "S0206" "a shift counts with 8 bits"
        "p4c refuses a count of a wider type for bmv2, and a constant above 256"
        "cast the count to `bit<8>`, or write the constant without a width"
    DIRECT_OF_ONE "S0207" "a direct counter or meter belongs to one table"
        "its cells are those of the entries of its table"
        "declare an object for each table"
    DIRECT_CALL "S0208" "a direct counter or meter is called in an action of the table that names it"
        "the call means the cell of the entry that was hit"
        "name the object in `psa_direct_counter` or `psa_direct_meter` of the table, or declare an indexed one"
}
