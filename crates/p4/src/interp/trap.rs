//! Why a run ends before its program does. A parser's error is not among them: that is a result.

use crate::source::Span;
use std::sync::Arc;

/// Why a run was ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// The program went round its loops too often.
    #[error("the program has taken {limit} loop rounds or parser states for one packet")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// The architecture has nothing of that name.
    #[error("`{name}` is not implemented by this target")]
    NotImplemented {
        /// The method or function.
        name: Arc<str>,
        /// The call.
        span: Span,
    },
    /// The unit is a control where a parser is needed, or the other way round.
    #[error("`{name}` is not a {expected}")]
    WrongUnit {
        /// The unit.
        name: Arc<str>,
        /// `parser` or `control`.
        expected: &'static str,
    },
    /// A call waits for its answer; it is made again when the control is taken up.
    #[error("the program waits for an answer")]
    Suspended,
    /// An extern could not do what it was asked.
    #[error("{message}")]
    Extern {
        /// What went wrong.
        message: Box<str>,
        /// The call.
        span: Span,
    },
}

impl Halt {
    /// Where the program stood, if that says more than the message.
    pub fn span(&self) -> Option<Span> {
        match self {
            Halt::NotImplemented { span, .. } | Halt::Extern { span, .. } => Some(*span),
            Halt::StepLimit { .. } | Halt::WrongUnit { .. } | Halt::Suspended => None,
        }
    }
}
