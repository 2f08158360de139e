//! A bare agent of rig: one prompt, its events read to the end.

use futures_util::StreamExt;
use rig::{agent::AgentBuilder, providers::openai::OpenAIConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-4o".to_owned());
        let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
        let agent = AgentBuilder::new(OpenAIConfig::new(key).client().chat(model)).build();
        let mut events = agent.prompt("hello").stream();
        let mut count = 0;
        while events.next().await.is_some() {
            count += 1;
        }
        println!("{count} events");
        Ok(())
    })
}
