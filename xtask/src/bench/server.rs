//! The server that the programs are measured against: a process of its own, ended with its value.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpStream},
    process::{Child, Stdio},
};

use super::client::{Place, SERVER};
use crate::report::Error;

#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) port: u16,
}

/// What the server has seen so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Those that asked what it has seen, too: one each time.
    pub(super) connections: u64,
    pub(super) requests: u64,
}

impl Server {
    pub(super) fn start(place: &Place<'_>) -> Result<Self, Error> {
        let failed = |source| Error::Start { program: SERVER.to_owned(), source };
        let mut command = place.kept(place.program(SERVER));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut server = Self { child, port: 0 };
        let mut line = String::new();
        if let Some(stdout) = server.child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(failed)?;
        }
        server.port = line.trim().parse().map_err(|_| failed(io::Error::other("it did not tell its port")))?;
        Ok(server)
    }

    pub(super) fn seen(&self) -> Result<Seen, Error> {
        self.ask().map_err(|error| Error::Failed {
            command: SERVER.to_owned(),
            status: "it no longer answers".to_owned(),
            stderr: error.to_string(),
        })
    }

    fn ask(&self) -> io::Result<Seen> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.write_all(b"GET /stats HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
        let mut text = String::new();
        let mut stream = BufReader::new(stream);
        while !text.ends_with("\r\n\r\n") {
            if stream.read_line(&mut text)? == 0 {
                return Err(io::Error::other("it gave no figures"));
            }
        }
        let mut body = String::new();
        stream.by_ref().read_line(&mut body)?;
        let mut words = body.split_whitespace().map(str::parse);
        match (words.next(), words.next()) {
            (Some(Ok(connections)), Some(Ok(requests))) => Ok(Seen { connections, requests }),
            _ => Err(io::Error::other("it gave no figures")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
