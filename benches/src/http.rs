//! A server in a process of its own, so that what is measured is the client alone.

#![expect(clippy::disallowed_methods, reason = "a server runs in a process and on a task")]

use std::{
    io::{self, BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What the server answers to `/`.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
/// What it answers to `/stream`, and then nothing more.
const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n";

/// A server process; killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Its address.
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program again with the argument `serve`.
    ///
    /// # Errors
    /// Where it does not start or does not say its address.
    pub fn start() -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("serve").stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        Ok(Self { child, address: line.trim().parse().map_err(io::Error::other)? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until it is killed; says its address first.
///
/// # Errors
/// Where there is no address or no runtime to serve on.
#[expect(clippy::print_stdout, reason = "the address is told to the parent")]
pub fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(connection(stream));
        }
    })
}

async fn connection(mut stream: TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    loop {
        let mut read = [0; 4096];
        let count = stream.read(&mut read).await?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(read.get(..count).unwrap_or_default());
        // Bodies of the cases are short and end in `}`.
        let is_get = request.starts_with(b"GET");
        if (is_get && request.ends_with(b"\r\n\r\n")) || request.ends_with(b"}") {
            let answer = if request.starts_with(b"GET /stream") { STREAM } else { ANSWER };
            stream.write_all(answer).await?;
            request.clear();
        }
    }
}
