//! A bare agent of yoagent: one prompt, its events read to the end.

use yoagent::{Agent, provider::ModelConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-4o".to_owned());
        let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
        let mut agent = Agent::from_config(ModelConfig::openai(&model, &model)).with_api_key(key);
        let mut events = agent.prompt("hello").await;
        let mut count = 0;
        while events.recv().await.is_some() {
            count += 1;
        }
        agent.finish().await;
        println!("{count} events, {} messages", agent.messages().len());
        Ok(())
    })
}
