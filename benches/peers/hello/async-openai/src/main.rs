//! A bare client of async-openai: one prompt, its chunks read to the end.

use async_openai::{
    Client,
    types::chat::{ChatCompletionRequestUserMessageArgs, CreateChatCompletionRequestArgs},
};
use futures_util::StreamExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-4o".to_owned());
        let message = ChatCompletionRequestUserMessageArgs::default().content("hello").build()?;
        let request = CreateChatCompletionRequestArgs::default().model(model).messages([message.into()]).build()?;
        let mut chunks = Client::new().chat().create_stream(request).await?;
        let mut count = 0;
        while chunks.next().await.is_some() {
            count += 1;
        }
        println!("{count} chunks");
        Ok(())
    })
}
