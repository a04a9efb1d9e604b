//! P4Runtime reads, divided into pieces so that the switch forwards packets between them.
//!
//! A request becomes pieces of work. Each piece runs between two packets and returns the work that
//! remains. The code runs with the switch and must not depend on the transport.

mod cells;
mod pieces;
mod stored;
mod table_entries;

pub use pieces::pieces;

use super::entry;
use super::role_access::Access;
use super::schema::Schema;
use super::store::{EntryExtras, Store};
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::entity::Entity;
use crate::wire::p4::v1::table_action::Type as Leads;
use sojourn_control::{Query, Reply};
use sojourn_engine::control;
use sojourn_p4::interp::tables::EntryHandle;
use sojourn_packet::Time;
use sojourn_switch::Switch;
use std::ops::Range;

/// Number of handles examined between two packets.
const PAGE: u32 = 256;
/// Number of cells read between two packets.
const CELLS: usize = 1_024;

/// Requested part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPart {
    /// The entry.
    Entry,
    /// Its direct counter.
    Counter,
    /// Its direct meter.
    Meter,
}

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Entries of a table from a handle on.
    Entries(u32, EntryPart, Box<p4::TableEntry>, u32),
    /// The requested entry.
    Entry(u32, EntryPart, Box<p4::TableEntry>),
    /// A default action.
    Default(u32, Box<p4::TableEntry>),
    /// Cells of a counter.
    Counter(u32, Range<usize>),
    /// Cells of a meter.
    Meter(u32, Range<usize>),
    /// Cells of a register.
    Register(u32, Range<usize>),
    /// Answer from the store, without the switch.
    Stored(Box<Entity>),
}

/// Context of a read.
pub struct Reader<'a> {
    /// The program's objects.
    pub schema: &'a Schema,
    /// State that the program does not hold.
    pub store: &'a mut Store,
    /// The switch.
    pub switch: &'a mut Switch,
    /// Time of the read.
    pub now: Time,
    /// Read permissions of the role.
    pub access: Option<&'a Access>,
}

impl Reader<'_> {
    /// Executes a piece of work and leaves the rest.
    ///
    /// # Errors
    /// An object that it names does not exist.
    pub fn read(
        &mut self,
        piece: Piece,
        out: &mut Vec<p4::Entity>,
    ) -> Result<Option<Piece>, Failure> {
        let put = |entity| p4::Entity { entity: Some(entity) };
        match piece {
            Piece::Entries(id, wanted, filter, from) => {
                let (entities, next) = self.page(id, wanted, &filter, from)?;
                out.extend(entities.into_iter().map(put));
                return Ok(next.map(|next| Piece::Entries(id, wanted, filter, next)));
            }
            Piece::Entry(id, wanted, filter) => {
                out.extend(self.entry(id, wanted, &filter)?.into_iter().map(put));
            }
            Piece::Default(id, filter) => {
                let entry = self.default_action(id, &filter)?;
                out.extend(entry.map(|entry| put(Entity::TableEntry(entry))));
            }
            Piece::Counter(id, cells) => {
                let (now, later) = split(cells);
                out.extend(self.counter_cells(id, now)?.into_iter().map(put));
                return Ok(later.map(|cells| Piece::Counter(id, cells)));
            }
            Piece::Meter(id, cells) => {
                let (now, later) = split(cells);
                out.extend(self.meter_cells(id, now)?.into_iter().map(put));
                return Ok(later.map(|cells| Piece::Meter(id, cells)));
            }
            Piece::Register(id, cells) => {
                let (now, later) = split(cells);
                out.extend(self.register_cells(id, now)?.into_iter().map(put));
                return Ok(later.map(|cells| Piece::Register(id, cells)));
            }
            Piece::Stored(entity) => {
                out.extend(stored::entities(self.store, self.access, &entity).into_iter().map(put));
            }
        }
        Ok(None)
    }

    fn default_action(
        &mut self,
        id: u32,
        filter: &p4::TableEntry,
    ) -> Result<Option<p4::TableEntry>, Failure> {
        let table = self.schema.table(id)?;
        let query = Query::Default { table: table.name.clone() };
        let Reply::Default(Some(call)) = control::read(self.switch, &query)? else {
            return Ok(None);
        };
        let leads = match (&call.action, call.member, call.group) {
            (Some(action), ..) => {
                entry::called(self.schema, action, &call.args, self.store).map(Leads::Action)
            }
            (_, Some(member), _) => Some(Leads::ActionProfileMemberId(member)),
            (.., group) => group.map(Leads::ActionProfileGroupId),
        };
        let action = leads.map(|leads| p4::TableAction { r#type: Some(leads) });
        let extras = self.store.default_extras(id).cloned().unwrap_or_default();
        if !cookies_fit(&extras, filter) {
            return Ok(None);
        }
        Ok(Some(p4::TableEntry {
            table_id: id,
            action,
            is_default_action: true,
            is_const: table.const_default,
            controller_metadata: extras.controller_metadata,
            metadata: extras.metadata,
            ..p4::TableEntry::default()
        }))
    }
}

/// Time of an entry's last hit, if hits are recorded.
pub fn last_hit(switch: &mut Switch, table: &str, handle: u32) -> Option<Time> {
    let program = control::program(switch).ok()?;
    let id = program.tables().find(table).ok()?;
    program.last_hit(id, EntryHandle(handle))
}

fn cookies_fit(extras: &EntryExtras, filter: &p4::TableEntry) -> bool {
    (filter.controller_metadata == 0 || filter.controller_metadata == extras.controller_metadata)
        && (filter.metadata.is_empty() || filter.metadata == extras.metadata)
}

/// The first cells, and the rest.
fn split(cells: Range<usize>) -> (Range<usize>, Option<Range<usize>>) {
    let end = cells.end.min(cells.start.saturating_add(CELLS));
    (cells.start..end, (end < cells.end).then_some(end..cells.end))
}
