//! Prices of the bundled models, and how price lists become core's prices.

use agent_core::{Money, Price, Usage};
use agent_models::{Catalogue, Filter, ModelKind, PriceSheet, SheetBand, SheetRates};

use crate::given::{model, per_million, rates, sheet_rates, token};

/// Provider and model; window; output; input, output, cache read, cache write and, where it is another, an hour.
type Row = (&'static str, u64, u64, [f64; 4], Option<f64>, Option<(u64, [f64; 4], Option<f64>)>);

const K: u64 = 1_000;
const M: u64 = 1_000_000;

/// Typed from the vendors' lists a second time. A cache rate of zero stands for none.
const NAMED: &[Row] = &[
    ("anthropic/claude-fable-5", M, 64 * K, [10.0, 50.0, 1.0, 12.5], Some(20.0), None),
    ("anthropic/claude-fable-5-1", M, 64 * K, [10.0, 50.0, 0.25, 12.5], Some(20.0), None),
    ("anthropic/claude-fable-5-2", M, 64 * K, [8.0, 40.0, 0.2, 10.0], Some(16.0), None),
    ("anthropic/claude-mythos-5-2", M, 64 * K, [8.0, 40.0, 0.2, 10.0], Some(16.0), None),
    ("anthropic/claude-opus-5-5", M, 64 * K, [4.0, 20.0, 0.2, 5.0], Some(8.0), None),
    ("anthropic/claude-opus-5", M, 64 * K, [5.0, 25.0, 0.5, 6.25], Some(10.0), None),
    ("anthropic/claude-opus-4-8", M, 64 * K, [5.0, 25.0, 0.5, 6.25], Some(10.0), None),
    ("anthropic/claude-sonnet-5", M, 64 * K, [2.0, 10.0, 0.2, 2.5], Some(4.0), None),
    ("anthropic/claude-sonnet-5-5", M, 64 * K, [2.0, 10.0, 0.1, 2.5], Some(4.0), None),
    (
        "anthropic/claude-haiku-5-5",
        M,
        64 * K,
        [0.1, 0.5, 0.01, 0.125],
        Some(0.2),
        Some((100_001, [0.5, 2.5, 0.05, 0.625], Some(1.0))),
    ),
    ("anthropic/claude-haiku-4-5", 200 * K, 32 * K, [1.0, 5.0, 0.1, 1.25], Some(2.0), None),
    ("openai/gpt-5.5", M, 64 * K, [5.0, 30.0, 0.5, 5.0], None, Some((272_001, [10.0, 45.0, 1.0, 10.0], None))),
    (
        "openai/gpt-6-astra",
        1_050 * K,
        64 * K,
        [10.0, 50.0, 1.0, 12.5],
        None,
        Some((272_001, [20.0, 75.0, 2.0, 25.0], None)),
    ),
    ("openai/gpt-6-sol", 1_050 * K, 64 * K, [2.0, 10.0, 0.2, 2.5], None, Some((272_001, [4.0, 15.0, 0.4, 5.0], None))),
    (
        "openai/gpt-6-luna",
        1_050 * K,
        64 * K,
        [0.1, 0.5, 0.01, 0.125],
        None,
        Some((272_001, [0.2, 0.75, 0.02, 0.25], None)),
    ),
    (
        "openai/gpt-6.1-sol",
        1_050 * K,
        64 * K,
        [2.0, 10.0, 0.1, 2.5],
        None,
        Some((272_001, [4.0, 15.0, 0.2, 5.0], None)),
    ),
    (
        "openai/gpt-6.1-terra",
        1_050 * K,
        64 * K,
        [1.0, 5.0, 0.05, 1.25],
        None,
        Some((272_001, [2.0, 7.5, 0.1, 2.5], None)),
    ),
    ("google/gemini-4-argon", 1_048_576, 65_536, [4.0, 20.0, 0.2, 0.0], None, None),
    ("google/gemini-3.8-flash", 1_048_576, 65_536, [1.5, 7.5, 0.15, 0.0], None, None),
    ("xai/grok-4.7", 500 * K, 64 * K, [2.0, 6.0, 0.5, 0.0], None, Some((200_000, [4.0, 12.0, 1.0, 0.0], None))),
    ("mistral/mistral-large-4", M, 32_768, [0.7, 2.1, 0.07, 0.0], None, None),
    ("zai/glm-5.3", M, 128 * K, [1.4, 4.4, 0.26, 0.0], None, None),
    ("zai/glm-5.3-flash", M, 128 * K, [0.15, 0.5, 0.03, 0.0], None, None),
    ("zai/glm-5.3-flashx", M, 128 * K, [0.37, 1.25, 0.075, 0.0], None, None),
    ("qwen/qwen3.8-max", M, 131_072, [2.0, 6.0, 0.25, 2.5], None, None),
    ("qwen/qwen3.8-flash", M, 131_072, [0.15, 0.47, 0.016, 0.2], None, None),
    ("qwen/qwen3.8-omni-flash", M, 131_072, [0.15, 0.47, 0.016, 0.0], None, None),
    ("deepseek/deepseek-flash", M, 384 * K, [0.3, 1.2, 0.006, 0.3], None, None),
    ("deepseek/deepseek-v4-flash", M, 384 * K, [0.3, 1.2, 0.006, 0.3], None, None),
    ("deepseek/deepseek-v4-flash-vision-exp", M, 384 * K, [0.3, 1.2, 0.006, 0.3], None, None),
    ("deepseek/deepseek-v4-pro", M, 384 * K, [1.32, 3.96, 0.044, 0.0], None, None),
    ("meta/muse-spark-1.1", 1_048_576, 131_072, [1.25, 4.25, 0.15, 1.25], None, None),
    ("meta/muse-spark-1.2", 1_048_576, 131_072, [1.25, 4.25, 0.15, 1.25], None, None),
    ("meta/muse-spark-1.3", 1_048_576, 131_072, [1.25, 4.25, 0.15, 1.25], None, None),
    ("meta/muse-wonder-1.0", 1_048_576, 131_072, [4.0, 20.0, 0.2, 4.0], None, None),
];

fn price(base: [f64; 4], hour: Option<f64>, band: Option<(u64, [f64; 4], Option<f64>)>) -> Price {
    let whole = |[input, output, read, write]: [f64; 4], hour: Option<f64>| {
        let or_input = |rate: f64| if rate == 0.0 { input } else { rate };
        rates([input, output, or_input(read), or_input(write), hour.unwrap_or(or_input(write))])
    };
    let price = Price::new(whole(base, hour));
    band.into_iter().fold(price, |price, (from, base, hour)| price.band(from, whole(base, hour)))
}

#[test]
fn the_named_models() {
    for (name, window, output, base, hour, band) in NAMED {
        let entry = model(name);
        assert_eq!(entry.id(), *name);
        assert_eq!((entry.facts.context_window, entry.facts.max_output), (Some(*window), Some(*output)), "{name}");
        assert_eq!(entry.facts.price, Some(price(*base, *hour, *band)), "{name}");
    }
}

#[test]
fn decision_models() {
    let entries = Catalogue::bundled().models(&Filter::new().kind(ModelKind::Decision));
    let found: Vec<_> = entries.iter().map(|entry| (entry.id(), entry.facts.price.clone().unwrap().rates)).collect();
    let expected = [
        ("cloudflare/clef", 0.24),
        ("cloudflare/clef-flash", 0.09),
        ("openai-decisions/gpt-6-luna", 0.1),
        ("typesafe/jev-1.13.0", 0.042),
    ];
    assert_eq!(found, expected.map(|(name, input)| (name.to_owned(), rates([input, 0.0, input, input, input]))));
    assert!(entries.iter().all(|entry| !entry.facts.abilities.tools));
    // They are no choice for somebody who wants to talk.
    assert!(Catalogue::bundled().models(&Filter::new()).iter().all(|entry| entry.kind == ModelKind::Chat));
}

#[test]
fn bands_begin_above_or_at_their_number() {
    let cost = |name: &str, prompt: u64| model(name).facts.price.unwrap().cost(&Usage::new(prompt, 0));
    // Most vendors: more than so many. xAI: so many or more.
    assert_eq!(cost("openai/gpt-6-sol", 272_000), token(2.0).times(272_000));
    assert_eq!(cost("openai/gpt-6-sol", 272_001), token(4.0).times(272_001));
    assert_eq!(cost("xai/grok-4.7", 199_999), token(2.0).times(199_999));
    assert_eq!(cost("xai/grok-4.7", 200_000), token(4.0).times(200_000));
}

#[test]
fn the_band_is_that_of_the_whole_prompt() {
    let price = model("anthropic/claude-haiku-5-5").facts.price.unwrap();
    let mut usage = Usage::new(1, 10);
    usage.cache_read = 100_000;
    let expected = token(0.5).plus(token(2.5).times(10)).plus(token(0.05).times(100_000));
    assert_eq!(price.cost(&usage), expected, "cached tokens count for the length");
}

#[test]
fn a_cache_rate_of_zero_is_the_input_rate() {
    let mut zero = sheet_rates(3.0, 15.0);
    (zero.cache_read, zero.cache_write, zero.cache_write_1h) =
        (Some(per_million(0.0)), Some(per_million(0.0)), Some(per_million(0.0)));
    let expected = rates([3.0, 15.0, 3.0, 3.0, 3.0]);
    assert_eq!(PriceSheet::new(zero).price(), Price::new(expected));
    assert_eq!(PriceSheet::new(sheet_rates(3.0, 15.0)).price(), Price::new(expected));
    // That of its own band.
    let banded = PriceSheet::new(zero).band(SheetBand::above(10, sheet_rates(6.0, 20.0)));
    assert_eq!(banded.price().rates_for(11), &rates([6.0, 20.0, 6.0, 6.0, 6.0]));
}

#[test]
fn unknown_is_not_free() {
    assert_eq!(model("anthropic/claude-unheard-of-9").facts.price, None);
    assert_eq!(model("nobody/nothing").facts.price, None);
    // An id that looks like another one has no price of it.
    assert_eq!(model("meta/muse-spark-1.2-contributor").facts.price, None);
    assert_eq!(model("openai/gpt-6-sol-mini").facts.price, None);
    let mut catalogue = Catalogue::bundled().clone();
    catalogue.set_price("ollama", "llama3.1:8b", PriceSheet::new(SheetRates::default()));
    let free = catalogue.model("ollama/llama3.1:8b").unwrap().facts.price.unwrap();
    assert_eq!(free.cost(&Usage::new(1_000, 1_000)), Money::ZERO);
}

#[test]
fn a_price_only_above_its_band_is_a_price() {
    let sheet = PriceSheet::new(SheetRates::default()).band(SheetBand::above(100, sheet_rates(1.0, 2.0)));
    assert_eq!(sheet.price().cost(&Usage::new(100, 5)), Money::ZERO);
    assert_eq!(sheet.price().cost(&Usage::new(101, 0)), token(1.0).times(101));
}

#[test]
fn an_hour_in_the_cache() {
    let of = |name: &str| model(name).facts.price.unwrap().rates;
    assert_eq!(of("claude-sonnet-5-5").cache_write_1h, token(4.0));
    // Where the vendor doesn't part the two, they are the same.
    assert_eq!(of("openai/gpt-6-sol").cache_write_1h, of("openai/gpt-6-sol").cache_write_5m);
    // A list that doesn't say it goes by the provider's rule: twice the input, in each band.
    let mut catalogue = Catalogue::bundled().clone();
    let sheet = PriceSheet::new(sheet_rates(3.0, 15.0)).band(SheetBand::from(200_000, sheet_rates(6.0, 22.5)));
    catalogue.set_price("anthropic", "claude-new", sheet);
    let price = catalogue.model("anthropic/claude-new").unwrap().facts.price.unwrap();
    assert_eq!([1, 200_000].map(|prompt| price.rates_for(prompt).cache_write_1h), [token(6.0), token(12.0)]);
}

#[test]
fn busy_hours_and_offers() {
    const HOUR: u64 = 3_600_000;
    let input = |name: &str, at: u64| model(name).price_at(at).unwrap().rates.input;
    // 2026-12-02 is a Wednesday, 2026-12-05 a Saturday.
    let wednesday = "2026-12-02".parse::<agent_models::Date>().unwrap().starts_ms();
    let saturday = wednesday + 3 * 24 * HOUR;
    let name = "deepseek/deepseek-v4-pro";
    let by_hour: Vec<bool> = (0..24).map(|hour| input(name, wednesday + hour * HOUR) == token(1.32)).collect();
    let busy: Vec<usize> = (0..24).filter(|hour| by_hour[*hour]).collect();
    assert_eq!(busy, [1, 2, 3, 6, 7, 8, 9]);
    assert_eq!(input(name, wednesday + HOUR - 1), token(0.66));
    assert!((0..48).all(|hour| input(name, saturday + hour * HOUR) == token(0.66)));
    assert_eq!(input(name, saturday + 49 * HOUR), token(1.32), "Monday, one o'clock");

    let end = "2026-12-31".parse::<agent_models::Date>().unwrap().ends_ms();
    assert_eq!(input("google/gemini-3.8-flash", end - 1), token(0.75));
    assert_eq!(input("google/gemini-3.8-flash", end), token(1.5));
    // What a budget reserves by is the dearest.
    assert_eq!(model("google/gemini-3.8-flash").facts.price.unwrap().rates.input, token(1.5));
    assert_eq!(input("google/gemini-4-argon", wednesday), token(4.0), "the offer is over");
}

#[test]
fn audited_prices() {
    // Shipped elsewhere half as dear again for a long time.
    assert_eq!(model("claude-sonnet-5").facts.price.unwrap().rates.output, token(10.0));
    // Reads of a cache are not a tenth of the input everywhere.
    let share = |name: &str| {
        let rates = model(name).facts.price.unwrap().rates;
        rates.input.pico_dollars() / rates.cache_read.pico_dollars()
    };
    assert_eq!(["claude-fable-5", "claude-fable-5-1", "claude-opus-5-5"].map(share), [10, 40, 20]);
}

#[test]
fn rates_of_six_decimals_are_exact() {
    assert_eq!(token(0.003625), Money::from_pico_dollars(3_625));
    assert_eq!(token(0.000001), Money::from_pico_dollars(1));
    for dollars in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
        assert!(agent_models::PerMillion::dollars(dollars).is_err(), "{dollars}");
    }
}
