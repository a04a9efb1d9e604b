//! Packets from and to a controller: header fields become the message's metadata.

use super::entry;
use super::schema::Parameter;
use super::store::Store;
use crate::failure::Failure;
use crate::wire::p4::v1 as p4;
use num_bigint::BigUint;

/// Width of a header, padded to whole bytes.
fn bits(header: &[Parameter]) -> u32 {
    header.iter().map(|field| field.field.inside).sum::<u32>().next_multiple_of(8)
}

/// Frame of a packet from the controller: its metadata as a header, and the payload.
///
/// # Errors
/// The metadata do not fit the header.
pub fn frame(
    header: &[Parameter],
    given: p4::PacketOut,
    store: &mut Store,
) -> Result<Vec<u8>, Failure> {
    let mut all = BigUint::ZERO;
    let mut left = bits(header);
    for field in &given.metadata {
        if !header.iter().any(|known| known.id == field.metadata_id) {
            return Err(Failure::invalid(format!("no metadata field {}", field.metadata_id)));
        }
    }
    for field in header {
        let mut values = given.metadata.iter().filter(|one| one.metadata_id == field.id);
        let (Some(value), None) = (values.next(), values.next()) else {
            let why = format!("metadata field {} (`{}`) must be there once", field.id, field.name);
            return Err(Failure::invalid(why));
        };
        let number = entry::value(&value.value, &field.field, store)?;
        left -= field.field.inside;
        all |= number << left;
    }
    let mut frame = vec![0; bits(header) as usize / 8];
    let bytes = all.to_bytes_be();
    if !frame.is_empty() {
        let behind = frame.len() - bytes.len().min(frame.len());
        frame[behind..].copy_from_slice(&bytes);
    }
    frame.extend_from_slice(&given.payload);
    Ok(frame)
}

/// Message of a frame for the controller; `None` if it is shorter than the header.
pub fn message(header: &[Parameter], frame: &[u8], store: &Store) -> Option<p4::PacketIn> {
    let length = bits(header) as usize / 8;
    let all = BigUint::from_bytes_be(frame.get(..length)?);
    let mut left = u64::from(bits(header));
    let field = |field: &Parameter| {
        left -= u64::from(field.field.inside);
        let number = (&all >> left) & ((BigUint::from(1_u8) << field.field.inside) - 1_u8);
        let value = entry::bytes(&number, &field.field, store);
        p4::PacketMetadata { metadata_id: field.id, value }
    };
    let metadata = header.iter().map(field).collect();
    Some(p4::PacketIn { payload: frame[length..].to_vec(), metadata })
}

#[cfg(test)]
mod tests {
    use super::super::schema::Field;
    use super::*;

    fn header() -> Vec<Parameter> {
        let field = |id, width| Parameter {
            id,
            name: format!("f{id}"),
            field: Field { width, inside: width, strings: None },
        };
        vec![field(1, 9), field(2, 7)]
    }

    #[test]
    fn metadata_are_a_header_in_front_of_the_payload_and_come_out_of_it() {
        let metadata =
            |metadata_id, value: &[u8]| p4::PacketMetadata { metadata_id, value: value.to_vec() };
        let out = p4::PacketOut {
            payload: b"hello".to_vec(),
            metadata: vec![metadata(2, b"\x05"), metadata(1, b"\x01\xff")],
        };
        let mut store = Store::default();
        let frame = frame(&header(), out, &mut store).unwrap();
        assert_eq!(frame, b"\xff\x85hello");
        let back = message(&header(), &frame, &store).unwrap();
        assert_eq!(back.metadata, [metadata(1, b"\x01\xff"), metadata(2, b"\x05")]);
        assert_eq!(message(&header(), b"\xff", &store), None);
    }

    #[test]
    fn metadata_that_are_missing_unknown_or_too_wide_are_refused() {
        let mut store = Store::default();
        let one =
            |metadata_id, value: &[u8]| p4::PacketMetadata { metadata_id, value: value.to_vec() };
        for metadata in [
            vec![one(1, b"\x01")],
            vec![one(1, b"\x01"), one(2, b"\x01"), one(3, b"\x01")],
            vec![one(1, b"\x01"), one(2, b"\x80")],
            vec![one(1, b"\x01"), one(1, b"\x01"), one(2, b"\x01")],
        ] {
            let out = p4::PacketOut { payload: Vec::new(), metadata };
            assert!(frame(&header(), out, &mut store).is_err());
        }
    }
}
