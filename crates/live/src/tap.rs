//! TAP device: receives frames from the kernel and sends frames to it.

use crate::interface::{Arrival, Interface, LONGEST};
use crate::{LiveError, syscalls};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

/// Maximum number of frames in a batch, so that one interface does not delay the others.
const BATCH: usize = 64;

/// A TAP device. It is removed on drop unless it is persistent.
pub struct Tap {
    name: String,
    device: File,
    buffer: Box<[u8]>,
    queued: Vec<Vec<u8>>,
}

impl Tap {
    /// Attaches to the device with this name, which is created if it does not exist.
    ///
    /// # Errors
    /// The process has no permission.
    pub fn open(name: &str) -> Result<Tap, LiveError> {
        let device = syscalls::tap(name)
            .map_err(|error| LiveError::refused(name, "connecting to a TAP device", error))?;
        let buffer = vec![0; LONGEST].into_boxed_slice();
        Ok(Tap { name: name.to_owned(), device: device.into(), buffer, queued: Vec::new() })
    }
}

impl Interface for Tap {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> RawFd {
        self.device.as_raw_fd()
    }

    fn receive(&mut self, take: &mut dyn FnMut(Arrival<'_>)) -> io::Result<usize> {
        for taken in 0..BATCH {
            let length = match self.device.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(taken),
                length => length?,
            };
            take(Arrival { bytes: &self.buffer[..length], length, unfinished: false });
        }
        Ok(BATCH)
    }

    fn queue(&mut self, mut bytes: Vec<u8>, zeros: usize) {
        bytes.resize(bytes.len() + zeros, 0);
        self.queued.push(bytes);
    }

    fn flush(&mut self, empty: &mut Vec<Vec<u8>>) -> usize {
        let mut refused = 0;
        for bytes in self.queued.drain(..) {
            refused += usize::from(self.device.write(&bytes).is_err());
            empty.push(bytes);
        }
        refused
    }
}
