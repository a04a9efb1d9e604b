//! Sequence numbers of 32 bits on the wire, offsets of 64 bits inside, so that nothing wraps.

/// Sequence numbers of one direction. Offset 0 is the SYN, offset 1 the first byte of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceSpace {
    initial: u32,
}

impl SequenceSpace {
    pub(crate) fn new(initial: u32) -> SequenceSpace {
        SequenceSpace { initial }
    }

    /// The number on the wire.
    pub(crate) fn number_of(self, offset: u64) -> u32 {
        self.initial.wrapping_add(offset as u32)
    }

    /// The offset within 2 GiB of `near` that has this number; absent if it is before the SYN.
    pub(crate) fn offset_of(self, number: u32, near: u64) -> Option<u64> {
        let distance = number.wrapping_sub(self.number_of(near)) as i32;
        let offset = near.wrapping_add_signed(distance.into());
        // No stream is so long that its offsets reach the upper half.
        (offset as i64 >= 0).then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_offset_survives_the_wire_if_it_is_near(
            initial: u32, near in 0u64..1 << 40, distance in -0x7fff_ffffi64..0x7fff_ffff
        ) {
            if let Some(offset) = near.checked_add_signed(distance) {
                let numbering = SequenceSpace::new(initial);
                prop_assert_eq!(numbering.offset_of(numbering.number_of(offset), near), Some(offset));
            }
        }
    }
}
