//! Updates of table entries and default actions.

use super::Writer;
use crate::failure::Failure;
use crate::p4runtime::entry;
use crate::p4runtime::schema::Table;
use crate::p4runtime::store::{EntryExtras, OneShot, Reference};
use crate::wire::p4::config::v1::action_ref::Scope;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::table_action::Type as Leads;
use crate::wire::p4::v1::update::Type;
use sojourn_control::{ActionCall, Matched, Operation, TableEntry, Which};
use sojourn_p4::interp::tables::EntryHandle;
use tonic::Code;

/// Target of an entry, in the table's form.
struct Target {
    entry: TableEntry,
    reference: Option<Reference>,
}

impl Writer<'_> {
    /// An update of an entry.
    pub(super) fn table_entry(
        &mut self,
        kind: Type,
        given: &p4::TableEntry,
    ) -> Result<(), Failure> {
        let table = self.schema.table(given.table_id)?;
        if given.is_const {
            return Err(Failure::invalid("`is_const` is for entries of the program"));
        }
        if given.is_default_action {
            return self.default_action(kind, table, given);
        }
        if table.keys.is_empty() {
            let why = format!("table `{}` has no key: it has no entries", table.name);
            return Err(Failure::invalid(why));
        }
        if table.is_const && kind != Type::Modify {
            let why = format!("the entries of table `{}` are constant", table.name);
            return Err(Failure::new(Code::PermissionDenied, why));
        }
        if kind != Type::Delete {
            check(table, given)?;
        }
        match kind {
            Type::Insert => self.insert(table, given),
            Type::Modify => self.modify(table, given),
            _ => self.delete(table, given),
        }
    }

    /// Handle of a message's entry.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn handle(&mut self, table: &Table, given: &p4::TableEntry) -> Result<u32, Failure> {
        let at = entry::matched(table, given, self.store)?;
        let keys: Vec<_> =
            at.matches.iter().map(|(name, value)| (name.to_owned(), value.to_match())).collect();
        let tables = self.tables()?;
        let found = tables
            .find(&table.name)
            .and_then(|id| tables.find_entry(id, &keys, i64::from(at.rank.unwrap_or(0))));
        let found: Result<EntryHandle, _> = found.map_err(|error| {
            Failure::from(sojourn_engine::control::OperationError::Program(Box::new(error).into()))
        });
        Ok(found?.0)
    }

    fn insert(&mut self, table: &Table, given: &p4::TableEntry) -> Result<(), Failure> {
        let Matched { matches, rank, .. } = entry::matched(table, given, self.store)?;
        let action = given.action.as_ref().and_then(|action| action.r#type.as_ref());
        let action = action.ok_or_else(|| Failure::invalid("an entry needs an action"))?;
        let target = self.target(table, action)?;
        let entry = TableEntry { matches, rank, ..target.entry };
        let added = self.apply(&Operation::AddEntry { table: table.name.clone(), entry });
        let handle = match added {
            Ok(handle) => handle.unwrap_or_default(),
            Err(failure) => {
                self.forget(table, target.reference.as_ref())?;
                return Err(failure);
            }
        };
        self.configure_direct(table, handle, given, true)?;
        self.keep(table, handle, given, target.reference);
        Ok(())
    }

    fn modify(&mut self, table: &Table, given: &p4::TableEntry) -> Result<(), Failure> {
        let handle = self.handle(table, given)?;
        let action = given.action.as_ref().and_then(|action| action.r#type.as_ref());
        let before =
            self.store.extras(table.id, handle).and_then(|extras| extras.reference.clone());
        let reference = match action {
            None => before,
            Some(action) => {
                let target = self.target(table, action)?;
                let (name, at) = (table.name.clone(), Which::Handle(handle));
                let modified =
                    self.apply(&Operation::ModifyEntry { table: name, at, to: target.entry });
                if let Err(failure) = modified {
                    self.forget(table, target.reference.as_ref())?;
                    return Err(failure);
                }
                self.forget(table, before.as_ref())?;
                target.reference
            }
        };
        self.configure_direct(table, handle, given, false)?;
        if !table.is_const {
            self.keep(table, handle, given, reference);
        }
        Ok(())
    }

    fn delete(&mut self, table: &Table, given: &p4::TableEntry) -> Result<(), Failure> {
        let handle = self.handle(table, given)?;
        let at = Which::Handle(handle);
        self.apply(&Operation::DeleteEntry { table: table.name.clone(), at })?;
        if let Some(extras) = self.store.extras(table.id, handle) {
            let reference = extras.reference.clone();
            self.store.set_extras(table.id, handle, None);
            self.forget(table, reference.as_ref())?;
        }
        Ok(())
    }

    /// Stores the attributes that the table does not hold.
    fn keep(
        &mut self,
        table: &Table,
        handle: u32,
        given: &p4::TableEntry,
        reference: Option<Reference>,
    ) {
        let plain = given.controller_metadata == 0
            && given.metadata.is_empty()
            && given.idle_timeout_ns == 0
            && !table.idle_timeout
            && reference.is_none();
        if plain && self.store.extras(table.id, handle).is_none() {
            return;
        }
        let extras = (!plain).then(|| {
            Box::new(EntryExtras {
                matches: given.r#match.clone(),
                priority: given.priority,
                controller_metadata: given.controller_metadata,
                metadata: given.metadata.clone(),
                idle_timeout: given.idle_timeout_ns,
                since: self.now,
                reference,
            })
        });
        self.store.set_extras(table.id, handle, extras);
    }

    /// Removes the one-shot group of an entry.
    fn forget(&mut self, table: &Table, reference: Option<&Reference>) -> Result<(), Failure> {
        match (reference, table.implementation) {
            (Some(Reference::OneShot(shot)), Some(profile)) => self.remove_one_shot(profile, shot),
            _ => Ok(()),
        }
    }

    /// Resolves the target of an entry.
    fn target(&mut self, table: &Table, action: &Leads) -> Result<Target, Failure> {
        let wrong = |why: &str| Failure::invalid(format!("table `{}`: {why}", table.name));
        match (action, table.implementation) {
            (Leads::Action(action), None) => {
                let ActionCall { action, args } = self.call(table, action, Scope::DefaultOnly)?;
                let entry = TableEntry { action: Some(action), args, ..TableEntry::default() };
                Ok(Target { entry, reference: None })
            }
            (Leads::Action(_), Some(_)) => Err(wrong("its entries lead to members or groups")),
            (_, None) => Err(wrong("its entries lead to actions")),
            (Leads::ActionProfileMemberId(member), Some(profile)) => {
                if !self.store.members.contains_key(&(profile, *member)) {
                    return Err(Failure::no("member", *member));
                }
                let entry = TableEntry { member: Some(*member), ..TableEntry::default() };
                self.exclusive(table, false)?;
                Ok(Target { entry, reference: Some(Reference::Member(*member)) })
            }
            (Leads::ActionProfileGroupId(group), Some(profile)) => {
                if !self.store.groups.contains_key(&(profile, *group)) {
                    return Err(Failure::no("group", *group));
                }
                let entry = TableEntry { group: Some(*group), ..TableEntry::default() };
                self.exclusive(table, false)?;
                Ok(Target { entry, reference: Some(Reference::Group(*group)) })
            }
            (Leads::ActionProfileActionSet(set), Some(profile)) => {
                if !self.schema.profile(profile)?.selector {
                    return Err(wrong("an action profile without a selector has no groups"));
                }
                self.exclusive(table, true)?;
                let shot: OneShot = self.add_one_shot(table, profile, set)?;
                let entry = TableEntry { group: Some(shot.group), ..TableEntry::default() };
                Ok(Target { entry, reference: Some(Reference::OneShot(Box::new(shot))) })
            }
        }
    }

    /// An action of a table, if its scope allows the use.
    pub(super) fn call(
        &mut self,
        table: &Table,
        action: &p4::Action,
        never: Scope,
    ) -> Result<ActionCall, Failure> {
        let Some(scope) = table.actions.get(&action.action_id) else {
            let why = format!("table `{}` has no action {:#x}", table.name, action.action_id);
            return Err(Failure::invalid(why));
        };
        if *scope == never {
            let why = format!(
                "action {:#x} may not stand here: {}",
                action.action_id,
                scope.as_str_name()
            );
            return Err(Failure::new(Code::PermissionDenied, why));
        }
        entry::call(self.schema, action, self.store)
    }

    fn default_action(
        &mut self,
        kind: Type,
        table: &Table,
        given: &p4::TableEntry,
    ) -> Result<(), Failure> {
        super::only_modify(kind, "the default action")?;
        if !given.r#match.is_empty() || given.priority != 0 {
            return Err(Failure::invalid("the default action has neither match nor priority"));
        }
        if given.idle_timeout_ns != 0 || given.time_since_last_hit.is_some() {
            return Err(Failure::invalid("the default action has no idle timeout"));
        }
        if given.counter_data.is_some()
            || given.meter_config.is_some()
            || given.meter_counter_data.is_some()
        {
            let why = "a direct counter or meter of a default action is not counted here";
            return Err(Failure::unimplemented(why));
        }
        if table.const_default {
            let why = format!("the default action of table `{}` is constant", table.name);
            return Err(Failure::new(Code::PermissionDenied, why));
        }
        let name = table.name.clone();
        match given.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            None => {
                self.apply(&Operation::ResetDefault { table: name })?;
                self.store.set_default(table.id, None);
            }
            Some(Leads::Action(action)) if table.implementation.is_none() => {
                let call = self.call(table, action, Scope::TableOnly)?;
                self.apply(&Operation::SetDefault { table: name, call: call.into() })?;
                let extras = EntryExtras {
                    controller_metadata: given.controller_metadata,
                    metadata: given.metadata.clone(),
                    ..EntryExtras::default()
                };
                self.store.set_default(table.id, Some(Box::new(extras)));
            }
            Some(_) => return Err(Failure::invalid("a default action is an action of the table")),
        }
        Ok(())
    }
}

/// Checks the attributes of an entry other than match and action.
fn check(table: &Table, given: &p4::TableEntry) -> Result<(), Failure> {
    let name = &table.name;
    if given.time_since_last_hit.is_some() {
        return Err(Failure::invalid("`time_since_last_hit` is only read"));
    }
    if given.idle_timeout_ns < 0 {
        return Err(Failure::invalid("a negative idle timeout"));
    }
    if given.idle_timeout_ns != 0 && !table.idle_timeout {
        return Err(Failure::invalid(format!("entries of table `{name}` have no idle timeout")));
    }
    if table.is_const && given.action.is_some() {
        let why = format!("the entries of table `{name}` are constant");
        return Err(Failure::new(Code::PermissionDenied, why));
    }
    if given.counter_data.is_some() && table.counter.is_none() {
        return Err(Failure::invalid(format!("table `{name}` has no direct counter")));
    }
    if given.meter_config.is_some() && table.meter.is_none() {
        return Err(Failure::invalid(format!("table `{name}` has no direct meter")));
    }
    if given.meter_counter_data.is_some() {
        return Err(Failure::unimplemented("meters do not count by colour"));
    }
    Ok(())
}
