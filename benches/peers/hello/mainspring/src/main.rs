//! A bare agent: one prompt to a model of the catalogue over HTTPS, with the key of the environment.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let model = std::env::args().nth(1).unwrap_or_else(|| "openai/gpt-4o".to_owned());
        let agent = mainspring::agent(&model)?.build()?;
        let report = mainspring::Conversation::new(&agent).run("hello")?.into_report().await;
        println!("{} ({:?})", report.final_text(), report.ending);
        Ok(())
    })
}
