//! Field lists: the metadata that goes with a clone, a resubmitted or a recirculated packet.
//!
//! Current programs annotate fields of their metadata with `@field_list(1, 2)` and pass a number;
//! older ones pass a list of fields to `clone3`, `resubmit` or `recirculate`. In both cases the
//! values of the fields at the end of the pass are preserved. A list consists of the fields'
//! positions in a packet header vector.

use super::blocks::Block;
use super::rules::{self, Refusal};
use num_bigint::BigInt;
use num_traits::Zero;
use sojourn_p4::ast::{Annotation, AnnotationBody, AnnotationToken};
use sojourn_p4::diagnostic::Diagnostic;
use sojourn_p4::ir::{Expr, ExprKind, Layout, Slot, Value};
use sojourn_p4::types::Type;
use sojourn_target::phv::Phv;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Positions in a packet header vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldList {
    narrow: Vec<u32>,
    wide: Vec<u32>,
}

impl FieldList {
    /// Copies the fields from one vector to another of the same block.
    pub fn copy(&self, from: &Phv, to: &mut Phv) {
        for &at in &self.narrow {
            to.narrow[at as usize] = from.narrow[at as usize];
        }
        for &at in &self.wide {
            to.wide[at as usize].clone_from(&from.wide[at as usize]);
        }
    }

    fn add(&mut self, layout: &Layout, block: &Block) {
        let range = layout.range();
        self.narrow.extend(range.narrow().filter_map(|slot| block.kept_at(Slot(slot as u32))));
        self.wide.extend(range.wide().filter_map(|slot| block.wide_kept_at(slot)));
    }

    /// Fields named by an argument of `clone3`, `resubmit` or `recirculate` in `block`.
    pub fn of_value(value: &Value, block: &Block) -> FieldList {
        let mut list = FieldList::default();
        list.add_value(value, block);
        list
    }

    fn add_headers(&mut self, layout: &Layout, block: &Block) {
        match layout {
            Layout::Header { .. } => self.add(layout, block),
            Layout::Union { members: parts, .. }
            | Layout::Struct { fields: parts, .. }
            | Layout::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.add_headers(part, block));
            }
            _ => {}
        }
    }

    fn add_value(&mut self, value: &Value, block: &Block) {
        match value {
            Value::Scalar(expr) => self.add_expr(expr, block),
            Value::VarBit(length, bits) => {
                self.add_expr(length, block);
                self.add_expr(bits, block);
            }
            Value::Header { fields: parts, .. }
            | Value::Union { members: parts, .. }
            | Value::Struct { fields: parts, .. }
            | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.add_value(part, block));
            }
            Value::String(_) => {}
        }
    }

    fn add_expr(&mut self, expr: &Expr, block: &Block) {
        match &expr.kind {
            ExprKind::Slot(slot) => self.narrow.extend(block.kept_at(*slot)),
            ExprKind::WideSlot(slot) => self.wide.extend(block.wide_kept_at(slot.index())),
            _ => {}
        }
    }
}

/// Headers declared inside the metadata of a block.
pub fn headers_within(metadata: &Layout, block: &Block) -> FieldList {
    let mut list = FieldList::default();
    list.add_headers(metadata, block);
    list
}

/// Clears the metadata of a vector; its headers remain.
pub fn reset_metadata(phv: &mut Phv, block: &Block) {
    let (narrow, wide) = block.header_slots();
    phv.narrow[narrow..].fill(0);
    phv.wide[wide..].iter_mut().for_each(Zero::set_zero);
}

/// Values that a program's annotations may name: its top-level constants and members of enums.
type Names = BTreeMap<Arc<str>, BigInt>;

/// Field lists of the annotations of a block's metadata, by number.
pub fn annotated(
    metadata: &Layout,
    block: &Block,
    names: &Names,
) -> Result<BTreeMap<u8, FieldList>, Vec<Diagnostic>> {
    let mut lists = Lists { block, names, lists: BTreeMap::new(), refused: Vec::new() };
    lists.collect(metadata);
    if lists.refused.is_empty() { Ok(lists.lists) } else { Err(lists.refused) }
}

/// Field lists during the walk of the metadata.
struct Lists<'a> {
    block: &'a Block,
    names: &'a Names,
    lists: BTreeMap<u8, FieldList>,
    refused: Vec<Diagnostic>,
}

impl Lists<'_> {
    fn collect(&mut self, layout: &Layout) {
        let (Layout::Struct { fields, ty } | Layout::Header { fields, ty, .. }) = layout else {
            return;
        };
        let (Type::Struct(declared) | Type::Header(declared)) = ty else { return };
        for (field, declared) in fields.iter().zip(&declared.fields) {
            for annotation in declared.annotations.iter() {
                if &*annotation.name.text != "field_list" {
                    continue;
                }
                match numbers(annotation, self.names) {
                    Ok(numbers) => {
                        for number in numbers {
                            self.lists.entry(number).or_default().add(field, self.block);
                        }
                    }
                    Err(refused) => self.refused.push(refused.into()),
                }
            }
            self.collect(field);
        }
    }
}

/// The numbers of a `@field_list` annotation: literals, or names of constants and enum members.
fn numbers(annotation: &Annotation, names: &Names) -> Result<Vec<u8>, Refusal> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return Ok(Vec::new()) };
    let items = tokens.split(|token| &*token.text == ",");
    let number = |item: &[AnnotationToken]| {
        let text: String = item.iter().map(|token| &*token.text).collect();
        let value = names.get(text.trim_start_matches('.')).cloned().or_else(|| literal(&text));
        value.and_then(|value| u8::try_from(value).ok()).ok_or_else(|| {
            let message = format!("`{text}` is not the number of a field list");
            rules::FIELD_LIST.refuse(annotation.span, message)
        })
    };
    items.filter(|item| !item.is_empty()).map(number).collect()
}

/// The value of a literal such as `3`, `0x3` or `8w3`.
fn literal(text: &str) -> Option<BigInt> {
    let digits = text.split_once('w').map_or(text, |(_, digits)| digits).replace('_', "");
    let (radix, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, &*digits),
    };
    BigInt::parse_bytes(digits.as_bytes(), radix)
}
