//! Rules that an NPU program must follow, each with its code, its reason, the alternative and a
//! program.
//!
//! Codes: `N01` the package, `N02` externs.

pub use sojourn_target::rule::Refusal;

sojourn_target::rules! { with programs:
    PACKAGE "N0101" "`main` is an `NPU` of a parser, an ingress control and a deparser"
        "that is what each thread runs on its packet; behind the queue there is no program"
        "write `NPU(MyParser(), MyIngress(), MyDeparser()) main;`"
    FIGURE "N0102" "the processor's figures are in range, and no least is above its most"
        "threads are 1 to 65536, the input buffer 1 to 1048576 packets, times at most a second"
        "give a constant in range"

    UNKNOWN_EXTERN "N0201" "only the externs of npu.p4 do something"
        "an extern that a program declares by itself has no meaning here"
        "use an extern of npu.p4, or write the function in P4"
    CELL "N0202" "a cell of shared memory is a number of at most 64 bits, and there are at most 2^26"
        "an engine reads or changes 64 bits in one access; what is wider takes two, and another thread may come between"
        "use several memories, or pack what belongs together into 64 bits"
    PLACE "N0203" "only the ingress control waits: for memory, a mutex or a queue's depth"
        "parser and deparser are the fixed parts of a pass and have no place to be taken up again"
        "do it in the ingress control"
}
