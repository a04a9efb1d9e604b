//! Native queue disciplines (in the making).
use std::fmt;

/// A queue with its management.
pub trait Discipline: Send + fmt::Debug {}

/// Why a discipline could not be made.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum DisciplineError {
    /// No discipline of that name.
    #[error("no native discipline is named `{0}`")]
    Unknown(String),
    /// The discipline has no such parameter.
    #[error("{discipline} has no parameter `{parameter}`")]
    UnknownParameter {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// A parameter's value is not allowed.
    #[error("{discipline}: `{parameter}` is {value}, allowed is {allowed}")]
    Value {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        allowed: &'static str,
    },
}

/// A parameter of a discipline, as shown to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in the discipline's RFC.
    pub name: &'static str,
    /// Unit: `ns`, `bytes`, `packets`.
    pub unit: &'static str,
    /// Default; absent if the parameter is off by default.
    pub default: Option<u64>,
    /// One line.
    pub summary: &'static str,
}

/// A discipline that can be chosen by name.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes one from the parameters that differ from the defaults.
    pub build: fn(&[(&str, u64)]) -> Result<Box<dyn Discipline>, DisciplineError>,
}

/// All native disciplines. Adding one is a file and a line here.
pub const REGISTERED: &[Registered] = &[];

/// Makes the discipline `name` with those parameters that differ from the defaults.
///
/// # Errors
/// If there is no such discipline or parameter, or a value is not allowed.
pub fn build(
    name: &str,
    parameters: &[(&str, u64)],
) -> Result<Box<dyn Discipline>, DisciplineError> {
    let found = REGISTERED.iter().find(|d| d.name == name);
    let found = found.ok_or_else(|| DisciplineError::Unknown(name.to_owned()))?;
    (found.build)(parameters)
}
