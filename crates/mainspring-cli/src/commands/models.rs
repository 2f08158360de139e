//! The models that are known.

use std::io::{self, Write as _};

use agent_core::Money;
use agent_models::{Catalogue, Filter, ModelEntry};
use serde_json::json;

use crate::{
    args::Models,
    choose::key_of,
    error::{Error, Status},
    show::money,
};

pub(crate) fn models(args: &Models) -> Result<Status, Error> {
    let filter = args.filter.as_ref().map_or_else(Filter::new, |text| Filter::new().text(text));
    let mut text = String::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    for entry in Catalogue::bundled().models(&filter) {
        let usable = usable(&entry);
        if args.usable && usable.is_err() {
            continue;
        }
        let price = entry.price_at(now);
        let rates = price.as_ref().map(|price| {
            let rates = price.rates_for(0);
            (rates.input.times(1_000_000), rates.output.times(1_000_000))
        });
        let line = if args.json {
            let dollars = |amount: Money| amount.to_string().trim_start_matches('$').to_owned();
            json!({
                "model": entry.id(), "name": entry.name, "contextWindow": entry.facts.context_window,
                "maxOutput": entry.facts.max_output,
                "inputDollarsPerMillion": rates.map(|(input, _)| dollars(input)),
                "outputDollarsPerMillion": rates.map(|(_, output)| dollars(output)),
                "usable": usable.is_ok(), "missing": usable.err(),
            })
            .to_string()
        } else {
            let window = entry.facts.context_window.map_or("?".to_owned(), |tokens| format!("{}k", tokens / 1000));
            let price = rates.map_or("price not known".to_owned(), |(input, output)| {
                format!("{} in, {} out", money(input), money(output))
            });
            let state = match &usable {
                Ok(by) => format!("usable ({by})"),
                Err(missing) => format!("needs {missing}"),
            };
            format!("{:40} {window:>6}  {price:30}  {state}", entry.id())
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if text.is_empty() && !args.json {
        text.push_str("no model that is known fits; one that is not known can be used by its name, too\n");
    } else if !args.json {
        text.push_str(
            "\nPrices for a million tokens. demo/offline needs nothing; any other `provider/model` works, too.\n",
        );
    }
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}

/// By what a model can be used here, or what is missing; never a key.
fn usable(entry: &ModelEntry) -> Result<String, String> {
    let at = Catalogue::bundled().provider(&entry.facts.provider);
    match key_of(&at.id) {
        Some(variable) => Ok(variable),
        None if at.base_url.is_none() => Err(format!("an address and a key ({})", at.keys.join(" or "))),
        None if at.keys.is_empty() => Ok("no key needed".into()),
        None => Err(at.keys.join(" or ")),
    }
}
