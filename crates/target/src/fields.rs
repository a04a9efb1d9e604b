//! Fields of structs and headers by name, as slots of a frame.

use sojourn_p4::ir::{Layout, Slot};
use sojourn_p4::types::Type;

/// The slot of a field of a struct or header.
pub fn field(layout: &Layout, name: &str) -> Option<Slot> {
    let (fields, ty) = match layout {
        Layout::Struct { fields, ty } | Layout::Header { fields, ty, .. } => (fields, ty),
        _ => return None,
    };
    let (Type::Struct(declared) | Type::Header(declared)) = ty else { return None };
    let at = declared.fields.iter().position(|field| &*field.name == name)?;
    match fields.get(at)? {
        Layout::Narrow(slot, _) => Some(*slot),
        _ => None,
    }
}
