//! A server that counts. It lives beside the processes that are killed, and counts each key once.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use super::Error;

/// How often each key was asked for.
type Asked = Arc<Mutex<BTreeMap<String, u32>>>;

/// The server. It counts for as long as the process lives.
#[derive(Debug, Clone)]
pub struct Counter {
    address: SocketAddr,
    asked: Asked,
}

impl Counter {
    /// Starts one on a free port.
    pub fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let counter = Self { address: listener.local_addr()?, asked: Asked::default() };
        let asked = counter.asked.clone();
        thread::spawn(move || {
            // A client that was killed in the middle is no error.
            listener.incoming().flatten().for_each(|stream| _ = answer(stream, &asked));
        });
        Ok(counter)
    }

    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// How often a key was asked for.
    pub fn asked(&self, key: &str) -> u32 {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied().unwrap_or_default()
    }
}

fn answer(stream: TcpStream, asked: &Asked) -> std::io::Result<()> {
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    // A request that was not sent whole did not happen.
    let Some(key) = line.strip_suffix('\n') else { return Ok(()) };
    let keys = {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.entry(key.to_owned()).or_default() += 1;
        asked.len()
    };
    (&stream).write_all(format!("counted {keys}").as_bytes())
}
