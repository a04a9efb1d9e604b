//! CPU port: a port whose other end is in this process, for frames to and from a controller.

use crate::interface::{Arrival, Interface, LONGEST};
use crate::waker::{Waiter, Waker, pair};
use std::io;
use std::os::fd::RawFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Maximum number of frames waiting to enter the switch.
const WAITING: usize = 1_024;
/// Maximum number of frames in a batch, so that one interface does not delay the others.
const BATCH: usize = 64;

/// Consumer of the frames that the switch sends to the port; false if it cannot take one. Must not
/// block.
pub type Take = Box<dyn FnMut(Vec<u8>) -> bool + Send>;

/// The port.
pub struct CpuPort {
    frames: Receiver<Vec<u8>>,
    waiter: Waiter,
    take: Take,
    queued: Vec<Vec<u8>>,
}

/// Sender of frames into it.
///
/// ```
/// use sojourn_live::{CpuSender, cpu_port};
/// let (port, into): (_, CpuSender) = cpu_port(Box::new(|_| true))?;
/// assert!(into.send(vec![0; 60]), "it waits for the switch");
/// drop(port);
/// assert!(!into.send(vec![0; 60]), "the switch is gone");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CpuSender {
    frames: SyncSender<Vec<u8>>,
    waker: Waker,
}

/// Creates a port whose frames go to `take`, and the sender into it.
///
/// # Errors
/// No descriptors are left.
pub fn cpu_port(take: Take) -> io::Result<(CpuPort, CpuSender)> {
    let (sender, frames) = sync_channel(WAITING);
    let (waker, waiter) = pair()?;
    let port = CpuPort { frames, waiter, take, queued: Vec::new() };
    Ok((port, CpuSender { frames: sender, waker }))
}

impl CpuSender {
    /// Sends a frame to the switch; false if too many wait or the switch has ended.
    pub fn send(&self, frame: Vec<u8>) -> bool {
        let taken = self.frames.try_send(frame).is_ok();
        self.waker.wake();
        taken
    }
}

impl Interface for CpuPort {
    fn name(&self) -> &str {
        "cpu"
    }

    fn descriptor(&self) -> RawFd {
        self.waiter.descriptor()
    }

    fn receive(&mut self, take: &mut dyn FnMut(Arrival<'_>)) -> io::Result<usize> {
        self.waiter.reset();
        for taken in 0..BATCH {
            let Ok(frame) = self.frames.try_recv() else { return Ok(taken) };
            let bytes = frame.get(..LONGEST).unwrap_or(&frame);
            take(Arrival { bytes, length: frame.len(), unfinished: false });
        }
        Ok(BATCH)
    }

    fn queue(&mut self, mut bytes: Vec<u8>, zeros: usize) {
        bytes.resize(bytes.len() + zeros, 0);
        self.queued.push(bytes);
    }

    fn flush(&mut self, _empty: &mut Vec<Vec<u8>>) -> usize {
        self.queued.drain(..).map(|frame| usize::from(!(self.take)(frame))).sum()
    }
}
