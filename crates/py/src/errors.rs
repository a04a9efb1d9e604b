//! Exceptions of the extension module. All of them are for errors that a user can correct.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    sojourn._core,
    SojournError,
    PyException,
    "Something that the user can put right."
);
create_exception!(
    sojourn._core,
    ConfigError,
    SojournError,
    "A run's configuration is not allowed."
);
create_exception!(
    sojourn._core,
    ProgramError,
    SojournError,
    "A P4 program cannot be loaded. `diagnostics` is the list of them as plain data."
);
