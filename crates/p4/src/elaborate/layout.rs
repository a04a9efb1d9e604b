//! Frame layout: the slots of a value, and their names.

use super::components::scalar;
use super::packet::padding_bits;
use super::{Elaborator, MAX_NAME_BYTES, MAX_SLOTS, plain};

use crate::diagnostic::Diagnostic;
use crate::ir::{ExprKind, Layout, Scalar, Slot, SlotInfo, StmtKind, VALIDITY, Value, WideSlot};
use crate::source::Span;
use crate::types::{FieldsType, Type};

/// Purpose of a layout.
#[derive(Clone, Copy)]
pub(super) struct LayoutUse {
    pub temporary: bool,
    pub span: Span,
}

impl Elaborator<'_> {
    /// Slots for a value called `name`.
    pub(super) fn allocate(&mut self, ty: &Type, name: &str, purpose: LayoutUse) -> Layout {
        let slots = self.unit.slots.len() + self.unit.wide_slots.len();
        if slots > MAX_SLOTS || self.name_bytes > MAX_NAME_BYTES {
            if !self.exhausted {
                self.exhausted = true;
                let message = "a variable does not fit the frame";
                self.report(Diagnostic::error("E1303", purpose.span, message).with_note(format!(
                    "all variables of a parser or control together may take {MAX_SLOTS} slots, and \
                     the names of a program's slots {MAX_NAME_BYTES} bytes"
                )));
            }
            return Layout::Object;
        }
        match plain(ty) {
            Type::VarBit(max) => {
                let length =
                    self.narrow_slot(&format!("{name}.$length$"), Scalar::Bit(32), purpose);
                let value = self.wide_slot(name, Scalar::Bit(*max), purpose);
                Layout::VarBit { length, value, max: *max }
            }
            Type::Header(of) => {
                let valid = self.narrow_slot(&format!("{name}{VALIDITY}"), Scalar::Bool, purpose);
                let mut fields = self.allocate_fields(&of.fields, name, purpose);
                fields.extend(self.padding(of, name, purpose));
                Layout::Header { valid, fields, ty: ty.clone() }
            }
            Type::HeaderUnion(of) => {
                let members = self.allocate_fields(&of.fields, name, purpose);
                Layout::Union { members, ty: ty.clone() }
            }
            Type::Struct(of) => {
                let fields = self.allocate_fields(&of.fields, name, purpose);
                Layout::Struct { fields, ty: ty.clone() }
            }
            Type::Tuple(types) => {
                let fields = types.iter().enumerate();
                let fields =
                    fields.map(|(at, ty)| self.allocate(ty, &format!("{name}[{at}]"), purpose));
                Layout::Struct { fields: fields.collect(), ty: ty.clone() }
            }
            Type::Stack(element, count) => self.allocate_stack(ty, element, *count, name, purpose),
            Type::Extern(..) | Type::Void | Type::String => Layout::Object,
            other => match scalar(other) {
                Some(scalar) if scalar.is_narrow() => {
                    Layout::Narrow(self.narrow_slot(name, scalar, purpose), scalar)
                }
                Some(scalar) => Layout::Wide(self.wide_slot(name, scalar, purpose), scalar),
                None => {
                    let message = format!("`{name}` of type `{other}` cannot exist at run time");
                    self.error("E1304", purpose.span, message);
                    Layout::Object
                }
            },
        }
    }

    fn allocate_fields(
        &mut self,
        fields: &[crate::types::FieldType],
        name: &str,
        purpose: LayoutUse,
    ) -> Vec<Layout> {
        let fields = fields.iter();
        fields.map(|f| self.allocate(&f.ty, &format!("{name}.{}", f.name), purpose)).collect()
    }

    /// The slot of a header's padding ([`padding_bits`]), which has no name in the program.
    fn padding(&mut self, of: &FieldsType, name: &str, purpose: LayoutUse) -> Option<Layout> {
        let bits = padding_bits(of);
        let scalar = Scalar::Bit(bits);
        (bits > 0).then(|| {
            let slot = self.narrow_slot(&format!("{name}.$padding$"), scalar, purpose);
            Layout::Narrow(slot, scalar)
        })
    }

    fn allocate_stack(
        &mut self,
        ty: &Type,
        element: &Type,
        count: u32,
        name: &str,
        purpose: LayoutUse,
    ) -> Layout {
        let next = self.narrow_slot(&format!("{name}.$next$"), Scalar::Bit(32), purpose);
        let mut elements = Vec::new();
        for at in 0..count {
            if self.exhausted {
                break;
            }
            elements.push(self.allocate(element, &format!("{name}[{at}]"), purpose));
        }
        Layout::Stack { next, elements, ty: ty.clone() }
    }

    /// A slot for a scalar of at most 128 bits.
    pub(super) fn narrow_slot(&mut self, name: &str, scalar: Scalar, purpose: LayoutUse) -> Slot {
        let LayoutUse { temporary, span } = purpose;
        self.name_bytes += name.len();
        self.unit.slots.push(SlotInfo { name: name.into(), scalar, temporary, span });
        Slot(self.unit.slots.len() as u32 - 1)
    }

    fn wide_slot(&mut self, name: &str, scalar: Scalar, purpose: LayoutUse) -> WideSlot {
        let LayoutUse { temporary, span } = purpose;
        self.name_bytes += name.len();
        self.unit.wide_slots.push(SlotInfo { name: name.into(), scalar, temporary, span });
        WideSlot(self.unit.wide_slots.len() as u32 - 1)
    }

    /// Slots for a value without a name in the program.
    pub(super) fn temporary(&mut self, ty: &Type, span: Span) -> Layout {
        let name = format!("$tmp{}$", self.unit.slots.len() + self.unit.wide_slots.len());
        self.allocate(ty, &name, LayoutUse { temporary: true, span })
    }

    /// Sets headers invalid and stacks empty, as specification 6.8 requires for `out` parameters.
    pub(super) fn invalidate(&mut self, layout: &Layout, span: Span) {
        let zero = |slot, scalar| {
            let value = super::value::constant(0, scalar, span);
            StmtKind::Set(slot, value)
        };
        match layout {
            Layout::Header { valid, .. } => self.push(zero(*valid, Scalar::Bool), span),
            Layout::Stack { next, elements, .. } => {
                self.push(zero(*next, Scalar::Bit(32)), span);
                elements.iter().for_each(|element| self.invalidate(element, span));
            }
            Layout::Union { members: parts, .. } | Layout::Struct { fields: parts, .. } => {
                parts.iter().for_each(|part| self.invalidate(part, span));
            }
            _ => {}
        }
    }
}

/// True if evaluating the value reads a slot of the layout.
pub(super) fn reads(value: &Value, layout: &Layout) -> bool {
    let range = layout.range();
    let (narrow, wide) = (range.narrow(), range.wide());
    let touches = |base: u32, len: u64, range: &std::ops::Range<usize>| {
        let (start, end) = (u64::from(base), u64::from(base) + len);
        start < range.end as u64 && (range.start as u64) < end
    };
    super::value::any_leaf(value, &mut |expr| {
        super::value::any_node(expr, &mut |expr| match &expr.kind {
            ExprKind::Slot(slot) => touches(slot.0, 1, &narrow),
            ExprKind::WideSlot(slot) => touches(slot.0, 1, &wide),
            ExprKind::Element { base, stride, count, .. } => {
                touches(base.0, u64::from(*stride) * u64::from(*count), &narrow)
            }
            ExprKind::WideElement { base, stride, count, .. } => {
                touches(base.0, u64::from(*stride) * u64::from(*count), &wide)
            }
            _ => false,
        })
    })
}
