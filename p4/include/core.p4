/* The core library of P4-16: what every program may use on every target.
 *
 * Names and signatures are those of the language specification 1.2.5 (section "P4 core library").
 * Architecture files include this file; programs may include it again.
 */
#ifndef _CORE_P4_
#define _CORE_P4_

// ---- Errors ----------------------------------------------------------------------------------

/// Why a parser stopped. Programs and architectures may add errors of their own.
error {
    NoError,                // All is well.
    PacketTooShort,         // The packet has fewer bits left than were asked for.
    NoMatch,                // No case of a `select` fits.
    StackOutOfBounds,       // An element was asked of a header stack that it does not have.
    HeaderTooShort,         // More bits were asked for than a `varbit` field can hold.
    ParserTimeout,          // The parser ran for longer than the target allows.
    ParserInvalidArgument   // A parser's method was called with a value that the target refuses.
}

// ---- Packets ---------------------------------------------------------------------------------

/// A packet on its way in, with a cursor that stands in front of the bits not yet read.
extern packet_in {
    /// Reads a header of fixed size, makes it valid and moves the cursor behind it.
    /// Errors: PacketTooShort, StackOutOfBounds.
    void extract<T>(out T hdr);

    /// Reads a header with one `varbit` field that takes `variableFieldSizeInBits` bits.
    /// Errors: PacketTooShort, StackOutOfBounds, HeaderTooShort, ParserInvalidArgument.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);

    /// The next bits as a value of type T; the cursor stays where it is.
    /// Errors: PacketTooShort.
    T lookahead<T>();

    /// Moves the cursor forward without reading. Errors: PacketTooShort, ParserInvalidArgument.
    void advance(in bit<32> sizeInBits);

    /// Length of the packet in bytes. Not every target has it.
    bit<32> length();
}

/// A packet on its way out.
extern packet_out {
    /// Appends a header if it is valid; of a stack, a struct or a union, all its valid headers.
    void emit<T>(in T hdr);
}

// ---- Parsing ---------------------------------------------------------------------------------

/// In a parser: goes to the state `reject` with the error `toSignal` unless `check` is true.
extern void verify(in bool check, in error toSignal);

// ---- Tables ----------------------------------------------------------------------------------

/// The action that does nothing; the default of tables that name none.
@noWarn("unused")
action NoAction() {}

/// How a key of a table is compared with its entries.
match_kind {
    exact,      // All bits are equal.
    ternary,    // The bits under the entry's mask are equal.
    lpm         // The bits of the entry's prefix are equal; the longest prefix wins.
}

// ---- While compiling -------------------------------------------------------------------------

/// Refuses the program with `message` unless `check`, a compile-time known value, is true. The
/// result is `check`, so that the call can stand in the declaration of a constant.
extern bool static_assert(bool check, string message);

/// The same, without a message.
extern bool static_assert(bool check);

#endif  // _CORE_P4_
