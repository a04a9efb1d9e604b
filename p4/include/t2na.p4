// The Tofino Native Architecture of the Tofino 2 chip (T2NA), as declarations.
//
// A program gets these names, fields, widths and signatures from `#include <t2na.p4>`, as the
// open-source compiler publishes them, so that one source text runs here and on a switch. What
// Tofino 1 has in the same form comes from its files.
//
//   tofino2/chip.p4       widths, errors, match kind
//   tofino2/metadata.p4   what the chip's fixed parts hand to a program, and get back
//   tofino2/parser.p4     ParserCounter with its stack
//   tofino2/stateful.p4   Counter, Meter, Register, the register actions
//   tofino2/pktgen.p4     Pktgen, IdleTimeout
//   tofino2/pipeline.p4   the programmable blocks, the ghost thread, Pipeline and Switch
#ifndef SOJOURN_T2NA_P4
#define SOJOURN_T2NA_P4

// Programs for several chips choose by this number; the vendor's driver defines it, too.
#ifndef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 2
#endif
#if __TARGET_TOFINO__ != 2
#error "t2na.p4 is for Tofino 2 and __TARGET_TOFINO__ is not 2: include tna.p4 for Tofino 1, or choose the target tofino2"
#endif

// Version tests of programs: a compiler that defines no __p4c_*__ counts as version 0.
#define PACK_VERSION(a, b, c) (((a) << 24) + ((b) << 12) + (c))
#define COMPILER_VERSION PACK_VERSION(__p4c_major__, __p4c_minor__, __p4c_patchlevel__)

#include <core.p4>
#include "tofino2/chip.p4"
#include "tofino1/types.p4"
#include "tofino1/shared_metadata.p4"
#include "tofino2/metadata.p4"
#include "tofino1/checksum.p4"
#include "tofino2/parser.p4"
#include "tofino1/hash.p4"
#include "tofino1/filters.p4"
#include "tofino2/stateful.p4"
#include "tofino1/tables.p4"
#include "tofino1/copies.p4"
#include "tofino2/pktgen.p4"
#include "tofino1/functions.p4"
#include "tofino2/pipeline.p4"

#endif
