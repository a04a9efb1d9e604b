//! Rules about parsers: `T13` states, `select`, fields of variable size. Text only; the folder `parde`
//! applies them.

rules! { with programs:
    PARSER_ARITHMETIC "T1301" "a parser copies and does not compute"
        "a parser writes bytes of the packet, constants and fields into containers; it has no ALU, and adds bits to a field by OR alone"
        "copy the operands to metadata and compute in the control"
    PARSER_BRANCH "T1302" "a parser decides by fields alone"
        "a state is chosen by a match of bytes like in a TCAM: they are compared with constants, and nothing is computed before; an `if` is such a choice by one bit"
        "write `select` with the fields as keys and constants, masks or ranges as cases"
    SELECT_WIDTH "T1303" "a select looks at 32 bits"
        "a state has four bytes of match registers"
        "decide in two states, one after the other"
    ADVANCE "T1304" "a parser advances by constants and whole bytes"
        "the shift of the input buffer is a number of bytes in the state's TCAM row"
        "select on the field that tells the length, with a state for each length; or extract a header of variable size"
    STACK_INDEX "T1305" "a constant chooses an element of a stack"
        "each element has containers of its own; a parser knows the next and the last one by a counter"
        "use `next` and `last`, or a `select` with one state for each element"
    VARBIT_LENGTH "T1306" "the length of a varbit is whole bytes by one field of at most 10 bits"
        "the compiler writes one branch for each value of the field, 1024 at most, and computes the length of each"
        "compute the length of one narrow field, as in `(bit<32>)(hdr.ipv4.ihl - 5) * 32`"
    CHECKSUM_STATE "T1307" "a parser sums a field in the state that extracts it"
        "the checksum unit reads the bytes while they pass, not the containers"
        "call `add` or `subtract` in the state of the `extract`"
    VERIFY "T1308" "verify decides nothing"
        "the compiler leaves it out with a warning, so that the packet goes on"
        "write a `select` that leads to `reject`"
}
