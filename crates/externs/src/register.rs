//! Register array of bmv2's two switches (`register<T>`, `Register<T, S>`).
//!
//! An element is any value of fixed size, stored as its scalars in sequence. As in bmv2 an index
//! beyond the array reads and writes nothing. Uses the IR; must not depend on an architecture.

use num_bigint::BigUint;
use sojourn_p4::interp::jit_tier::Cells;
use sojourn_p4::interp::{Context, arith};
use sojourn_p4::ir::{Layout, Scalar, Value};
use sojourn_p4::types::Type;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A register.
#[derive(Debug)]
pub struct RegisterArray {
    name: Arc<str>,
    /// The scalars of an element.
    scalars: Box<[Scalar]>,
    size: usize,
    /// Number of narrow and wide scalars of an element.
    each: (usize, usize),
    /// The elements, if each is one scalar of at most 64 bits; bytecode accesses them, too.
    words: Option<Cells>,
    /// Scalars of at most 128 bits of other elements, element by element.
    narrow: Vec<u128>,
    /// Wider scalars other than zero, by index.
    wide: BTreeMap<usize, BigUint>,
}

impl RegisterArray {
    /// Maximum number of elements.
    pub const MAX_SIZE: usize = 1 << 26;
    /// Maximum number of elements of an array that bytecode accesses: larger ones allocate memory
    /// on use.
    const MOST_WORDS: usize = 1 << 20;

    /// Bytes of memory of an element of this type, where it is allocated.
    pub fn cell_bytes(element: &Type) -> u64 {
        let mut scalars = Vec::new();
        flatten(element, &mut scalars);
        let bytes = scalars.iter().map(|scalar| match scalar.is_narrow() {
            true => size_of::<u128>() as u64,
            false => (size_of::<(usize, BigUint)>() as u64) + u64::from(scalar.width() / 8),
        });
        bytes.sum()
    }

    /// `size` elements, all zero.
    pub fn new(name: Arc<str>, element: &Type, size: usize) -> RegisterArray {
        let mut scalars = Vec::new();
        flatten(element, &mut scalars);
        let narrow = scalars.iter().filter(|scalar| scalar.is_narrow()).count();
        let wide = scalars.len() - narrow;
        let is_word =
            size <= Self::MOST_WORDS && matches!(&*scalars, [scalar] if scalar.width() <= 64);
        RegisterArray {
            name,
            scalars: scalars.into(),
            size,
            each: (narrow, wide),
            words: is_word.then(|| (0..size).map(|_| AtomicU64::new(0)).collect()),
            narrow: vec![0; if is_word { 0 } else { size * narrow }],
            wide: BTreeMap::new(),
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
                BigUint::from(self.narrow(narrow - 1))
            } else {
                wide += 1;
                self.wide(wide - 1)
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
        for (element, value) in (0..self.scalars.len()).zip(values) {
            let scalar = self.scalars[element];
            let value = value & arith::wide_mask(scalar.width());
            if scalar.is_narrow() {
                self.put_narrow(narrow, arith::narrowed(&value));
                narrow += 1;
            } else {
                self.put_wide(wide, value);
                wide += 1;
            }
        }
        true
    }

    /// Index of an element's first narrow and wide scalar.
    fn start(&self, index: usize) -> (usize, usize) {
        (index * self.each.0, index * self.each.1)
    }

    /// Reads an element into a variable; false, without effect, beyond the array.
    pub fn read_into(&self, index: u128, result: &Layout, ctx: &mut Context<'_>) -> bool {
        let is_cell = index < self.size as u128;
        if is_cell {
            self.load(result, &mut self.start(index as usize), ctx);
        }
        is_cell
    }

    /// Writes a value to an element; no effect beyond the array.
    pub fn write_value(&mut self, index: u128, value: &Value, ctx: &Context<'_>) {
        if index < self.size as u128 {
            self.store(value, &mut self.start(index as usize), ctx);
        }
    }

    /// Elements that differ from an earlier copy, which is then updated.
    pub fn differs_from(&self, earlier: &mut RegisterArray) -> Vec<usize> {
        let is_same =
            |(now, then): (&AtomicU64, &AtomicU64)| now.load(Relaxed) == then.load(Relaxed);
        let same_words = match (&self.words, &earlier.words) {
            (Some(now), Some(then)) => now.iter().zip(then.iter()).all(is_same),
            _ => true,
        };
        if same_words && earlier.narrow == self.narrow && earlier.wide == self.wide {
            return Vec::new();
        }
        let found =
            (0..self.size).filter(|index| self.get(*index) != earlier.get(*index)).collect();
        earlier.take_over(self);
        found
    }

    /// Copies the contents of another register of the same kind, in place.
    pub fn take_over(&mut self, other: &RegisterArray) {
        if let (Some(mine), Some(theirs)) = (&self.words, &other.words) {
            let both = mine.iter().zip(theirs.iter());
            both.for_each(|(mine, theirs)| mine.store(theirs.load(Relaxed), Relaxed));
        }
        self.narrow.clone_from(&other.narrow);
        self.wide.clone_from(&other.wide);
    }

    /// Elements that bytecode accesses.
    pub fn words(&self) -> Option<&Cells> {
        self.words.as_ref()
    }

    #[inline]
    fn narrow(&self, at: usize) -> u128 {
        match &self.words {
            Some(words) => words.get(at).map_or(0, |word| word.load(Relaxed).into()),
            None => self.narrow.get(at).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn put_narrow(&mut self, at: usize, value: u128) {
        match &self.words {
            Some(words) => {
                words.get(at).inspect(|word| word.store(value as u64, Relaxed));
            }
            None => {
                if let Some(place) = self.narrow.get_mut(at) {
                    *place = value;
                }
            }
        }
    }

    fn wide(&self, at: usize) -> BigUint {
        self.wide.get(&at).cloned().unwrap_or_default()
    }

    fn put_wide(&mut self, at: usize, value: BigUint) {
        if value == BigUint::ZERO {
            self.wide.remove(&at);
        } else if at < self.size * self.each.1 {
            self.wide.insert(at, value);
        }
    }

    fn load(&self, layout: &Layout, at: &mut (usize, usize), ctx: &mut Context<'_>) {
        match layout {
            Layout::Narrow(..) => {
                ctx.set(layout, self.narrow(at.0));
                at.0 += 1;
            }
            Layout::Wide(..) => {
                ctx.set_wide(layout, self.wide(at.1));
                at.1 += 1;
            }
            Layout::Header { valid, fields, .. } => {
                ctx.frame_mut().set(*valid, self.narrow(at.0));
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
                self.put_narrow(at.0, ctx.eval_value(value));
                at.0 += 1;
            }
            Value::Scalar(_) => {
                self.put_wide(at.1, ctx.eval_value_wide(value));
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

impl Clone for RegisterArray {
    /// An independent copy.
    fn clone(&self) -> RegisterArray {
        let copied = |words: &Cells| {
            words.iter().map(|word| AtomicU64::new(word.load(Relaxed))).collect::<Cells>()
        };
        RegisterArray {
            name: self.name.clone(),
            scalars: self.scalars.clone(),
            words: self.words.as_ref().map(copied),
            narrow: self.narrow.clone(),
            wide: self.wide.clone(),
            ..*self
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
