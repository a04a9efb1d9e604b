//! Small fields that share a byte, and the tables that the compiler adds for checksums.
//!
//! An instruction writes a whole container, and two tables that a packet can reach in one stage
//! cannot both write one. The back end puts `drop_ctl`, `bypass_egress` and `qid` into one byte, together
//! with the flags that select the deparser's checksum: so they go to different stages although no
//! field joins them (measured; p4c's `deparser_checksum_update` adds the tables). Its packing of a
//! program's own fields is not modelled.

use super::bits::{Bits, Copies, Place};
use super::live::counterparts;
use super::node::{
    ADDED_LIST, FIRST_CHECKSUM, FIRST_VALIDITY, Kind, LAST_CHECKSUM, Node, Read, Reader, VALIDITIES,
};
use crate::chip::Chip;
use crate::metadata::Role;
use sojourn_p4::ir::{Expr, ExprKind, Program, Slot, Stmt, StmtKind, Unit, UnitId};
use sojourn_p4::source::Span;
use sojourn_p4::visit;
use std::collections::{HashMap, HashSet};

/// The requests that share a byte, by the last part of their names. The last one has a byte of its own
/// where the program writes more than eight bits of them.
const FIELDS: [&str; 3] = ["drop_ctl", "bypass_egress", "qid"];

/// Notes in the nodes of a control which of the shared bytes' fields they write.
///
/// On a chip whose deparser requests have valid bits, these lie in one byte with the valid bits of
/// headers (`chip.shared_validity`).
pub fn note_shared_bytes(chip: &Chip, program: &Program, control: UnitId, nodes: &mut [Node]) {
    let unit = &program.units[control.index()];
    let requests = requests(unit);
    let fields = shared_fields(unit, &requests, nodes);
    let mut validities: Vec<Slot> = Vec::new();
    let mut bit = |place: Place| {
        let Place::Narrow(slot) = place else { return 0 };
        let request = requests.get(&slot);
        let of = |name: &&str| fields.iter().position(|field| field == name);
        let known = request.and_then(of).map_or(0, |at| 1 << at);
        let has_bit = request.is_some() || unit.validity_of(slot).is_some();
        if !chip.shared_validity || !has_bit {
            return known;
        }
        let at = validities.iter().position(|known| *known == slot).unwrap_or_else(|| {
            validities.push(slot);
            validities.len() - 1
        });
        FIRST_VALIDITY << (at as u32 % VALIDITIES)
    };
    for node in nodes {
        let bits = node.writes.iter().map(|write| bit(write.bits.place));
        node.shared_byte = bits.fold(0, |all, bit| all | bit);
    }
}

/// Those of [`FIELDS`] that share the byte in a control.
fn shared_fields(
    unit: &Unit,
    requests: &HashMap<Slot, &str>,
    nodes: &[Node],
) -> &'static [&'static str] {
    let writes = nodes.iter().flat_map(|node| &node.writes);
    let written: HashSet<Bits> = writes.map(|write| write.bits.variable(unit)).collect();
    let shares = |bits: &&Bits| match bits.place {
        Place::Narrow(slot) => requests.get(&slot).is_some_and(|name| FIELDS.contains(name)),
        Place::Wide(_) => false,
    };
    let width: u32 = written.iter().filter(shares).map(Bits::width).sum();
    &FIELDS[..if width > 8 { FIELDS.len() - 1 } else { FIELDS.len() }]
}

/// The fields that ask the deparser or the traffic manager for something, with the last part of their
/// names.
pub fn requests(unit: &Unit) -> HashMap<Slot, &str> {
    let asks = |role| matches!(role, Some(Role::ForDeparser | Role::ForTrafficManager));
    let params = unit.params.iter().filter(|param| asks(Role::of_type(&param.ty)));
    let slots = params.flat_map(|param| param.layout.range().narrow().map(|at| Slot(at as u32)));
    let named = slots.filter_map(|slot| {
        let name = &unit.slots.get(slot.index())?.name;
        Some((slot, name.rsplit('.').next().unwrap_or(name)))
    });
    named.collect()
}

/// A table for each field that the deparser sets to a checksum under a condition: behind everything
/// else, it matches on what the condition asks.
pub fn checksum_tables(program: &Program, control: UnitId, deparser: UnitId) -> Vec<Node> {
    let mine: HashMap<Place, Place> =
        counterparts(program, control, deparser).map(|(mine, theirs)| (theirs, mine)).collect();
    let mut tables: Vec<Node> = Vec::new();
    let unit = &program.units[deparser.index()];
    for list in visit::unit_lists(unit) {
        conditions(unit, list, &mut Vec::new(), &mut |span, asked| {
            let number = tables.len().min(LAST_CHECKSUM as usize) as u32;
            let mut table = Node::new(Kind::Action, "choice of a checksum".to_owned(), span);
            let asked = asked.iter().filter_map(|bits| {
                mine.get(&bits.place).map(|place| Bits { place: *place, ..*bits })
            });
            table.reads = asked.map(|bits| Read { bits, by: Reader::Match, of: None }).collect();
            table.list = ADDED_LIST - number;
            table.shared_byte = FIRST_CHECKSUM << number;
            tables.push(table);
        });
    }
    tables
}

/// Calls `see` for each checksum of the list that is computed under a condition, with its index and
/// the fields of the condition. The validity of the header is tested anyway.
fn conditions(
    unit: &Unit,
    list: &[Stmt],
    asked: &mut Vec<Bits>,
    see: &mut dyn FnMut(Span, &[Bits]),
) {
    let deparser_reads = Copies::default();
    for stmt in list {
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                let outer = asked.len();
                if !is_validity(unit, condition) {
                    deparser_reads.read_all(condition, &mut |bits| asked.push(bits));
                }
                conditions(unit, then, asked, see);
                conditions(unit, otherwise, asked, see);
                asked.truncate(outer);
            }
            StmtKind::Block { body, .. } => conditions(unit, body, asked, see),
            StmtKind::Call(call) if !asked.is_empty() && &*call.name == "update" => {
                see(stmt.span, asked);
            }
            _ => {}
        }
    }
}

/// True for `header.isValid()` alone.
fn is_validity(unit: &Unit, condition: &Expr) -> bool {
    let ExprKind::Slot(slot) = condition.kind else { return false };
    unit.validity_of(slot).is_some()
}
