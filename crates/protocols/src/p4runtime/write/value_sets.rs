//! Updates of a parser's value sets.

use super::Writer;
use crate::failure::Failure;
use crate::p4runtime::entry;
use crate::wire::p4::v1 as p4;
use sojourn_control::Operation;
use tonic::Code;

impl Writer<'_> {
    /// An update of a value set: replaces its members.
    pub(super) fn value_set(&mut self, given: &p4::ValueSetEntry) -> Result<(), Failure> {
        let schema = self.schema;
        let set = schema.value_sets.get(&given.value_set_id);
        let set = set.ok_or_else(|| Failure::no("value set", given.value_set_id))?;
        if given.members.len() > set.size {
            let why = format!("value set `{}` has room for {} members", set.name, set.size);
            return Err(Failure::new(Code::ResourceExhausted, why));
        }
        let mut members = Vec::with_capacity(given.members.len());
        for member in &given.members {
            let member = entry::columns_of(&set.columns, &member.r#match, &set.name, self.store)?;
            if members.contains(&member) {
                let why = format!("value set `{}`: a member twice", set.name);
                return Err(Failure::new(Code::AlreadyExists, why));
            }
            members.push(member);
        }
        let name = set.name.clone();
        self.apply(&Operation::ClearValueSet { name: name.clone() })?;
        for member in members {
            self.apply(&Operation::AddToValueSet { name: name.clone(), member })?;
        }
        let members = (!given.members.is_empty()).then(|| given.members.clone());
        self.store.set_value_set(given.value_set_id, members);
        Ok(())
    }
}
