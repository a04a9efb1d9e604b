//! `register<T>`: an array that packets read and write.
//!
//! An element is any value of fixed size, kept as its scalars one behind the other. As in bmv2 an
//! index beyond the array reads and writes nothing.

use super::{Runtime, out};
use crate::calls::scalar;
use num_bigint::BigUint;
use sojourn_p4::interp::{Context, arith};
use sojourn_p4::ir::{Arg, ExternCall, Layout, Scalar, Value};
use sojourn_p4::types::Type;
use std::sync::Arc;

/// A register.
#[derive(Clone, Debug)]
pub struct RegisterArray {
    name: Arc<str>,
    /// The scalars of an element.
    scalars: Box<[Scalar]>,
    size: usize,
    /// How many narrow and wide scalars an element has.
    each: (usize, usize),
    /// Scalars of at most 128 bits, element by element.
    narrow: Vec<u128>,
    /// Wider ones.
    wide: Vec<BigUint>,
}

impl RegisterArray {
    /// Elements that an array may have.
    pub const MAX_SIZE: usize = 1 << 26;

    /// `size` elements, all zero.
    pub(super) fn new(name: Arc<str>, element: &Type, size: usize) -> RegisterArray {
        let mut scalars = Vec::new();
        flatten(element, &mut scalars);
        let narrow = scalars.iter().filter(|scalar| scalar.is_narrow()).count();
        let wide = scalars.len() - narrow;
        RegisterArray {
            name,
            scalars: scalars.into(),
            size,
            each: (narrow, wide),
            narrow: vec![0; size * narrow],
            wide: vec![BigUint::default(); size * wide],
        }
    }

    /// Its name for the control plane.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.size
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Width of each scalar of an element, in bits.
    pub fn widths(&self) -> impl Iterator<Item = u32> + '_ {
        self.scalars.iter().map(|scalar| scalar.width())
    }

    /// The scalars of an element; none beyond the array.
    pub fn get(&self, index: usize) -> Option<Vec<BigUint>> {
        if index >= self.size {
            return None;
        }
        let (mut narrow, mut wide) = self.start(index);
        let scalars = self.scalars.iter().map(|scalar| {
            if scalar.is_narrow() {
                narrow += 1;
                BigUint::from(self.narrow[narrow - 1])
            } else {
                wide += 1;
                self.wide[wide - 1].clone()
            }
        });
        Some(scalars.collect())
    }

    /// Sets the first scalars of an element, each cut to its width; false beyond the array.
    pub fn set(&mut self, index: usize, values: &[BigUint]) -> bool {
        if index >= self.size {
            return false;
        }
        let (mut narrow, mut wide) = self.start(index);
        for (scalar, value) in self.scalars.iter().zip(values) {
            let value = value & arith::wide_mask(scalar.width());
            if scalar.is_narrow() {
                self.narrow[narrow] = arith::narrowed(&value);
                narrow += 1;
            } else {
                self.wide[wide] = value;
                wide += 1;
            }
        }
        true
    }

    /// Where an element's narrow and wide scalars start.
    fn start(&self, index: usize) -> (usize, usize) {
        (index * self.each.0, index * self.each.1)
    }

    /// The elements that an earlier state of it has otherwise, which then has them, too.
    pub(in crate::v1model) fn differs_from(&self, earlier: &mut RegisterArray) -> Vec<usize> {
        if earlier.narrow == self.narrow && earlier.wide == self.wide {
            return Vec::new();
        }
        let found =
            (0..self.size).filter(|index| self.get(*index) != earlier.get(*index)).collect();
        earlier.narrow.copy_from_slice(&self.narrow);
        earlier.wide.clone_from_slice(&self.wide);
        found
    }

    fn load(&self, layout: &Layout, at: &mut (usize, usize), ctx: &mut Context<'_>) {
        match layout {
            Layout::Narrow(..) => {
                ctx.set(layout, self.narrow.get(at.0).copied().unwrap_or(0));
                at.0 += 1;
            }
            Layout::Wide(..) => {
                ctx.set_wide(layout, self.wide.get(at.1).cloned().unwrap_or_default());
                at.1 += 1;
            }
            Layout::Header { valid, fields, .. } => {
                ctx.frame_mut().set(*valid, self.narrow.get(at.0).copied().unwrap_or(0));
                at.0 += 1;
                fields.iter().for_each(|field| self.load(field, at, ctx));
            }
            Layout::Struct { fields, .. } => {
                fields.iter().for_each(|field| self.load(field, at, ctx));
            }
            _ => {}
        }
    }

    fn store(&mut self, value: &Value, at: &mut (usize, usize), ctx: &Context<'_>) {
        match value {
            Value::Scalar(expr) if expr.scalar.is_narrow() => {
                if let Some(place) = self.narrow.get_mut(at.0) {
                    *place = ctx.eval_value(value);
                }
                at.0 += 1;
            }
            Value::Scalar(_) => {
                if let Some(place) = self.wide.get_mut(at.1) {
                    *place = ctx.eval_value_wide(value);
                }
                at.1 += 1;
            }
            Value::Header { valid, fields, .. } => {
                self.store(&Value::Scalar(valid.clone()), at, ctx);
                fields.iter().for_each(|field| self.store(field, at, ctx));
            }
            Value::Struct { fields, .. } => {
                fields.iter().for_each(|field| self.store(field, at, ctx));
            }
            _ => {}
        }
    }
}

/// The scalars of a type of fixed size, in the order of a layout's slots.
fn flatten(ty: &Type, scalars: &mut Vec<Scalar>) {
    match ty {
        Type::Bool => scalars.push(Scalar::Bool),
        Type::Bit(width) => scalars.push(Scalar::Bit(*width)),
        Type::Int(width) => scalars.push(Scalar::Int(*width)),
        Type::New(new) => flatten(&new.target, scalars),
        Type::SerializableEnum(e) => match &e.underlying {
            Some(underlying) => flatten(underlying, scalars),
            None => scalars.push(Scalar::Bit(32)),
        },
        Type::Header(fields) => {
            scalars.push(Scalar::Bool);
            fields.fields.iter().for_each(|field| flatten(&field.ty, scalars));
        }
        Type::Struct(fields) => {
            fields.fields.iter().for_each(|field| flatten(&field.ty, scalars));
        }
        Type::Tuple(types) => types.iter().for_each(|ty| flatten(ty, scalars)),
        Type::Enum(_) | Type::Error => scalars.push(Scalar::Bit(32)),
        _ => {}
    }
}

impl Runtime {
    /// `register.read(result, index)`
    #[inline]
    pub(super) fn read_register(&mut self, at: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let register = &self.registers[at as usize];
        let index = scalar(call, 1, ctx);
        let (Some(result), true) = (out(call, 0), index < register.size as u128) else { return };
        let mut place = register.start(index as usize);
        register.load(result, &mut place, ctx);
    }

    /// `register.write(index, value)`
    #[inline]
    pub(super) fn write_register(&mut self, at: u32, call: &ExternCall, ctx: &mut Context<'_>) {
        let register = &mut self.registers[at as usize];
        let index = scalar(call, 0, ctx);
        let Some(Arg::In(value)) = call.args.get(1) else { return };
        if index < register.size as u128 {
            let mut place = register.start(index as usize);
            register.store(value, &mut place, ctx);
        }
    }
}
