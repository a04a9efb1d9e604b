//! Updates of the configuration of digests: list sizes and timeouts.

use super::Writer;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use crate::wire::p4::v1::update::Type;
use tonic::Code;

impl Writer<'_> {
    /// Sets or removes the configuration of a digest.
    pub(super) fn digest(&mut self, kind: Type, given: &p4::DigestEntry) -> Result<(), Failure> {
        let id = given.digest_id;
        if !self.schema.digests.contains_key(&id) {
            return Err(Failure::no("digest", id));
        }
        let is_there = self.store.digests.contains_key(&id);
        if kind == Type::Insert && is_there {
            return Err(Failure::new(Code::AlreadyExists, "this digest is wanted already"));
        }
        if kind != Type::Insert && !is_there {
            return Err(Failure::new(Code::NotFound, "this digest is not wanted: insert it"));
        }
        if kind == Type::Delete {
            self.store.set_digest(id, None);
            return Ok(());
        }
        let config = given.config.unwrap_or_default();
        if config.max_timeout_ns < 0 || config.max_list_size < 0 || config.ack_timeout_ns < 0 {
            return Err(Failure::invalid("a timeout or a size that is negative"));
        }
        self.store.set_digest(id, Some(config));
        Ok(())
    }
}
