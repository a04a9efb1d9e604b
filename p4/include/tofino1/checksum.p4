// Externs of parsers and deparsers that all chips of the family have: checksums, the parser's
// priority, the port's metadata.
#ifndef SOJOURN_TOFINO1_CHECKSUM_P4
#define SOJOURN_TOFINO1_CHECKSUM_P4

// The Internet checksum (RFC 1071): 16-bit ones' complement sum over byte-aligned data.
extern Checksum {
    Checksum();
    // Parser: takes the data into the sum, or out of it.
    void add<T>(in T data);
    void subtract<T>(in T data);
    // Parser: does the sum over everything added say "damaged"? True (1) for an error.
    bool verify();
    // Parser: the sum over what was added; in the second form everything that is extracted later
    // is taken out of it, so that the rest (the payload's share) reaches the deparser.
    bit<16> get();
    void subtract_all_and_deposit<T>(out T residual);
    // Deparser: the checksum of a list of fields. `zeros_as_ones` is UDP's rule.
    bit<16> update<T>(in T data, @optional in bool zeros_as_ones);
}

// Which packets the ingress parser's input buffer gives up last. Egress parsers drop nothing.
extern ParserPriority {
    ParserPriority();
    void set(in bit<3> prio);
}

// Reads the port's metadata (PORT_METADATA_SIZE bits), or a resubmit's, as a T.
extern T port_metadata_unpack<T>(packet_in pkt);

#endif
