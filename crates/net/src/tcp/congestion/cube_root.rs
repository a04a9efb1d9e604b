//! The cube root in integers: libraries' `cbrt` differ in the last bit from machine to machine.

/// The largest integer whose cube is at most `x`.
pub(super) fn cube_root(x: u128) -> u64 {
    if x == 0 {
        return 0;
    }
    // Newton's iteration on r^3 - x from above: it falls until it has found the root.
    let bits = 128 - x.leading_zeros();
    let mut root: u128 = 1 << bits.div_ceil(3);
    loop {
        let next = (2 * root + x / (root * root)) / 3;
        if next >= root {
            return root as u64;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_root_is_the_largest_integer_whose_cube_fits(x in 0u128..1 << 125) {
            let root = u128::from(cube_root(x));
            prop_assert!(root.pow(3) <= x && x < (root + 1).pow(3));
        }

        #[test]
        fn cubes_have_their_own_root(r in 0u64..1 << 41) {
            prop_assert_eq!(cube_root(u128::from(r).pow(3)), r);
        }
    }
}
