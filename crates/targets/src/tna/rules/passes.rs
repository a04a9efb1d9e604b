//! Rules about what a packet does on its way: `T07` accesses to registers, `T08` the program as a
//! whole, `T09` what the deparsers copy. Text only; `access`, `load` and `runtime` apply them.

rules! {
    ONE_ACCESS "T0701" "a packet accesses a register once in a pass"
        "a register lives in one stage, and its ALU runs once for each packet that passes"
        "make the two calls exclusive (if/else), merge them into one register action, or use two registers"
    GRESSES "T0702" "a register belongs to ingress or to egress"
        "a stateful ALU is wired to one of the two passes"
        "use one register in each"
    READ_AND_WRITE "T0703" "Register.read and Register.write in one pass are one access"
        "both happen in the one instruction that runs for the packet"
        "write a RegisterAction that does both"

    ONE_INDEX "T0704" "the registers and meters of one table action share an index"
        "a table has one address bus for the stateful ALUs and meters that its actions use"
        "put the accesses into actions of two tables, or called one after the other"

    EXCLUSIVE_ACCESSES "T0705" "two accesses to a register exclude each other"
        "the register's ALU runs once for each packet: where both conditions hold, one of the two calls does not happen"
        "put the calls into the branches of one if/else, or merge them into one register action that a field tells what to do"

    ARCHITECTURE "T0801" "the program is for the Tofino Native Architecture"
        "the blocks of a program and the order of their parameters belong to an architecture"
        "include tna.p4 and give `main` as `Switch(Pipeline(...))`"
    PIPELINE "T0802" "a pipeline has six blocks with the parameters of TNA"
        "parser, match-action pipeline and deparser of ingress and of egress"
        "give `Pipeline` the six blocks in the order of tna.p4"
    EXTERN_ARGUMENT "T0803" "the argument of an extern is one that the chip can be configured with"
        "the extern is a block of the chip whose configuration has limits"
        "see the note above"
    UNSUPPORTED "T0804" "a part of the architecture that is not simulated"
        "the program asks for something this tool does not have yet"
        "leave it out for the simulation, for instance under an #ifdef"

    MIRROR_HEADER "T0901" "a mirror header is at most 32 bytes"
        "the mirror unit has 32 bytes for it"
        "carry fewer fields"
    RESUBMIT_HEADER "T0902" "resubmitted metadata is at most 8 bytes"
        "the path back to the ingress buffer carries 64 bits"
        "carry fewer fields"
    COPY_CONDITION "T0903" "a deparser copies where the type equals a constant, and nowhere else"
        "the deparser looks the fields of a copy up by mirror_type, resubmit_type or digest_type; it decides nothing itself"
        "decide in the control and set the type there; in the deparser write `if (dprs.mirror_type == 1)` around the call"
    COPY_CONSTANT "T0904" "what a deparser copies are fields"
        "the fields of a copy are read from containers; only zeros come without one"
        "assign the constant to a metadata field in the control and name that field"
}
