//! Reads of tables other than their entries: attributes, usage, and the ids of names.

use super::Reader;
use crate::bfrt::device_tables::Fixed;
use crate::bfrt::fields::{full_masks, masks_read};
use crate::bfrt::idle::Idle;
use crate::bfrt::pipe_scope::pipe_of;
use crate::bfrt::schema::{Kind, Part};
use crate::failure::Failure;
use crate::wire::bfrt_proto as bfrt;
use tonic::Code;

impl Reader<'_> {
    pub(super) fn attribute(
        &self,
        asked: &bfrt::TableAttribute,
        pipe: u32,
    ) -> Result<bfrt::TableAttribute, Failure> {
        use bfrt::mode::{PredefinedMode, Scope};
        use bfrt::table_attribute::Attribute;
        let table = self.schema.table(asked.table_id)?;
        let all = bfrt::Mode { scope: Some(Scope::Predef(PredefinedMode::All as i32)), args: 0 };
        let attribute = match asked.attribute.as_ref() {
            Some(Attribute::EntryScope(_)) => {
                let set = self.store.scopes.get(&table.id).copied().unwrap_or_default();
                Attribute::EntryScope(bfrt::EntryScope {
                    gress_scope: set.gress_scope.or(Some(all)),
                    pipe_scope: set.pipe_scope.or(Some(all)),
                    prsr_scope: set.prsr_scope.or(Some(all)),
                })
            }
            Some(Attribute::IdleTable(_)) => {
                use bfrt::idle_table::IdleTableMode::{IdleTableNotifyMode, IdleTablePollMode};
                let idle = self.store.idle.get(&table.id);
                let (enable, polled) = idle.map_or((false, false), |i| (i.enabled, i.polled));
                let mode = if polled { IdleTablePollMode } else { IdleTableNotifyMode };
                Attribute::IdleTable(bfrt::IdleTable {
                    enable,
                    idle_table_mode: mode as i32,
                    ttl_query_interval: idle.map_or(0, Idle::interval),
                    ..bfrt::IdleTable::default()
                })
            }
            Some(Attribute::ByteCountAdj(_)) => {
                let byte_count_adjust =
                    self.store.longer.get(&(table.id, pipe)).copied().unwrap_or(0);
                Attribute::ByteCountAdj(bfrt::ByteCountAdj { byte_count_adjust })
            }
            Some(Attribute::DynKeyMask(_)) if table.masks_keys => {
                let masks = self.store.key_masks.get(&table.id);
                let masks = masks.cloned().unwrap_or_else(|| full_masks(table));
                Attribute::DynKeyMask(masks_read(table, &masks))
            }
            Some(Attribute::PortStatusNotify(_)) => {
                Attribute::PortStatusNotify(bfrt::PortStatusChg { enable: self.store.tells_ports })
            }
            _ => {
                let why = format!("`{}` has no such attribute on this switch", table.name);
                return Err(Failure::unimplemented(why));
            }
        };
        Ok(bfrt::TableAttribute { table_id: table.id, attribute: Some(attribute) })
    }

    pub(super) fn usage(&mut self, id: u32) -> Result<u32, Failure> {
        let schema = self.schema;
        let table = schema.table(id)?;
        let count = match &table.kind {
            Kind::Match { .. } => {
                let found = self.tables()?.find(&table.inner);
                let found = found.map_err(|error| Failure::new(Code::NotFound, error))?;
                let entries = self.tables()?.entries(found);
                entries.map_err(|error| Failure::new(Code::NotFound, error))?.len()
            }
            Kind::ValueSet => {
                let first = self.scope(table)?.first(self.first_pipe());
                self.store.members.get(&(id, first)).map_or(0, Vec::len)
            }
            Kind::Counter | Kind::Meter(_) | Kind::Filter | Kind::Register(_) => {
                table.size as usize
            }
            Kind::Fixed(Fixed::SnapshotContainers) | Kind::Snapshot(Part::Seen { .. }) => {
                table.size as usize
            }
            Kind::Snapshot(part) => {
                let pipe = pipe_of(self.target, self.count)?;
                self.snapshot_keys(table, *part, pipe)?.len()
            }
            _ => {
                let first = self.scope(table)?.first(self.first_pipe());
                self.keys(table, first).len()
            }
        };
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Id of a named object.
    pub(super) fn number(&self, asked: &bfrt::ObjectId) -> Result<bfrt::ObjectId, Failure> {
        use bfrt::object_id::{Object, table_object::Names};
        let none = |name: &str| Failure::new(Code::NotFound, format!("there is no `{name}`"));
        let unset = || Failure::invalid("a number is asked for without a name");
        let id = match asked.object.as_ref().ok_or_else(unset)? {
            Object::TableObject(given) => {
                let mut tables = self.schema.tables.values();
                let table = tables.find(|table| table.name == given.table_name);
                let table = table.ok_or_else(|| none(&given.table_name))?;
                let action = |name: &str| {
                    let action = table.actions.iter().find(|action| action.name == name);
                    action.ok_or_else(|| none(name))
                };
                match &given.names {
                    None => table.id,
                    Some(Names::ActionName(named)) => action(&named.action)?.id,
                    Some(Names::KeyFieldName(named)) => {
                        let key = table.keys.iter().find(|key| key.name == named.field);
                        key.ok_or_else(|| none(&named.field))?.id
                    }
                    Some(Names::DataFieldName(named)) => {
                        let of_action = match named.action.as_str() {
                            "" => &[][..],
                            name => &action(name)?.fields,
                        };
                        let mut fields = of_action.iter().chain(&table.fields);
                        let field = fields.find(|field| field.name == named.field);
                        field.ok_or_else(|| none(&named.field))?.id
                    }
                }
            }
            Object::LearnObject(given) => {
                let mut learns = self.schema.learns.values();
                let known = learns.find(|learn| given.learn_name.ends_with(&learn.inner));
                known.ok_or_else(|| none(&given.learn_name))?.id
            }
        };
        Ok(bfrt::ObjectId { id, ..asked.clone() })
    }
}
