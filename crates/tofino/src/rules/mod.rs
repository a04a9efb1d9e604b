//! The rules of the chip that a program can break, each with its code, its reason and its cure.
//!
//! A diagnostic names its rule; the reason on the chip and the suggestion come from here, so that
//! every message about a rule gives the same ones. Each rule has a program with a variant that
//! breaks it and one that follows it, in the crate's folder `rules`: `--explain` shows the program
//! that the tests run. Uses diagnostics; must not depend on how a rule is checked.
//!
//! | file | rules |
//! |---|---|
//! | `registers` | `T01` to `T06`: registers and their actions |
//! | `passes` | `T07` to `T09`: accesses, the program, deparsers |
//! | `controls` | `T10` to `T12`: conditions, actions, stages, surprises |
//! | `parsers` | `T13`: states, `select`, fields of variable size |
//! | `explain` | the story of a rule as text, the list of all, the page of `docs` |

mod explain;
#[cfg(test)]
mod tests;

pub use sojourn_target::rule::{Refusal, Rule};

pub use self::controls::*;
pub use self::explain::{list, page};
pub use self::parsers::*;
pub use self::passes::*;
pub use self::registers::*;

/// All rules in the order of their codes.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [registers::ALL, passes::ALL, controls::ALL, parsers::ALL].into_iter().flatten().copied()
}

/// The rule with this code, in either case of its letter.
pub fn find(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

mod controls;
mod parsers;
mod passes;
mod registers;
