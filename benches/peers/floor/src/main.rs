//! The least that a client can do for the same bytes: one kept connection of hyper, lines split by memchr, and serde
//! with borrowed types that know only the wanted fields. Its run keeps the request as text and appends to it.

mod events;
mod session;

use std::io::Write;

use bytes::Bytes;
use events::Sink;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Uri, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use peers_meter::{Api, Ask, KEY, Meter, SUM, ask, check};
use tokio::{net::TcpStream, task::JoinHandle};

/// The start of the request of a run.
const HEAD: &str = concat!(
    r#"{"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","#,
    r#""function":{"name":"add","description":"Add two numbers","parameters":{"type":"object","properties":"#,
    r#"{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}}],"messages":["#,
    r#"{"role":"system","content":"You are helpful."},{"role":"user","content":"go"}"#
);
/// The request of a stream.
const PROMPT: &str = r#"{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let meter = Meter::start();
    match ask() {
        Ask::Stream { api, base, scan } => {
            let path = if api == Api::OpenAi { "chat/completions" } else { "v1/messages" };
            let mut client = Client::open(check(format!("{base}/{path}").parse())).await;
            let mut sink = Sink::new(api, scan);
            client.send(PROMPT.into(), &mut sink).await;
            meter.report(&[("text", sink.text.len() as u64 + sink.arguments.len() as u64)]);
        }
        Ask::Session { file, entries } => check(session::measure(&meter, &file, entries)),
        Ask::Turns { base } => {
            let turns = run(check(format!("{base}/chat/completions").parse())).await;
            meter.report(&[("turns", turns)]);
        }
        Ask::Crowd { bases, runs } => {
            let url = |base: &String| check(format!("{base}/chat/completions").parse::<Uri>());
            let urls = bases.iter().map(url).cycle().take(runs);
            let tasks: Vec<_> = urls.map(|url| tokio::spawn(run(url))).collect();
            let mut whole = 0;
            for task in tasks {
                whole += u64::from(task.await.is_ok_and(|turns| turns == 3));
            }
            meter.report(&[("whole", whole)]);
        }
    }
}

/// One connection.
struct Client {
    url: Uri,
    sender: http1::SendRequest<Full<Bytes>>,
    connection: JoinHandle<Result<(), hyper::Error>>,
}

impl Client {
    async fn open(url: Uri) -> Self {
        let address = (url.host().unwrap_or_default(), url.port_u16().unwrap_or(80));
        let io = TokioIo::new(check(TcpStream::connect(address).await));
        let (sender, connection) = check(http1::Builder::new().max_buf_size(16 * 1024).handshake(io).await);
        Self { url, sender, connection: tokio::spawn(connection) }
    }

    async fn send(&mut self, body: Bytes, sink: &mut Sink) {
        let request = Request::post(self.url.path())
            .header("host", "localhost")
            .header("authorization", format!("Bearer {KEY}"))
            .header("content-type", "application/json");
        let request = check(request.body(Full::new(body)));
        let mut body: Incoming = check(self.sender.send_request(request).await).into_body();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = check(frame).into_data() {
                sink.read(&data);
            }
        }
        check(self.sender.ready().await);
    }
}

/// Calls the tool until the model is done; the answers that there were.
async fn run(url: Uri) -> u64 {
    let mut client = Client::open(url).await;
    let mut request = HEAD.as_bytes().to_vec();
    let mut turns = 0;
    loop {
        let mut body = Vec::with_capacity(request.len() + 2);
        body.extend_from_slice(&request);
        body.extend_from_slice(b"]}");
        let mut answer = Sink::new(Api::OpenAi, false);
        client.send(body.into(), &mut answer).await;
        turns += 1;
        if answer.name.is_empty() {
            std::hint::black_box(&answer.text);
            client.connection.abort();
            return turns;
        }
        let quoted = |text: &str| check(serde_json::to_string(text));
        let (id, name, arguments) = (quoted(&answer.id), quoted(&answer.name), quoted(&answer.arguments));
        let written = write!(
            request,
            ",{{\"role\":\"assistant\",\"tool_calls\":[{{\"id\":{id},\"type\":\"function\",\"function\":\
             {{\"name\":{name},\"arguments\":{arguments}}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":{id},\
             \"content\":{}}}",
            quoted(SUM)
        );
        check(written);
    }
}
