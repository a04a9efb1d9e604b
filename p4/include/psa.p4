// The Portable Switch Architecture (PSA) with the widths of bmv2's `psa_switch`, as declarations.
//
// A program gets this from `#include <psa.p4>` or `#include <bmv2/psa.p4>`: names, fields, widths and
// signatures as the P4 community publishes them (PSA specification, version 1.2), so that one source
// text runs here and on bmv2. The target gives these names their meaning.
//
//   psa/types.p4     identifier types and their conversions, match kinds, enumerations
//   psa/metadata.p4  what the switch hands to each block and takes back, and actions that set it
//   psa/state.p4     Counter, Meter, Register, and the direct ones
//   psa/values.p4    Hash, Checksum, InternetChecksum, Random, assert, assume
//   psa/tables.p4    ActionProfile, ActionSelector, Digest
//   psa/pipeline.p4  the six programmable blocks, IngressPipeline, EgressPipeline, PSA_Switch
#ifndef SOJOURN_PSA_P4
#define SOJOURN_PSA_P4

#include <core.p4>
#include "psa/types.p4"
#include "psa/metadata.p4"
#include "psa/state.p4"
#include "psa/values.p4"
#include "psa/tables.p4"
#include "psa/pipeline.p4"

#endif
