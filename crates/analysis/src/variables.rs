//! Objects that hold state, and the names of their fields.
//!
//! Recognises the architectures' registers by name: `Register` and `DirectRegister` of TNA,
//! `register` of v1model, `Memory` of the NPU. Counters and meters hold state too, but programs do
//! not compute with it.

use sojourn_p4::ir::{Const, Object, ObjectArg, ObjectId, Program};
use sojourn_p4::types::Type;
use std::collections::HashMap;
use std::ops::Range;

/// A field of a register's entry.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The shortest unique name: `count`, `schedule.drop_next`.
    pub name: String,
    /// The register.
    pub register: ObjectId,
    /// Its type.
    pub ty: String,
}

/// All state variables of a program.
#[derive(Debug, Default)]
pub struct Variables {
    /// The variables, with those of a register in sequence.
    pub list: Vec<Variable>,
    of: HashMap<ObjectId, Range<usize>>,
}

impl Variables {
    /// Collects the state variables.
    pub fn new(program: &Program) -> Variables {
        let mut found = Variables::default();
        let mut last_parts: HashMap<&str, u32> = HashMap::new();
        let registers = || program.objects.iter().enumerate().filter(|(_, o)| is_register(o));
        for (_, object) in registers() {
            *last_parts.entry(last_part(&object.name)).or_default() += 1;
        }
        for (at, object) in registers() {
            let register = ObjectId(at as u32);
            let short = last_part(&object.name);
            let name = if last_parts[short] > 1 { &*object.name } else { short };
            let start = found.list.len();
            for (field, ty) in fields(object) {
                let name = field.map_or(name.to_owned(), |field| format!("{name}.{field}"));
                found.list.push(Variable { name, register, ty });
            }
            found.of.insert(register, start..found.list.len());
        }
        found
    }

    /// The variables of the register that a call on this object accesses.
    pub fn behind(&self, program: &Program, object: ObjectId) -> Option<Range<usize>> {
        let own = self.of.get(&object);
        let action = || {
            let args = &program.objects[object.index()].args;
            args.iter().find_map(|(_, arg)| match arg {
                ObjectArg::Object(register) => self.of.get(register),
                _ => None,
            })
        };
        own.or_else(action).cloned()
    }
}

/// The number of entries of a register, if the program gives it.
pub fn size(object: &Object) -> Option<u64> {
    object.args.iter().find_map(|(name, arg)| match arg {
        ObjectArg::Const(Const::Scalar(_, value))
            if matches!(&**name, "size" | "instance_count") =>
        {
            u64::try_from(value).ok()
        }
        ObjectArg::Const(Const::Int(value)) if matches!(&**name, "size" | "instance_count") => {
            u64::try_from(value).ok()
        }
        _ => None,
    })
}

fn is_register(object: &Object) -> bool {
    matches!(&*object.of, "Register" | "DirectRegister" | "register" | "Memory")
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn fields(object: &Object) -> Vec<(Option<String>, String)> {
    match object.type_args.first() {
        Some(Type::Struct(fields)) => {
            let each = fields.fields.iter();
            each.map(|field| (Some(field.name.to_string()), field.ty.to_string())).collect()
        }
        Some(ty) => vec![(None, ty.to_string())],
        None => vec![(None, String::new())],
    }
}
