//! Errors of a run configuration: the key, its value and the allowed values.

use thiserror::Error;

/// A configuration that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The text is not JSON of the configuration's shape; the message names key and choices.
    #[error("the run configuration cannot be read: {0}")]
    Json(String),
    /// A value outside what is allowed.
    #[error("{key} = {value}: allowed is {allowed}")]
    Invalid {
        /// Path of the key, such as `flows[3].rtt`.
        key: String,
        /// Value that was given.
        value: String,
        /// Allowed values.
        allowed: String,
    },
    /// A key that does not exist there.
    #[error("{key} is unknown: allowed are {allowed}")]
    UnknownKey {
        /// Path of the key.
        key: String,
        /// The keys that there are.
        allowed: String,
    },
    /// A switch needs a data plane and none was supplied.
    #[error("aqm: a data plane must be handed over with the configuration")]
    PlaneMissing,
    /// No switch needs a data plane and one was supplied.
    #[error("aqm: no data plane takes part, but one was handed over")]
    PlaneUnexpected,
    /// The switch refuses its part.
    #[error("switch: {0}")]
    Switch(String),
}
