//! Fused pass: the blocks of a pass as one chain of code, with the operations between them.
//!
//! A chain has the same effect as the blocks one by one, on their common frame. A packet takes
//! along only slots that a later block reads. A pass whose packet is to be copied leaves the chain
//! in front of the checksum update, and continues block by block.

use super::blocks::{Block, Blocks};
use super::passthrough_headers::{HeaderInPlace, find_passthrough_headers};
use super::runtime::Runtime;
use super::standard_metadata::{DROP_PORT, Standard};
use sojourn_p4::interp::{Chain, Interpreter, Link, Plan};
use sojourn_p4::ir::Slot;
use sojourn_p4::visit;
use sojourn_target::def_use::read_by;
use std::collections::HashSet;

/// A chain, with its inputs.
#[derive(Clone, Debug)]
pub struct FusedChain {
    /// The chain.
    pub chain: Chain,
    /// Fields of the standard metadata that the chain reads.
    pub inputs: Standard,
}

/// The chains of a program, where they are possible.
#[derive(Clone, Debug, Default)]
pub struct FusedPasses {
    /// Parser, verification of checksums and ingress control.
    pub ingress: Option<FusedChain>,
    /// Egress control, checksum update and deparser. Its one input says whether the packet is to be
    /// copied or processed again.
    pub egress: Option<FusedChain>,
}

/// Builds the chains that are possible.
pub fn join(interpreter: &mut Interpreter, blocks: &Blocks, runtime: &Runtime) -> FusedPasses {
    let Blocks { parser, verify, ingress, egress, compute, deparser, .. } = blocks;
    let joinable = |blocks: &[&Block]| {
        let own_wide = blocks.iter().filter(|block| block.has_own_wide_slots());
        blocks.iter().all(|block| block.is_joined()) && own_wide.count() <= 1
    };
    if runtime.wants_payload || !ingress.in_order() || !egress.in_order() {
        return FusedPasses::default();
    }
    let join_ingress = joinable(&[parser, verify, ingress]) && !ingress.resizes;
    let join_egress = joinable(&[egress, compute, deparser]) && !egress.resizes;
    FusedPasses {
        ingress: join_ingress.then(|| join_ingress_blocks(interpreter, blocks, runtime)).flatten(),
        egress: join_egress.then(|| join_egress_blocks(interpreter, blocks, runtime)).flatten(),
    }
}

fn join_ingress_blocks(
    interpreter: &mut Interpreter,
    blocks: &Blocks,
    runtime: &Runtime,
) -> Option<FusedChain> {
    let Blocks { parser, verify, ingress, .. } = blocks;
    let standard = &ingress.standard;
    let mut links = vec![Link::plain(parser.unit)];
    if !verify.idle {
        let right = standard.checksum_error.slot().map(|slot| (slot, 0));
        links.push(Link { sets: zeros(verify).chain(right).collect(), ..Link::plain(verify.unit) });
    }
    let no_error = interpreter.errors().no_error.into();
    let error = standard.parser_error.slot().map(|slot| (slot, no_error));
    links.push(Link { sets: zeros(ingress).chain(error).collect(), ..Link::plain(ingress.unit) });
    let mut left = slots_carried_to_egress(interpreter, blocks, runtime);
    let mut read = read_by_all(interpreter, &[parser, verify, ingress], runtime);
    read.extend(&left);
    let answers = [standard.egress_spec, standard.mcast_grp, standard.priority];
    left.extend(answers.into_iter().filter_map(|field| field.slot()));
    let in_place = find_passthrough_headers(interpreter.program(), blocks, runtime);
    // The fields of a header that no block accesses do not matter before its extraction.
    let fields = in_place.iter().flat_map(HeaderInPlace::fields);
    let given: Vec<Slot> = standard.given_to_ingress().chain(fields).collect();
    let stay: Vec<Slot> = in_place.iter().map(|header| header.valid).collect();
    let chain = interpreter.chain(Plan {
        links: &links,
        given: &given,
        given_wide: 0,
        inputs: 0,
        front: 0,
        first: &[],
        left: Some(&left),
        unread: &|_| false,
        stay: &stay,
        calls: runtime,
        loads_once: false,
        keeps_widths: true,
    })?;
    Some(FusedChain { chain, inputs: standard.inputs(&read) })
}

fn join_egress_blocks(
    interpreter: &mut Interpreter,
    blocks: &Blocks,
    runtime: &Runtime,
) -> Option<FusedChain> {
    let Blocks { egress, compute, deparser, .. } = blocks;
    let program = interpreter.program();
    let units = [egress, compute, deparser].map(|block| block.unit);
    let slots = units.iter().map(|unit| program.units[unit.index()].slots.len());
    let requested = Slot(slots.max().unwrap_or(0) as u32);
    let spec = egress.standard.egress_spec.slot();
    let mut links = vec![Link::plain(egress.unit)];
    if !compute.idle {
        links.push(Link { sets: zeros(compute).collect(), ..Link::plain(compute.unit) });
    }
    links.push(Link { sets: zeros(deparser).collect(), ..Link::plain(deparser.unit) });
    let dropped = spec.map(|spec| (spec, DROP_PORT as u64));
    links[1].ends_if = [(requested, 1)].into_iter().chain(dropped).collect();
    let mut left: Vec<Slot> = spec.into_iter().collect();
    if runtime.makes_copies() {
        left.extend(egress.shared_slots());
    }
    let given: Vec<Slot> = egress.shared_slots().collect();
    let mut read = read_by_all(interpreter, &[egress, compute, deparser], runtime);
    read.extend(&left);
    let chain = interpreter.chain(Plan {
        links: &links,
        given: &given,
        given_wide: egress.shared_wide_slots(),
        inputs: 1,
        front: 0,
        first: &[],
        left: Some(&left),
        unread: &|_| false,
        stay: &[],
        calls: runtime,
        loads_once: false,
        keeps_widths: true,
    })?;
    Some(FusedChain { chain, inputs: egress.standard.inputs(&read) })
}

/// The block's own variables, which are initially zero.
fn zeros(block: &Block) -> impl Iterator<Item = (Slot, u128)> {
    block.own_slots().map(|slot| (slot, 0))
}

/// Slots of a packet's metadata from ingress that a later block reads.
fn slots_carried_to_egress(
    interpreter: &Interpreter,
    blocks: &Blocks,
    runtime: &Runtime,
) -> Vec<Slot> {
    let Blocks { ingress, egress, compute, deparser, .. } = blocks;
    let behind = [egress, compute, deparser];
    if runtime.makes_copies() || !behind.iter().all(|block| block.is_joined()) {
        return ingress.shared_slots().collect();
    }
    let mut read = read_by_all(interpreter, &behind, runtime);
    read.extend(egress.header_sizes());
    egress.standard.given_to_egress().for_each(|slot| {
        read.remove(&slot);
    });
    ingress.shared_slots().filter(|slot| read.contains(slot)).collect()
}

/// Slots read by blocks, or by calls in any block.
fn read_by_all(interpreter: &Interpreter, blocks: &[&Block], runtime: &Runtime) -> HashSet<Slot> {
    let program = interpreter.program();
    let mut read = HashSet::new();
    blocks.iter().for_each(|block| read.extend(read_by(program, block.unit)));
    visit::calls(program, &mut |_, call| read.extend(runtime.read_by(call)));
    read
}
