// v1model, the architecture of bmv2's `simple_switch`, as declarations.
//
// This is what a program gets from `#include <v1model.p4>`: names, fields, widths and signatures
// as the P4 community publishes them, so that one source text runs here and on bmv2. Nothing in
// here does anything: the target gives these names their meaning, after bmv2's documentation
// (p4lang/behavioral-model, docs/simple_switch.md).
//
//   v1model/types.p4     match kinds, enumerations
//   v1model/metadata.p4  standard_metadata_t, mark_to_drop
//   v1model/state.p4     counter, meter, register, and the direct ones
//   v1model/tables.p4    action_profile, action_selector
//   v1model/values.p4    hash, random, checksums
//   v1model/copies.p4    clone, resubmit, recirculate, digest, truncate
//   v1model/watch.p4     assert, assume, log_msg
//   v1model/pipeline.p4  the six programmable blocks and V1Switch
#ifndef SOJOURN_V1MODEL_P4
#define SOJOURN_V1MODEL_P4

// Programs choose between two sets of signatures by defining this number before the #include:
// from 20200408 on, arrays take the type of their index as a type argument.
#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif
#if V1MODEL_VERSION < 20180101 || V1MODEL_VERSION > 20200408
#error V1MODEL_VERSION is not known: v1model has versions 20180101 to 20200408
#endif

#include <core.p4>
#include "v1model/types.p4"
#include "v1model/metadata.p4"
#include "v1model/state.p4"
#include "v1model/tables.p4"
#include "v1model/values.p4"
#include "v1model/copies.p4"
#include "v1model/watch.p4"
#include "v1model/pipeline.p4"

#endif
