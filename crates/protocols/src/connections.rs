//! Connections to a server, as a stream that is safe to serve.
//!
//! A connection that sends nothing is closed after [`FIRST_BYTE`] and never reaches the server. If
//! the process has no free descriptor, accepting pauses: the listener stays readable, and an
//! immediate retry would occupy a processor. Peers that vanish are detected by TCP probes before
//! HTTP/2 begins, and by HTTP/2 pings afterwards (`serve.rs`).

use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::TcpIncoming;

/// Time limit of a peer's first byte.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(100);
/// Idle time before the first TCP probe, and between two probes.
const PROBE: Duration = Duration::from_secs(5);
/// Maximum number of unanswered probes.
const PROBES: u32 = 3;
/// Maximum number of connections waiting for the server.
const WAITING: usize = 64;

/// Accepts connections on a listener of this runtime until the receiver is dropped.
pub fn connections(listener: tokio::net::TcpListener) -> ReceiverStream<io::Result<TcpStream>> {
    let incoming = TcpIncoming::from(listener)
        .with_nodelay(Some(true))
        .with_keepalive(Some(PROBE))
        .with_keepalive_interval(Some(PROBE))
        .with_keepalive_retries(Some(PROBES));
    let (ready, connections) = mpsc::channel(WAITING);
    tokio::spawn(accept(incoming, ready));
    ReceiverStream::new(connections)
}

async fn accept(mut incoming: TcpIncoming, ready: mpsc::Sender<io::Result<TcpStream>>) {
    while !ready.is_closed() {
        match incoming.next().await {
            Some(Ok(connection)) => {
                tokio::spawn(greet(connection, ready.clone()));
            }
            Some(Err(_)) => tokio::time::sleep(PAUSE).await,
            None => return,
        }
    }
}

/// Forwards a connection once its peer has sent something.
async fn greet(connection: TcpStream, ready: mpsc::Sender<io::Result<TcpStream>>) {
    let spoke = tokio::time::timeout(FIRST_BYTE, connection.peek(&mut [0])).await;
    if matches!(spoke, Ok(Ok(1..))) {
        // A server that has ended accepts none.
        let _ = ready.send(Ok(connection)).await;
    }
}
