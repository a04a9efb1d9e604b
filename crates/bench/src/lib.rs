//! Workloads of the Rust benchmarks: packets through a built-in program, and a baseline in Rust.
//!
//! The benches, the example that counts instructions and the baseline's test share them. This crate
//! must not be a dependency of another one.
//!
//! ```
//! use sojourn_bench::by_hand::P4CodelByHand;
//! use sojourn_bench::passes::{frame, pass};
//! let (mut baseline, frame) = (P4CodelByHand::default(), frame());
//! assert!((0..100).all(|number| pass(&mut baseline, number, &frame)));
//! ```

pub mod by_hand;
pub mod passes;
