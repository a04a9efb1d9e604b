//! Errors of requests: the canonical code, the reason, and their gRPC form.

use crate::wire::google::rpc;
use crate::wire::p4::v1 as p4;
use prost::Message;
use sojourn_control::ControlError;
use sojourn_engine::control::OperationError;
use sojourn_p4::interp::tables::TableError;
use std::fmt::Display;
use tonic::{Code, Status};

/// Error space of codes that are not canonical: none are in use.
const SPACE: &str = "sojourn";

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The canonical code.
    pub code: Code,
    /// Reason, for the client's user.
    pub why: String,
}

impl Failure {
    /// Creates an error with a code.
    pub fn new(code: Code, why: impl Display) -> Failure {
        Failure { code, why: why.to_string() }
    }

    /// An invalid argument.
    pub fn invalid(why: impl Display) -> Failure {
        Failure::new(Code::InvalidArgument, why)
    }

    /// An unsupported feature.
    pub fn unimplemented(why: impl Display) -> Failure {
        Failure::new(Code::Unimplemented, why)
    }

    /// A missing object.
    pub fn no(what: &str, id: u32) -> Failure {
        Failure::new(Code::NotFound, format!("there is no {what} with the id {id:#x}"))
    }

    /// Its form as an element of a status's details; BfRt's message has the same fields on the
    /// wire.
    pub fn detail(&self) -> p4::Error {
        let (space, message) = (SPACE.to_owned(), self.why.clone());
        p4::Error { canonical_code: self.code as i32, message, space, ..p4::Error::default() }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        Status::new(failure.code, failure.why)
    }
}

/// Status of a batch: success if every request succeeded, else an error for each request, in the
/// protocol's message type `of`.
///
/// ```
/// use sojourn_protocols::failure::{Failure, status};
/// assert!(status(&[Ok(()), Ok(())], "p4.v1.Error").is_ok());
/// let refused = status(&[Ok(()), Err(Failure::no("table", 7))], "p4.v1.Error").unwrap_err();
/// assert!(!refused.details().is_empty(), "an error for each request");
/// ```
///
/// # Errors
/// One of them failed.
pub fn status(results: &[Result<(), Failure>], of: &str) -> Result<(), Status> {
    let Some(first) = results.iter().find_map(|result| result.as_ref().err()) else {
        return Ok(());
    };
    let failed = results.iter().filter(|result| result.is_err()).count();
    let message = format!("{failed} of {} failed; the first: {}", results.len(), first.why);
    let detail = |result: &Result<(), Failure>| prost_types::Any {
        type_url: format!("type.googleapis.com/{of}"),
        value: match result {
            Ok(()) => p4::Error::default().encode_to_vec(),
            Err(failure) => failure.detail().encode_to_vec(),
        },
    };
    // A header must stay small; a client that sends larger batches sets its own limit.
    let details = rpc::Status {
        code: Code::Unknown as i32,
        message: message.clone(),
        details: results.iter().map(detail).collect(),
    };
    Err(Status::with_details(Code::Unknown, message, details.encode_to_vec().into()))
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        let code = match &error {
            OperationError::Program(ControlError::Table(error)) => table(error),
            OperationError::Program(ControlError::Entry { why, .. }) => table(why),
            OperationError::Program(ControlError::Cell { .. }) => Code::OutOfRange,
            OperationError::Program(ControlError::Unknown { .. }) => Code::NotFound,
            OperationError::NoProgram => Code::FailedPrecondition,
            OperationError::Program(_) | OperationError::Switch(_) => Code::InvalidArgument,
        };
        Failure::new(code, error)
    }
}

fn table(error: &TableError) -> Code {
    match error {
        TableError::NoTable { .. } | TableError::NoMatch { .. } | TableError::NoEntry { .. } => {
            Code::NotFound
        }
        TableError::Duplicate { .. } => Code::AlreadyExists,
        TableError::Full { .. } => Code::ResourceExhausted,
        TableError::ConstEntries { .. }
        | TableError::ConstEntry { .. }
        | TableError::ConstDefault { .. }
        | TableError::DefaultOnly { .. }
        | TableError::TableOnly { .. } => Code::PermissionDenied,
        TableError::NotEmpty { .. } => Code::FailedPrecondition,
        TableError::TooWide { .. } => Code::OutOfRange,
        _ => Code::InvalidArgument,
    }
}
