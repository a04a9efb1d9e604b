//! Client arbitration: the controllers of a role elect a primary by the highest election id.
//!
//! It is a state machine without a transport. Its input is an update or the end of a stream. Its
//! output is the list of notices to send. It covers one device. A role is a name, and `""` is the
//! role with access to everything. Source: P4Runtime 1.5, "Client Arbitration and Controller
//! Replication".

use std::collections::BTreeMap;
use tonic::Code;

/// Id of a controller's stream.
pub type StreamId = u64;

/// Maximum number of connected controllers of one role.
const MAX_CONTROLLERS: usize = 1_024;

/// Maximum number of roles.
const MOST_ROLES: usize = 1_024;

/// Arbitration update of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update<C> {
    /// Id of the device to control.
    pub device: u64,
    /// Its role.
    pub role: String,
    /// Permissions of the role; all if absent.
    pub config: Option<C>,
    /// Its election id; without one it never becomes primary.
    pub election: Option<u128>,
}

/// Notification of a controller about its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice<C> {
    /// Recipient.
    pub to: StreamId,
    /// The role.
    pub role: String,
    /// Permissions of the role, as set by its last primary.
    pub config: Option<C>,
    /// The highest election id that was ever primary.
    pub election: Option<u128>,
    /// Ok for the primary, already exists for a backup, not found if there is no primary.
    pub status: Code,
}

/// Reason that ends a controller's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRefusal {
    /// The canonical code.
    pub code: Code,
    /// Reason.
    pub why: String,
}

fn refused(code: Code, why: impl Into<String>) -> StreamRefusal {
    StreamRefusal { code, why: why.into() }
}

/// The controllers of one device.
#[derive(Debug)]
pub struct Arbitration<C> {
    device: u64,
    roles: BTreeMap<String, Role<C>>,
    /// The role of each stream that has one.
    streams: BTreeMap<StreamId, String>,
}

#[derive(Debug)]
struct Role<C> {
    /// The highest election id ever seen.
    highest: Option<u128>,
    primary: Option<StreamId>,
    config: Option<C>,
    controllers: BTreeMap<StreamId, Option<u128>>,
}

impl<C> Default for Role<C> {
    fn default() -> Role<C> {
        Role { highest: None, primary: None, config: None, controllers: BTreeMap::new() }
    }
}

impl<C: Clone> Arbitration<C> {
    /// Creates an arbitration without controllers.
    pub fn new(device: u64) -> Arbitration<C> {
        let roles = BTreeMap::from([(String::new(), Role::default())]);
        Arbitration { device, roles, streams: BTreeMap::new() }
    }

    /// Applies a controller's update. Returns the notifications to send, the new primary's last.
    ///
    /// # Errors
    /// The stream ends; if it was a controller's, [`Arbitration::gone`] must follow.
    pub fn update(
        &mut self,
        stream: StreamId,
        update: Update<C>,
    ) -> Result<Vec<Notice<C>>, StreamRefusal> {
        let Update { device, role: name, config, election } = update;
        match self.streams.get(&stream) {
            None if device != self.device => {
                let why = format!("there is no device {device}; this is device {}", self.device);
                return Err(refused(Code::NotFound, why));
            }
            Some(_) if device != self.device => {
                let why = format!("this stream is of device {}, not of {device}", self.device);
                return Err(refused(Code::FailedPrecondition, why));
            }
            Some(known) if *known != name => {
                let why = format!("this stream is of role `{known}`; open another for `{name}`");
                return Err(refused(Code::FailedPrecondition, why));
            }
            _ => {}
        }
        if !self.roles.contains_key(&name) && self.roles.len() >= MOST_ROLES {
            return Err(refused(Code::ResourceExhausted, format!("there are {MOST_ROLES} roles")));
        }
        let role = self.roles.entry(name.clone()).or_default();
        let mut others = role.controllers.iter().filter(|(other, _)| **other != stream);
        if election.is_some() && others.any(|(_, known)| *known == election) {
            let why = format!("election id {} is another controller's", election.unwrap_or(0));
            return Err(refused(Code::InvalidArgument, why));
        }
        if !role.controllers.contains_key(&stream) && role.controllers.len() >= MAX_CONTROLLERS {
            let why = format!("{MAX_CONTROLLERS} controllers of role `{name}` are connected");
            return Err(refused(Code::ResourceExhausted, why));
        }
        role.controllers.insert(stream, election);
        self.streams.insert(stream, name.clone());
        if election.is_some() && election >= role.highest {
            (role.primary, role.highest, role.config) = (Some(stream), election, config);
            return Ok(role.notices(&name, |_| true));
        }
        let downgraded = role.primary == Some(stream);
        if downgraded {
            role.primary = None;
        }
        Ok(role.notices(&name, |to| downgraded || to == stream))
    }

