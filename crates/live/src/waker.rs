//! Waker: wakes the thread that owns the switch when another thread has work for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rings; as many may hold one as like.
#[derive(Clone, Debug)]
pub struct Bell {
    rung: Arc<AtomicBool>,
    to: Arc<UnixStream>,
}

/// Hears it.
#[derive(Debug)]
pub struct Sleeper {
    rung: Arc<AtomicBool>,
    from: UnixStream,
}

/// A bell and who hears it.
///
/// # Errors
/// There are no descriptors left.
pub fn bell() -> io::Result<(Bell, Sleeper)> {
    let (to, from) = UnixStream::pair()?;
    to.set_nonblocking(true)?;
    from.set_nonblocking(true)?;
    let rung = Arc::new(AtomicBool::new(false));
    Ok((Bell { rung: rung.clone(), to: Arc::new(to) }, Sleeper { rung, from }))
}

impl Bell {
    /// Rings, unless it has rung and nobody has listened since.
    pub fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // A full pipe has rung already; a closed one has nobody behind it.
            let _ = (&*self.to).write(&[1]);
        }
    }
}

impl Sleeper {
    /// What becomes readable when the bell rings.
    pub fn descriptor(&self) -> RawFd {
        self.from.as_raw_fd()
    }

    /// Listens, so that the bell can ring again. Whoever calls this looks at everything afterwards.
    pub fn listen(&mut self) {
        // Only what was read lets it ring again, so there never is a second byte that nobody reads.
        let rung = self.rung.load(Ordering::Acquire);
        if rung && matches!((&self.from).read(&mut [0; 1]), Ok(1)) {
            self.rung.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_that_rings_twice_is_heard_once_and_then_rings_again() {
        let (bell, mut sleeper) = bell().expect("descriptors");
        let readable = |sleeper: &Sleeper| {
            sleeper.from.set_nonblocking(true).is_ok() && sleeper.rung.load(Ordering::Acquire)
        };
        for _ in 0..3 {
            bell.ring();
            bell.clone().ring();
            assert!(readable(&sleeper));
            sleeper.listen();
            assert!(!readable(&sleeper));
            assert!((&sleeper.from).read(&mut [0; 1]).is_err(), "nothing is left to be read");
        }
    }
}
