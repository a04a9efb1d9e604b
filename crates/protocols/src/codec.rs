//! How messages come off the wire: as `prost` decodes them, once it is known that they do not become
//! many times as large in memory as they are on the wire.
//!
//! A part of a message that says nothing has two bytes on the wire and some hundred in memory. What
//! somebody asks for has more: so a message has one part for so many of its bytes at most, and some
//! without a reckoning.

use prost::Message;
use prost::bytes::Buf;
use prost::encoding::{DecodeContext, WireType, decode_key, skip_field};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstCodec;

/// Parts that any message may have.
const PARTS: usize = 65_536;
/// Bytes of the message for each part beyond them.
const BYTES: usize = 16;

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
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = <ProstCodec<T, U> as Codec>::Encoder;
    type Decoder = BoundedDecoder<<ProstCodec<T, U> as Codec>::Decoder>;

    fn encoder(&mut self) -> Self::Encoder {
        self.0.encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(self.0.decoder())
    }
}

/// A decoder that looks at a message before the other does.
#[derive(Clone, Debug)]
pub struct BoundedDecoder<D>(D);

impl<D: Decoder<Error = Status>> Decoder for BoundedDecoder<D> {
    type Item = D::Item;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<D::Item>, Status> {
        // A message is in one piece by now.
        let message = bytes.chunk();
        let most = PARTS + message.len() / BYTES;
        if has_more_parts(message, most) {
            let why = format!("a message of {} bytes has {most} parts at most", message.len());
            return Err(Status::resource_exhausted(why));
        }
        self.0.decode(bytes)
    }
}

/// Whether a message has more than `most` parts; one that is broken is told of by who decodes it.
fn has_more_parts(mut message: &[u8], most: usize) -> bool {
    let mut parts = 0;
    while message.has_remaining() && parts <= most {
        let part = decode_key(&mut message).and_then(|(tag, wire): (u32, WireType)| {
            skip_field(wire, tag, &mut message, DecodeContext::default())
        });
        if part.is_err() {
            return false;
        }
        parts += 1;
    }
    parts > most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::p4::v1::{Update, WriteRequest};

    #[test]
    fn parts_are_counted_and_no_more_than_needed() {
        let updates = vec![Update::default(); 9];
        let message = WriteRequest { device_id: 1, updates, ..Default::default() }.encode_to_vec();
        assert!(has_more_parts(&message, 9));
        assert!(!has_more_parts(&message, 10));
        assert!(!has_more_parts(&message[..message.len() - 1], 1_000));
        assert!(!has_more_parts(b"\xff\xff", 0));
    }
}