    /// Removes an ended stream. Returns the notifications to send.
    pub fn remove_stream(&mut self, stream: StreamId) -> Vec<Notice<C>> {
        let Some(name) = self.streams.remove(&stream) else { return Vec::new() };
        let Some(role) = self.roles.get_mut(&name) else { return Vec::new() };
        role.controllers.remove(&stream);
        if role.primary != Some(stream) {
            return Vec::new();
        }
        role.primary = None;
        role.notices(&name, |_| true)
    }

    /// Checks that a change comes from the primary of its role; returns the role's permissions,
    /// `None` for all.
    ///
    /// # Errors
    /// It does not.
    pub fn check(
        &self,
        device: u64,
        role: &str,
        election: Option<u128>,
    ) -> Result<Option<&C>, StreamRefusal> {
        if device != self.device {
            let why = format!("there is no device {device}; this is device {}", self.device);
            return Err(refused(Code::NotFound, why));
        }
        let Some(known) = self.roles.get(role) else {
            return Err(refused(Code::NotFound, format!("nobody has a role `{role}`")));
        };
        if known.primary.is_none() || election.is_none() || election != known.highest {
            return Err(refused(Code::PermissionDenied, "not the primary controller"));
        }
        Ok(known.config.as_ref())
    }

    /// The stream's role with its permissions, if the stream is its primary's.
    pub fn primary(&self, stream: StreamId) -> Option<(&str, Option<&C>)> {
        let name = self.streams.get(&stream)?;
        let role = self.roles.get(name)?;
        (role.primary == Some(stream)).then_some((name.as_str(), role.config.as_ref()))
    }

    /// The primaries of all roles, with their permissions.
    pub fn primaries(&self) -> impl Iterator<Item = (StreamId, Option<&C>)> {
        self.roles.values().filter_map(|role| Some((role.primary?, role.config.as_ref())))
    }

    /// Permissions of a role, if it exists.
    pub fn config(&self, role: &str) -> Option<Option<&C>> {
        self.roles.get(role).map(|role| role.config.as_ref())
    }
}

