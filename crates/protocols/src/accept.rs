//! Connections to a server, as a stream that is safe to serve.
//!
//! A connection that says nothing is closed after [`FIRST_BYTE`] and never reaches the server. When
//! the process has no descriptor left, accepting pauses: the listener stays readable, and an accept
//! that is tried again at once would take a processor for itself. Peers that vanish are found by TCP
//! probes before HTTP/2 begins, and by HTTP/2 pings afterwards (`serve.rs`).

use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::TcpIncoming;

/// The time that a peer has for its first byte.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// The pause after an accept that failed.
const PAUSE: Duration = Duration::from_millis(100);
/// The time without a segment after which TCP probes a peer, and between two probes.
const PROBE: Duration = Duration::from_secs(5);
/// Probes that a peer may leave without an answer.
const PROBES: u32 = 3;
/// Connections that may wait for the server.
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
        // A server that has ended takes none.
        let _ = ready.send(Ok(connection)).await;
    }
}
