//! Reasons for a run to end before its program does. A parser's error is not among them: it is a
//! result.

use crate::source::Span;
use std::sync::Arc;

/// Reason for the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// The program exceeded the limit of loop iterations.
    #[error("the program has taken {limit} loop rounds or parser states for one packet")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// The architecture does not implement this call.
    #[error("`{name}` is not implemented by this target")]
    NotImplemented {
        /// The method or function.
        name: Arc<str>,
        /// The call.
        span: Span,
    },
    /// The unit is a control instead of a parser, or the other way round.
    #[error("`{name}` is not a {expected}")]
    WrongUnit {
        /// The unit.
        name: Arc<str>,
        /// `parser` or `control`.
        expected: &'static str,
    },
    /// A call waits for its result; it is repeated when the control is resumed.
    #[error("the program waits for an answer")]
    Suspended,
    /// An extern failed.
    #[error("{message}")]
    Extern {
        /// Error message.
        message: Box<str>,
        /// The call.
        span: Span,
    },
}

impl Halt {
    /// Span of the error, if it adds information to the message.
    pub fn span(&self) -> Option<Span> {
        match self {
            Halt::NotImplemented { span, .. } | Halt::Extern { span, .. } => Some(*span),
            Halt::StepLimit { .. } | Halt::WrongUnit { .. } | Halt::Suspended => None,
        }
    }
}
