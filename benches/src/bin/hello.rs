//! The smallest program that sends a request over TLS: its size is measured, see the README.
#![expect(clippy::print_stdout, reason = "a command line tool")]

use agent_core::{Body, BoxError, HttpClient};
use agent_http::HttpStack;

fn main() -> Result<(), BoxError> {
    let url = std::env::args().nth(1).ok_or("give an address")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = HttpClient::from(HttpStack::shared());
        let response = client.send(http::Request::get(url).body(Body::empty())?).await?;
        println!("{}", response.status());
        println!("{}", String::from_utf8_lossy(&response.into_body().collect(1 << 20).await?));
        Ok(())
    })
}
