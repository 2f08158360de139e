//! A bare client of genai: one prompt, its events read to the end.

use futures_util::StreamExt;
use genai::{
    Client,
    chat::{ChatMessage, ChatRequest},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-4o".to_owned());
        let request = ChatRequest::new(vec![ChatMessage::user("hello")]);
        let mut events = Client::new()?.exec_chat_stream(model.as_str(), request, None).await?.stream;
        let mut count = 0;
        while events.next().await.is_some() {
            count += 1;
        }
        println!("{count} events");
        Ok(())
    })
}
