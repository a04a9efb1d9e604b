// The Tofino Native Architecture (TNA) of the Tofino 1 chip, as declarations.
//
// This is what a program gets from `#include <tna.p4>`: names, fields, widths and signatures as
// Intel's public document "P4-16 Intel Tofino Native Architecture" (No. 631348-0001, called "TNA
// p. N" below) and the open-source compiler publish them, so that one source text runs here and
// on a switch. Nothing in here does anything: the target gives these names their meaning, and the
// language floor reads this file like any other program text.
//
//   tofino1/chip.p4             widths, and what only this chip declares
//   tofino1/types.p4            identifier types, enumerations, match kinds, errors
//   tofino1/shared_metadata.p4  what the fixed parts of any chip hand to a program, and get back
//   tofino1/metadata.p4         what this chip's fixed parts do
//   tofino1/checksum.p4         Checksum, ParserPriority, port metadata
//   tofino1/parser.p4           ParserCounter
//   tofino1/hash.p4             Hash, CRCPolynomial, Random
//   tofino1/filters.p4          Lpf, Wred, RegisterParam, MathUnit
//   tofino1/stateful.p4         Counter, Meter, Register, RegisterAction
//   tofino1/tables.p4           ActionProfile, ActionSelector, Atcam, Alpm
//   tofino1/copies.p4           Mirror, Resubmit, Digest
//   tofino1/functions.p4        min, max, invalidate, sizes
//   tofino1/pipeline.p4         the six programmable blocks, Pipeline and Switch
#ifndef SOJOURN_TNA_P4
#define SOJOURN_TNA_P4

// Programs for several chips choose by this number; the vendor's driver defines it, too.
#ifndef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 1
#endif
#if __TARGET_TOFINO__ != 1
#error "tna.p4 is for Tofino 1 and __TARGET_TOFINO__ is not 1: include t2na.p4 for Tofino 2, or choose the target tofino1"
#endif

// Version tests of programs: a compiler that defines no __p4c_*__ counts as version 0.
#define PACK_VERSION(a, b, c) (((a) << 24) + ((b) << 12) + (c))
#define COMPILER_VERSION PACK_VERSION(__p4c_major__, __p4c_minor__, __p4c_patchlevel__)

#include <core.p4>
#include "tofino1/chip.p4"
#include "tofino1/types.p4"
#include "tofino1/shared_metadata.p4"
#include "tofino1/metadata.p4"
#include "tofino1/checksum.p4"
#include "tofino1/parser.p4"
#include "tofino1/hash.p4"
#include "tofino1/filters.p4"
#include "tofino1/stateful.p4"
#include "tofino1/tables.p4"
#include "tofino1/copies.p4"
#include "tofino1/functions.p4"
#include "tofino1/pipeline.p4"

#endif
