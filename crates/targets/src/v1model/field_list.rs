//! Field lists: the metadata that goes with a clone, a resubmitted or a recirculated packet.
//!
//! Today's programs annotate fields of their metadata with `@field_list(1, 2)` and name a number;
//! older ones hand a list of fields to `clone3`, `resubmit` or `recirculate`. Either way what is
//! kept are the values that the fields have at the end of the pass. A list is the places of its
//! fields in a packet header vector.

use super::blocks::Block;
use crate::phv::Phv;
use num_traits::Zero;
use sojourn_p4::ast::{self, Annotation, AnnotationBody, AnnotationToken, DeclarationKind};
use sojourn_p4::ir::{Expr, ExprKind, Layout, Slot, Value};
use sojourn_p4::types::Type;
use std::collections::BTreeMap;

/// Places in a packet header vector.
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

    /// The fields that an argument of `clone3`, `resubmit` or `recirculate` names in `block`.
    pub fn of_value(value: &Value, block: &Block) -> FieldList {
        let mut list = FieldList::default();
        list.add_value(value, block);
        list
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

/// Makes the metadata of a vector all zero; its headers stay.
pub fn reset_metadata(phv: &mut Phv, block: &Block) {
    let (narrow, wide) = block.header_slots();
    phv.narrow[narrow..].fill(0);
    phv.wide[wide..].iter_mut().for_each(Zero::set_zero);
}

/// The lists that the annotations of a block's metadata make, by their numbers.
pub fn annotated(
    metadata: &Layout,
    block: &Block,
    names: &BTreeMap<String, u64>,
) -> BTreeMap<u8, FieldList> {
    let mut lists = BTreeMap::new();
    collect(metadata, block, names, &mut lists);
    lists
}

fn collect(
    layout: &Layout,
    block: &Block,
    names: &BTreeMap<String, u64>,
    lists: &mut BTreeMap<u8, FieldList>,
) {
    let (Layout::Struct { fields, ty } | Layout::Header { fields, ty, .. }) = layout else {
        return;
    };
    let (Type::Struct(declared) | Type::Header(declared)) = ty else { return };
    for (field, declared) in fields.iter().zip(&declared.fields) {
        for number in declared.annotations.iter().flat_map(|a| numbers(a, names)) {
            lists.entry(number).or_default().add(field, block);
        }
        collect(field, block, names, lists);
    }
}

/// The numbers of a `@field_list` annotation: literals, or names of constants and enum members.
fn numbers(annotation: &Annotation, names: &BTreeMap<String, u64>) -> Vec<u8> {
    let AnnotationBody::Tokens(tokens) = &annotation.body else { return Vec::new() };
    if &*annotation.name.text != "field_list" {
        return Vec::new();
    }
    let items = tokens.split(|token| &*token.text == ",");
    let number = |item: &[AnnotationToken]| {
        let text: String = item.iter().map(|token| &*token.text).collect();
        let value = names.get(&text).copied().or_else(|| literal(&text))?;
        u8::try_from(value).ok()
    };
    items.filter_map(number).collect()
}

/// The value of a literal such as `3`, `0x3` or `8w3`.
fn literal(text: &str) -> Option<u64> {
    let digits = text.split_once('w').map_or(text, |(_, digits)| digits);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// Constants and members of enums at the top of a program whose values are written out: what a
/// `@field_list` may name.
pub fn constants(tree: &ast::Program) -> BTreeMap<String, u64> {
    let mut names = BTreeMap::new();
    for declaration in &tree.declarations {
        match &declaration.kind {
            DeclarationKind::Constant { name, value, .. } => {
                if let Some(value) = written(value, &names) {
                    names.insert(name.text.to_string(), value);
                }
            }
            DeclarationKind::Enum { name, members, .. } => {
                for (member, value) in members {
                    if let Some(value) = value.as_ref().and_then(|value| written(value, &names)) {
                        names.insert(format!("{}.{}", name.text, member.text), value);
                    }
                }
            }
            _ => {}
        }
    }
    names
}

fn written(value: &ast::Expr, names: &BTreeMap<String, u64>) -> Option<u64> {
    match &value.kind {
        ast::ExprKind::Integer(literal) => u64::try_from(&literal.value).ok(),
        ast::ExprKind::Name { name, .. } => names.get(&*name.text).copied(),
        ast::ExprKind::Cast(_, inner) => written(inner, names),
        _ => None,
    }
}
