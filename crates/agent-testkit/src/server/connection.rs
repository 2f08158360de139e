//! One connection: reads requests, plays replies.

use std::{io, sync::Arc};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    Shared,
    reply::{Step, Stop, WireReply},
    request,
};
use crate::Gate;

/// How a connection goes on after a step.
enum Next {
    Goes,
    /// We ended it.
    Over,
    /// The client closed it, or its end of it.
    Closed,
}

/// Serves a connection until one of the two ends it.
pub(super) async fn serve(stream: TcpStream, number: usize, shared: Arc<Shared>) {
    let mut connection = Connection { stream, buffer: BytesMut::new(), number };
    // Each piece leaves as it is written.
    let _ = connection.stream.set_nodelay(true);
    if let Next::Closed = connection.run(&shared).await {
        shared.count(|counts| counts.closed += 1);
    }
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
    number: usize,
}

impl Connection {
    async fn run(&mut self, shared: &Shared) -> Next {
        if let Some(reply) = shared.reply_at_accept() {
            return self.play(&reply).await;
        }
        loop {
            let request = match request::take(&mut self.buffer, self.number) {
                Ok(Some(request)) => request,
                Ok(None) => match self.read().await {
                    Ok(0) | Err(_) => return Next::Closed,
                    Ok(_) => continue,
                },
                Err(fault) => {
                    shared.fault(self.number, &fault.to_string());
                    return Next::Over;
                }
            };
            let reply = shared.receive(request);
            match self.play(&reply).await {
                Next::Goes => {}
                over => return over,
            }
        }
    }

    async fn play(&mut self, reply: &WireReply) -> Next {
        for step in reply.steps() {
            match step {
                Step::Write(piece) => {
                    let written = async {
                        self.stream.write_all(&piece).await?;
                        self.stream.flush().await
                    };
                    if written.await.is_err() {
                        return Next::Closed;
                    }
                }
                Step::Stop(Stop::Wait(gate)) => match self.stall(&gate).await {
                    Next::Goes => {}
                    over => return over,
                },
                Step::Stop(Stop::Close) => return Next::Over,
                Step::Stop(Stop::Reset) => {
                    // Lingering for no time makes the close a reset.
                    let _ = self.stream.set_zero_linger();
                    return Next::Over;
                }
                Step::Stop(Stop::HalfClose) => {
                    let _ = self.stream.shutdown().await;
                    while !matches!(self.read().await, Ok(0) | Err(_)) {}
                    return Next::Closed;
                }
            }
        }
        Next::Goes
    }

    /// Waits for the gate and watches the client meanwhile.
    async fn stall(&mut self, gate: &Gate) -> Next {
        loop {
            tokio::select! {
                biased;
                () = gate.pass() => return Next::Goes,
                read = self.stream.read_buf(&mut self.buffer) => if let Ok(0) | Err(_) = read {
                    return Next::Closed;
                },
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.stream.read_buf(&mut self.buffer).await
    }
}