impl<C: Clone> Role<C> {
    /// Notifications of the selected controllers, the primary's last.
    fn notices(&self, name: &str, meant: impl Fn(StreamId) -> bool) -> Vec<Notice<C>> {
        let notice = |to: StreamId| Notice {
            to,
            role: name.to_owned(),
            config: self.config.clone(),
            election: self.highest,
            status: match self.primary {
                None => Code::NotFound,
                Some(primary) if primary == to => Code::Ok,
                Some(_) => Code::AlreadyExists,
            },
        };
        let backups = self.controllers.keys().filter(|to| self.primary != Some(**to));
        let all = backups.chain(self.primary.as_ref());
        all.copied().filter(|to| meant(*to)).map(notice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(role: &str, election: impl Into<Option<u128>>) -> Update<&'static str> {
        Update { device: 1, role: role.to_owned(), config: None, election: election.into() }
    }

    fn told(notices: &[Notice<&'static str>]) -> Vec<(StreamId, Option<u128>, Code)> {
        notices.iter().map(|notice| (notice.to, notice.election, notice.status)).collect()
    }

    #[test]
    fn the_highest_election_id_is_primary_and_the_one_before_is_reported_first() {
        let mut device = Arbitration::new(1);
        assert_eq!(told(&device.update(7, says("", 3)).unwrap()), [(7, Some(3), Code::Ok)]);
        let lower = device.update(8, says("", 2)).unwrap();
        assert_eq!(told(&lower), [(8, Some(3), Code::AlreadyExists)]);
        let higher = device.update(9, says("", 4)).unwrap();
        let exists = Code::AlreadyExists;
        assert_eq!(
            told(&higher),
            [(7, Some(4), exists), (8, Some(4), exists), (9, Some(4), Code::Ok)]
        );
        assert_eq!(device.check(1, "", Some(3)).unwrap_err().code, Code::PermissionDenied);
        assert!(device.check(1, "", Some(4)).is_ok());
    }

    #[test]
    fn no_controller_becomes_primary_by_itself_when_the_primary_leaves() {
        let mut device = Arbitration::new(1);
        device.update(1, says("", 5)).unwrap();
        device.update(2, says("", 4)).unwrap();
        assert_eq!(told(&device.remove_stream(1)), [(2, Some(5), Code::NotFound)]);
        assert_eq!(device.check(1, "", Some(5)).unwrap_err().code, Code::PermissionDenied);
        // Too low: the highest id ever seen counts.
        let again = device.update(2, says("", 4)).unwrap();
        assert_eq!(told(&again), [(2, Some(5), Code::NotFound)]);
        assert_eq!(told(&device.update(2, says("", 5)).unwrap()), [(2, Some(5), Code::Ok)]);
    }

    #[test]
    fn a_primary_that_lowers_its_id_is_a_backup_and_everybody_hears_it() {
        let mut device = Arbitration::new(1);
        device.update(1, says("", 5)).unwrap();
        device.update(2, says("", 4)).unwrap();
        let lowered = device.update(1, says("", 3)).unwrap();
        let none = Code::NotFound;
        assert_eq!(told(&lowered), [(1, Some(5), none), (2, Some(5), none)]);
    }

    #[test]
    fn without_an_election_id_a_controller_never_is_primary_and_zero_is_an_id() {
        let mut device = Arbitration::new(1);
        assert_eq!(told(&device.update(1, says("", None)).unwrap()), [(1, None, Code::NotFound)]);
        assert_eq!(device.check(1, "", None).unwrap_err().code, Code::PermissionDenied);
        assert_eq!(
            told(&device.update(2, says("", 0)).unwrap()),
            [(1, Some(0), Code::AlreadyExists), (2, Some(0), Code::Ok)]
        );
    }

    #[test]
    fn roles_have_primaries_of_their_own_and_keep_what_the_primary_says_of_them() {
        let mut device = Arbitration::new(1);
        device.update(1, says("", 5)).unwrap();
        let update = Update { config: Some("tables"), ..says("edge", 5) };
        let notices = device.update(2, update).unwrap();
        assert_eq!((notices[0].status, notices[0].config), (Code::Ok, Some("tables")));
        assert_eq!(device.check(1, "edge", Some(5)).unwrap(), Some(&"tables"));
        assert_eq!(device.primary(1), Some(("", None)));
        assert_eq!(device.check(1, "core", Some(5)).unwrap_err().code, Code::NotFound);
    }

    #[test]
    fn a_stream_refuses_invalid_requests() {
        let mut device = Arbitration::new(1);
        let code = |result: Result<Vec<Notice<&str>>, StreamRefusal>| result.unwrap_err().code;
        let elsewhere = Update { device: 2, ..says("", 1) };
        assert_eq!(code(device.update(1, elsewhere.clone())), Code::NotFound);
        device.update(1, says("", 1)).unwrap();
        assert_eq!(code(device.update(1, elsewhere)), Code::FailedPrecondition);
        assert_eq!(code(device.update(1, says("other", 1))), Code::FailedPrecondition);
        assert_eq!(code(device.update(2, says("", 1))), Code::InvalidArgument);
        // A controller may repeat its own id.
        assert!(device.update(1, says("", 1)).is_ok());
        for stream in 2..=MAX_CONTROLLERS as u64 {
            device.update(stream, says("", None)).unwrap();
        }
        assert_eq!(code(device.update(5_000, says("", None))), Code::ResourceExhausted);
    }
}
