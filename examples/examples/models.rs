//! What is known of models: look up, list, price a call, and lay a row of one's own over it.
//!
//! `cargo run -q -p mainspring-examples --example models`
#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;

use agent_core::Usage;
use agent_models::{Catalogue, Filter, ModelRow, Order};

fn main() -> Result<(), Box<dyn Error>> {
    let mut catalogue = Catalogue::bundled().clone();

    println!("The five cheapest that read images:");
    let filter = Filter::new().images().priced().order(Order::InputPrice);
    for model in catalogue.models(&filter).iter().take(5) {
        println!("  {:32} {:>9} tokens", model.id(), model.facts.context_window.unwrap_or(0));
    }

    let model = catalogue.model("haiku")?;
    let price = model.facts.price.as_ref().ok_or("no price")?;
    for prompt in [100_000, 100_001] {
        println!("{} for {prompt} + 1000 tokens: {}", model.id(), price.cost(&Usage::new(prompt, 1_000)));
    }

    let provider = catalogue.provider(&model.facts.provider);
    println!("{} at {} with {}", provider.protocol, provider.base_url.unwrap_or_default(), provider.keys.join(" or "));

    let unheard_of = catalogue.model("groq/some-model")?;
    let assumed: Vec<_> = unheard_of.assumed.iter().map(|assumption| assumption.fact.word()).collect();
    println!("assumed of {}: {}", unheard_of.id(), assumed.join(", "));

    let mut row = ModelRow::default();
    row.window = Some(32_000);
    catalogue.set_model("groq", "some-model", &row);
    println!("and now its window: {:?}", catalogue.model("groq/some-model")?.facts.context_window);
    Ok(())
}
