//! Decoder for messages: `prost` with a bound on memory.
//!
//! An empty part of a message takes two bytes on the wire and some hundred bytes in memory. Nested
//! parts add to this. The decoder therefore computes the size of a message and all its nested parts
//! from the sizes of their types. It does so before it decodes.

use prost::Name;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstCodec;

/// Decoded size allowed for any message, bytes.
const ANY: usize = 32 << 20;
/// Further decoded size allowed for each byte of the message. Growing lists take twice their
/// contents, and three times while they are copied.
const TIMES: usize = 32;
/// Maximum nesting depth of messages.
const DEPTH: usize = 100;

/// Layout of a message.
struct Shape {
    name: &'static str,
    /// Its size in memory, with inline fields, bytes.
    size: usize,
    /// Fields with messages, and other repeated fields, by number.
    fields: &'static [(u32, FieldCodec)],
}

/// Storage of a field.
#[derive(Clone, Copy)]
enum FieldCodec {
    /// A message of this shape; true if it is stored outside its parent.
    Message(usize, bool),
    /// A string or bytes.
    Bytes,
}

/// All messages of the interfaces.
static SHAPES: &[Shape] = include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// The codec of both services.
#[derive(Clone, Debug)]
pub struct Bounded<T, U>(ProstCodec<T, U>);

impl<T, U> Default for Bounded<T, U> {
    fn default() -> Bounded<T, U> {
        Bounded(ProstCodec::default())
    }
}

impl<T, U> Codec for Bounded<T, U>
where
    T: prost::Message + Send + 'static,
    U: Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = <ProstCodec<T, U> as Codec>::Encoder;
    type Decoder = BoundedDecoder<<ProstCodec<T, U> as Codec>::Decoder>;

    fn encoder(&mut self) -> Self::Encoder {
        self.0.encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder { inner: self.0.decoder(), shape: shape_of(&U::full_name()) }
    }
}

/// A decoder that checks a message's decoded size first.
#[derive(Clone, Debug)]
pub struct BoundedDecoder<D> {
    inner: D,
    shape: Option<usize>,
}

impl<D: Decoder<Error = Status>> Decoder for BoundedDecoder<D> {
    type Item = D::Item;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<D::Item>, Status> {
        // A message is contiguous at this point.
        let message = bytes.chunk();
        let most = ANY + TIMES * message.len();
        if self.shape.is_some_and(|shape| !fits(shape, message, most)) {
            let length = message.len();
            let why = format!("a message of {length} bytes becomes more than {most} in memory");
            return Err(Status::resource_exhausted(why));
        }
        self.inner.decode(bytes)
    }
}

/// The shape of the message with this name.
fn shape_of(name: &str) -> Option<usize> {
    SHAPES.binary_search_by(|shape| shape.name.cmp(name)).ok()
}

/// Whether a message decodes to at most `most` bytes.
fn fits(shape: usize, message: &[u8], most: usize) -> bool {
    let mut left = most;
    weigh(shape, message, DEPTH, &mut left)
}

