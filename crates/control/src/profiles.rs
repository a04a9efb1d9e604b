//! Action profiles and selectors: table entries that name a member or a group instead of an action.

use sojourn_externs::hash::Algorithm;
use sojourn_externs::selector::{MemberId, Selector};
use sojourn_p4::interp::{ActionRun, Context, PacketOut};
use sojourn_p4::ir::{Object, ObjectArg, ObjectId, Program, TableId};
use std::collections::BTreeMap;

/// Position of the zero padding of an input that is not a whole number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// In front of the first bit (TNA).
    Front,
    /// Behind the last bit (bmv2).
    Behind,
}

/// A hash object.
#[derive(Clone, Debug)]
pub struct Hash {
    /// Hash algorithm.
    pub algorithm: Algorithm,
    /// Width of its result in bits.
    pub width: u32,
    /// Conversion of its input to bytes.
    pub fill: Fill,
}

/// Bit of an entry's reference that marks a group; the other bits are the number.
pub const GROUP: u32 = 1 << 31;

/// Members of one action profile and, if there is one, the groups of its selector.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Its name for the control plane.
    pub name: String,
    /// Action of each member.
    pub members: BTreeMap<MemberId, ActionRun>,
    /// The groups.
    pub selector: Option<Selector>,
    /// The hash of the selector.
    pub hash: Option<Hash>,
}

/// All profiles, and their tables.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The profile object (or selector) of each table that has one.
    pub of_table: BTreeMap<TableId, usize>,
    /// Index of each object's profile.
    pub of_object: BTreeMap<ObjectId, usize>,
}

impl Profiles {
    /// Notes the profile of each table that names one. `places` has the index of each object's
    /// profile, and of other objects, which `is_profile` rejects.
    pub fn assign_tables(
        &mut self,
        program: &Program,
        places: &BTreeMap<ObjectId, u32>,
        is_profile: impl Fn(&Object) -> bool,
    ) {
        for (index, table) in program.tables.iter().enumerate() {
            for (_, value) in &table.properties {
                if let ObjectArg::Object(object) = value
                    && is_profile(&program.objects[object.index()])
                    && let Some(place) = places.get(object)
                {
                    self.of_table.insert(TableId(index as u32), *place as usize);
                }
            }
        }
    }

    /// Resolves an entry's reference to an action.
    pub fn select(
        &self,
        table: TableId,
        reference: u32,
        selector: &[u128],
        ctx: &Context<'_>,
    ) -> Option<ActionRun> {
        let profile = &self.profiles[*self.of_table.get(&table)?];
        let member = if reference & GROUP == 0 {
            reference
        } else {
            let hash = profile.hash.as_ref();
            let hash = hash.map_or(0, |hash| hash_of(hash, table, selector, ctx));
            profile.selector.as_ref()?.select(reference & !GROUP, hash)?
        };
        profile.members.get(&member).cloned()
    }
}

/// The hash of a table's key elements of kind `selector`.
fn hash_of(hash: &Hash, table: TableId, selector: &[u128], ctx: &Context<'_>) -> u64 {
    let keys = ctx.program().tables[table.index()].keys.iter();
    let widths: Vec<u32> = keys
        .filter(|key| &*key.match_kind == "selector")
        .map(|key| key.expr.scalar.width())
        .collect();
    let bits: u32 = widths.iter().sum();
    let mut bytes = PacketOut::new();
    if hash.fill == Fill::Front {
        bytes.append(0, bits.next_multiple_of(8) - bits);
    }
    for (value, width) in selector.iter().zip(&widths) {
        bytes.append(*value, (*width).min(128));
    }
    bytes.align();
    let bits = if hash.fill == Fill::Front { bits } else { bytes.bytes().len() as u32 * 8 };
    hash.algorithm.hash(bytes.bytes(), bits, hash.width) as u64
}