/// Subtracts a message's decoded size from `left`; false if it does not fit. Of a malformed or too
/// deep message only the part before the fault counts: the decoder reports the fault.
fn weigh(shape: usize, mut message: &[u8], depth: usize, left: &mut usize) -> bool {
    while message.has_remaining() {
        let Ok((number, wire)) = decode_key(&mut message) else { return true };
        let held = SHAPES[shape].fields.iter().find(|(known, _)| *known == number);
        if wire != WireType::LengthDelimited {
            if skip_field(wire, number, &mut message, DecodeContext::default()).is_err() {
                return true;
            }
            continue;
        }
        let Ok(length) = decode_varint(&mut message) else { return true };
        let Some((part, rest)) = message.split_at_checked(length as usize) else { return true };
        message = rest;
        let own = match held {
            Some((_, FieldCodec::Message(inner, true))) => SHAPES[*inner].size,
            Some((_, FieldCodec::Bytes)) => size_of::<Vec<u8>>() + part.len(),
            Some((_, FieldCodec::Message(_, false))) => 0,
            // Bytes, or packed numbers, which take at most eight times as much.
            None => 8 * part.len(),
        };
        let Some(now) = left.checked_sub(own) else { return false };
        *left = now;
        if let Some((_, FieldCodec::Message(inner, _))) = held
            && depth > 0
            && !weigh(*inner, part, depth - 1, left)
        {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::bfrt_proto as bfrt;
    use crate::wire::p4::v1::{FieldMatch, P4Data, P4StructLike, TableEntry, Update, WriteRequest};
    use prost::Message;

    fn weight<M: Name>(message: &M) -> usize {
        let shape = shape_of(&M::full_name()).expect("it is known");
        let bytes = message.encode_to_vec();
        let (mut low, mut high) = (0, 1 << 30);
        while low < high {
            let middle = (low + high) / 2;
            match fits(shape, &bytes, middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    #[test]
    fn parts_of_parts_are_weighed_by_the_sizes_of_their_types() {
        let updates = vec![Update::default(); 9];
        let message = WriteRequest { device_id: 1, updates, ..Default::default() };
        assert_eq!(weight(&message), 9 * size_of::<Update>());
        let entry = TableEntry { r#match: vec![FieldMatch::default(); 100], ..Default::default() };
        assert_eq!(weight(&entry), 100 * size_of::<FieldMatch>());
        let key = bfrt::TableKey { fields: vec![bfrt::KeyField::default(); 50] };
        let value = Some(bfrt::table_entry::Value::Key(key));
        let entry = bfrt::TableEntry { value, ..Default::default() };
        let entity = Some(bfrt::entity::Entity::TableEntry(entry));
        let update = bfrt::Update { entity: Some(bfrt::Entity { entity }), ..Default::default() };
        let message = bfrt::WriteRequest { updates: vec![update], ..Default::default() };
        let whole = size_of::<bfrt::Update>() + 50 * size_of::<bfrt::KeyField>();
        assert_eq!(weight(&message), whole);
    }

    #[test]
    fn nested_types_are_measured_to_the_deepest_level() {
        use crate::wire::p4::v1::p4_data::Data;
        let mut deep = P4Data::default();
        for _ in 0..20 {
            let of = P4StructLike { members: vec![deep] };
            deep = P4Data { data: Some(Data::Struct(of)) };
        }
        assert!(weight(&deep) >= 20 * size_of::<P4Data>());
    }

    #[test]
    fn a_malformed_message_is_left_to_the_decoder() {
        let shape = shape_of("p4.v1.WriteRequest").unwrap();
        let updates = vec![Update::default(); 9];
        let message = WriteRequest { device_id: 1, updates, ..Default::default() }.encode_to_vec();
        assert!(fits(shape, &message[..message.len() - 1], 9 * size_of::<Update>()));
        assert!(fits(shape, b"\xff\xff", 0));
    }

    /// Resident memory of this process, bytes.
    fn resident() -> usize {
        let told = std::fs::read_to_string("/proc/self/statm").unwrap();
        told.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    }

    #[test]
    fn extracted_entries_stay_within_the_memory_budget() {
        // A key of empty fields: two bytes for each on the wire.
        let fields = vec![bfrt::KeyField::default(); 2 << 20];
        let shape = shape_of("bfrt_proto.TableKey").unwrap();
        let message = bfrt::TableKey { fields }.encode_to_vec();
        let most = ANY + TIMES * message.len();
        let decoded = |message: &[u8]| {
            let before = resident();
            let made = bfrt::TableKey::decode(message).unwrap();
            let grown = resident().saturating_sub(before);
            assert!(!made.fields.is_empty());
            grown
        };
        assert_eq!(message.len(), 4 << 20);
        assert!(fits(shape, &message, most), "64 bytes for two are no more than is said");
        let grown = decoded(&message);
        assert!(grown <= 2 * most, "lists have room for twice as many: {grown}");
        let many = vec![Update::default(); 1 << 20];
        let message = WriteRequest { updates: many, ..Default::default() }.encode_to_vec();
        let shape = shape_of("p4.v1.WriteRequest").unwrap();
        assert!(!fits(shape, &message, ANY + TIMES * message.len()), "2 MB that become 450");
    }
}
