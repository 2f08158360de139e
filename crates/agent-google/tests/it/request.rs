//! Requests, as the bytes that are sent.

use agent_core::{
    CallOptions, ContentBlock, DocumentBlock, Effort, ImageBlock, MediaSource, PieceCache, Reasoning, Segments,
    TokenBound, ToolChoice, UserMessage, Wire,
};
use agent_google::{ApiVersion, GoogleWire};
use serde_json::{Value, json};

use crate::given::{MODEL, STOP, Talk, body, losses, parts, raw};

fn options() -> CallOptions {
    CallOptions::new(MODEL).system("You help.").max_output(100)
}

#[test]
fn a_conversation_with_a_tool_turn() {
    let wire = GoogleWire::gemini();
    let mut talk = Talk::new();
    let call = r#"{"functionCall":{"name":"weather","args":{"city": "Paris"}},"thoughtSignature":"c2ln"}"#;
    let answer = talk.answers(&wire, &[&parts(r#"{"text":"Let me look."}"#), &parts(call), STOP]);
    talk.results(&answer, "Sunny.");
    let expected = json!({
        "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5},
        "systemInstruction": {"parts": [{"text": "You help."}]},
        "tools": [{"functionDeclarations": [{
            "name": "weather", "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        }]}],
        "contents": [
            {"role": "user", "parts": [{"text": "What is the weather in Paris?"}]},
            {"role": "model", "parts": [
                {"text": "Let me look."},
                {"functionCall": {"name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "weather", "response": {"output": "Sunny."}}},
            ]},
        ],
    });
    let call = talk.call(options().temperature(0.5));
    assert_eq!(body(&wire, &call), expected);
    let encoded = wire.encode(&call).unwrap();
    assert_eq!(encoded.max_output, Some(100));
    assert!(matches!(encoded.overhead, TokenBound::AtMost(tokens) if tokens > 0));
}

#[test]
fn a_request_up_to_its_last_message_is_the_beginning_of_the_next() {
    for (wire, model) in [
        (GoogleWire::gemini(), MODEL),
        (GoogleWire::gemini(), "gemini-2.5-pro"),
        (GoogleWire::vertex("p", "global"), MODEL),
    ] {
        let (mut talk, cache) = (Talk::new(), PieceCache::new());
        let mut last: Option<(Vec<u8>, Segments)> = None;
        for turn in 0..50 {
            if turn % 7 == 3 {
                talk.user("And now?");
            }
            let call = format!(r#"{{"functionCall":{{"name":"weather","id":"c{turn}"}},"thoughtSignature":"c2ln"}}"#);
            let answer = talk.answers(&wire, &[&parts(&format!(r#"{{"text":"Hm."}},{call},{call}"#)), STOP]);
            talk.results(&answer, "Sunny.");
            let options = CallOptions::new(model).system("You help.");
            let segments = wire.encode(&talk.call(options.clone()).cache(cache.clone())).unwrap().segments;
            let bytes = segments.to_bytes().to_vec();
            assert_eq!(bytes, wire.encode(&talk.call(options)).unwrap().segments.to_bytes(), "cached and not");
            if let Some((before, pieces)) = &last {
                let shared = before.len() - "]}]}".len();
                assert_eq!(bytes[..shared], before[..shared], "{model}, turn {turn}");
                let same = pieces.messages().iter().zip(segments.messages().iter());
                let kept = same.filter(|(old, new)| old.body().as_ptr() == new.body().as_ptr()).count();
                assert_eq!(kept, pieces.messages().len(), "nothing is encoded twice: {model}, turn {turn}");
                assert_eq!(segments.diverges_from(pieces.chain(), Some(pieces)), None, "{model}, turn {turn}");
            }
            last = Some((bytes, segments));
        }
    }
}

#[test]
fn another_address_or_model_is_another_cache() {
    let chain = |wire: GoogleWire, model: &str| {
        *wire.encode(&Talk::new().call(CallOptions::new(model))).unwrap().segments.chain()
    };
    let first = chain(GoogleWire::gemini(), MODEL);
    for other in [
        chain(GoogleWire::gemini(), "gemini-2.5-pro"),
        chain(GoogleWire::gemini().at("http://127.0.0.1:9").unwrap(), MODEL),
    ] {
        assert_ne!(other.identity, first.identity);
    }
    assert_eq!(chain(GoogleWire::gemini(), MODEL).head(), first.head());
}

#[test]
fn w03_addresses_are_joined_and_escaped() {
    let address = |wire: &GoogleWire, model: &str| {
        wire.encode(&Talk::new().call(CallOptions::new(model))).unwrap().parts.uri.to_string()
    };
    let google = "https://generativelanguage.googleapis.com";
    let stream = ":streamGenerateContent?alt=sse";
    let gemini = GoogleWire::gemini();
    assert_eq!(address(&gemini, MODEL), format!("{google}/v1beta/models/{MODEL}{stream}"));
    assert_eq!(address(&gemini, "models/m"), format!("{google}/v1beta/models/m{stream}"));
    assert_eq!(address(&gemini, "tunedModels/a b?c#"), format!("{google}/v1beta/tunedModels/a%20b%3Fc%23{stream}"));
    assert_eq!(address(&gemini, "../../x"), format!("{google}/v1beta/models/%2E%2E/%2E%2E/x{stream}"));
    assert_eq!(address(&gemini, "openai/tiny"), format!("{google}/v1beta/models/openai/tiny{stream}"));
    assert_eq!(address(&gemini.version(ApiVersion::V1), "m"), format!("{google}/v1/models/m{stream}"));
    for (base, expected) in [
        ("http://127.0.0.1:9/gemini//", "http://127.0.0.1:9/gemini/v1beta/models/m"),
        ("http://127.0.0.1:9/v1beta/", "http://127.0.0.1:9/v1beta/models/m"),
        (" http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/models/m"),
    ] {
        assert_eq!(address(&GoogleWire::gemini().at(base).unwrap(), "m"), format!("{expected}{stream}"));
    }
    assert!(GoogleWire::gemini().at("no address").is_err());
}

#[test]
fn vertex_has_its_own_addresses() {
    let address = |location: &str, model: &str| {
        let wire = GoogleWire::vertex("my-project", location);
        wire.encode(&Talk::new().call(CallOptions::new(model))).unwrap().parts.uri.to_string()
    };
    let path = |location: &str, rest: &str| {
        format!("/v1/projects/my-project/locations/{location}/{rest}:streamGenerateContent?alt=sse")
    };
    let model = "publishers/google/models/gemini-3.8-flash";
    for (location, host) in [
        ("global", "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ] {
        assert_eq!(address(location, MODEL), format!("https://{host}{}", path(location, model)));
    }
    let host = "https://aiplatform.googleapis.com";
    assert_eq!(address("global", "endpoints/7"), format!("{host}{}", path("global", "endpoints/7")));
    assert_eq!(address("global", model), format!("{host}{}", path("global", model)));
    let whole = "projects/p/locations/l/endpoints/7";
    assert_eq!(address("global", whole), format!("{host}/v1/{whole}:streamGenerateContent?alt=sse"));
    let beta = GoogleWire::vertex("p", "global").version(ApiVersion::V1Beta);
    let uri = beta.encode(&Talk::new().call(options())).unwrap().parts.uri;
    assert!(uri.path().starts_with("/v1beta1/projects/p/"));
}

#[test]
fn case_83_levels_or_budgets_as_the_model_wants_and_never_both() {
    let wire = GoogleWire::gemini();
    let config = |model: &str, reasoning: Reasoning| {
        let call = Talk::new().plain_call(CallOptions::new(model).reasoning(reasoning));
        (body(&wire, &call)["generationConfig"]["thinkingConfig"].clone(), losses(&wire, &call).len())
    };
    let level = |level: &str| json!({"thinkingLevel": level, "includeThoughts": true});
    let budget = |tokens: u64| json!({"thinkingBudget": tokens, "includeThoughts": true});
    use Effort::{High, Low, Max, Medium, Minimal, XHigh};
    let effort = Reasoning::Effort;
    for (model, reasoning, expected) in [
        ("gemini-3.8-flash", effort(Minimal), level("LOW")),
        ("gemini-3.8-flash", effort(Medium), level("MEDIUM")),
        ("gemini-3.8-flash", effort(XHigh), level("HIGH")),
        ("gemini-4-argon", effort(Max), level("HIGH")),
        ("gemini-4-argon", effort(Minimal), level("LOW")),
        ("gemini-3-flash-preview", effort(Minimal), level("MINIMAL")),
        ("gemini-3.1-flash", effort(Minimal), level("LOW")),
        ("gemini-3.5-flash", effort(Minimal), level("MINIMAL")),
        ("gemini-3.8-flash-lite", effort(Minimal), level("MINIMAL")),
        ("gemini-3.1-flash-image", effort(Medium), level("MINIMAL")),
        ("gemini-3-pro-image", effort(Low), level("HIGH")),
        ("gemini-flash-latest", effort(High), level("HIGH")),
        ("gemini-flash-lite-latest", effort(High), budget(24_576)),
        ("gemini-2.5-flash", effort(Minimal), budget(1_024)),
        ("gemini-2.5-flash", effort(Medium), budget(8_192)),
        ("gemini-2.5-pro@001", effort(Max), budget(24_576)),
        ("gemini-2.5-pro", Reasoning::Budget(32_768), budget(32_768)),
        ("gemini-2.5-flash", Reasoning::Budget(5), budget(5)),
        ("gemini-2.5-flash-lite", Reasoning::Budget(0), json!({"thinkingBudget": 0})),
        ("gemini-2.5-flash", Reasoning::Off, json!({"thinkingBudget": 0})),
        ("gemini-2.5-flash", Reasoning::Default, Value::Null),
        ("gemini-3.8-flash", Reasoning::Default, Value::Null),
        ("gemini-3.8-flash-tts", Reasoning::Off, Value::Null),
    ] {
        assert_eq!(config(model, reasoning), (expected, 0), "{model} {reasoning:?}");
    }
    // What cannot be said is said as well as it can, and reported.
    for (model, reasoning, expected) in [
        ("gemini-3.8-flash", Reasoning::Budget(4_000), level("MEDIUM")),
        ("gemini-3.8-flash", Reasoning::Budget(100_000), level("HIGH")),
        ("gemini-3-flash-preview", Reasoning::Off, level("MINIMAL")),
        ("gemini-2.5-pro", Reasoning::Off, json!({"thinkingBudget": 128})),
        ("gemini-2.5-pro", Reasoning::Budget(5), budget(128)),
        ("gemini-2.5-flash", Reasoning::Budget(99_999), budget(24_576)),
        ("gemini-2.5-flash-lite", Reasoning::Budget(5), budget(512)),
        ("gemini-2.0-flash", effort(High), Value::Null),
        ("gemini-3.8-flash-tts", effort(High), Value::Null),
    ] {
        assert_eq!(config(model, reasoning), (expected, 1), "{model} {reasoning:?}");
    }
    let mut facts = wire.facts("gemini-2.5-flash");
    facts.efforts = vec![Low, High];
    let told = GoogleWire::gemini().model(facts);
    let call = Talk::new().plain_call(CallOptions::new("gemini-2.5-flash").reasoning(effort(Medium)));
    assert_eq!(body(&told, &call)["generationConfig"]["thinkingConfig"], level("LOW"), "facts win over names");
}

#[test]
fn options_are_sent_and_what_cannot_be_is_a_loss() {
    let mut all = options().tool_choice(ToolChoice::Tool("weather".into()));
    (all.top_p, all.seed, all.parallel_calls) = (Some(0.5), Some(7), Some(false));
    all.stop_sequences = (0..7).map(|n| n.to_string()).collect();
    let wire =
        GoogleWire::gemini().safety("HARM_CATEGORY_HARASSMENT", "BLOCK_NONE").safety("HARM_CATEGORY_HARASSMENT", "OFF");
    let call = Talk::new().call(all);
    let sent = body(&wire, &call);
    let config = json!({"maxOutputTokens": 100, "topP": 0.5, "seed": 7, "stopSequences": ["0", "1", "2", "3", "4"]});
    assert_eq!(sent["generationConfig"], config);
    let choice = json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}});
    assert_eq!(sent["toolConfig"], choice);
    assert_eq!(sent["safetySettings"], json!([{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]));
    assert_eq!(losses(&wire, &call).len(), 2);
    for (choice, mode) in [(ToolChoice::Never, "NONE"), (ToolChoice::Required, "ANY")] {
        let sent = body(&wire, &Talk::new().call(options().tool_choice(choice.clone())));
        assert_eq!(sent["toolConfig"]["functionCallingConfig"]["mode"], mode);
        assert!(body(&wire, &Talk::new().plain_call(options().tool_choice(choice))).get("toolConfig").is_none());
    }
    let mut stiff = wire.facts(MODEL);
    stiff.abilities.temperature = false;
    let stiff = GoogleWire::gemini().model(stiff);
    let call = Talk::new().call(options().temperature(0.1));
    assert_eq!(losses(&stiff, &call), ["`temperature`, which the model refuses"]);
}

#[test]
fn extras_stand_where_the_vendor_has_them() {
    let mut all = options().tool_choice(ToolChoice::Required);
    let extras = r#"{"generationConfig":{"topK":3,"maxOutputTokens":5},"tools":[{"googleSearch":{}}],
        "toolConfig":{"includeServerSideToolInvocations":true},"labels":{"a":"b"},"safetySettings":[],"contents":[]}"#;
    all.extras.insert("google".into(), raw(extras));
    let wire = GoogleWire::gemini().safety("HARM_CATEGORY_HARASSMENT", "BLOCK_NONE");
    let sent = body(&wire, &Talk::new().call(all.clone()));
    assert_eq!(sent["generationConfig"], json!({"maxOutputTokens": 5, "topK": 3}));
    assert_eq!(sent["tools"][1], json!({"googleSearch": {}}));
    assert_eq!(
        sent["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY"}, "includeServerSideToolInvocations": true})
    );
    assert_eq!((&sent["labels"], &sent["safetySettings"]), (&json!({"a": "b"}), &json!([])));
    assert_eq!(sent["contents"].as_array().unwrap().len(), 1);
    assert_eq!(losses(&wire, &Talk::new().call(all.clone())).len(), 1);
    assert_eq!(wire.encode(&Talk::new().call(all.clone())).unwrap().overhead, TokenBound::Unknown);
    let alone = body(&wire, &Talk::new().plain_call(all.clone()));
    assert_eq!(alone["tools"], json!([{"googleSearch": {}}]));
    // Another provider's are not ours.
    let vertex = body(&GoogleWire::vertex("p", "global"), &Talk::new().call(all.clone()));
    assert!(vertex.get("labels").is_none());

    all.extras.insert("google".into(), raw(r#"{"cachedContent":"cachedContents/abc"}"#));
    let call = Talk::new().call(all.clone());
    let sent = body(&wire, &call);
    assert_eq!(sent["cachedContent"], "cachedContents/abc");
    for name in ["systemInstruction", "tools", "toolConfig"] {
        assert!(sent.get(name).is_none(), "{name} stands in the cached content");
    }
    assert_eq!(losses(&wire, &call).len(), 1);
    all.extras.insert("google".into(), raw("[]"));
    assert_eq!(losses(&wire, &Talk::new().call(all)), ["extras that are no JSON object"]);
}

#[test]
fn media_of_users_are_sent_and_bounded() {
    let wire = GoogleWire::gemini();
    let data = "aGk=".repeat(10_000);
    let image = |source| ContentBlock::Image(ImageBlock::new(source).media_type("image/png"));
    let file = |source| ContentBlock::Document(DocumentBlock::new(source).media_type("application/pdf"));
    let mut talk = Talk::new();
    let id = talk.id();
    talk.push(UserMessage::new(
        id,
        vec![
            image(MediaSource::Base64(data.clone())),
            ContentBlock::Image(ImageBlock::new(MediaSource::Url("https://example.com/a.png".into()))),
            file(MediaSource::Base64("aGk=".into())),
            file(MediaSource::FileId("https://generativelanguage.googleapis.com/v1beta/files/x".into())),
        ],
    ));
    let sent = body(&wire, &talk.call(options()))["contents"][0]["parts"].clone();
    let expected = json!([
        {"text": "What is the weather in Paris?"},
        {"inlineData": {"mimeType": "image/png", "data": data}},
        {"fileData": {"fileUri": "https://example.com/a.png"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x"}},
    ]);
    assert_eq!(sent, expected);
    assert_eq!(wire.encode(&talk.call(options())).unwrap().segments.bound(), TokenBound::Unknown, "an address");

    let mut talk = Talk::new();
    let id = talk.id();
    talk.push(UserMessage::new(id, vec![image(MediaSource::Base64(data))]));
    let bound = wire.encode(&talk.call(options())).unwrap().segments.bound();
    assert!(matches!(bound, TokenBound::AtMost(tokens) if (5_000..6_000).contains(&tokens)), "{bound:?}");
    let mut blind = wire.facts(MODEL);
    blind.abilities.images = false;
    let blind = GoogleWire::gemini().model(blind);
    let call = talk.call(options());
    assert_eq!(losses(&blind, &call).len(), 2);
    assert_eq!(body(&blind, &call)["contents"][0]["parts"][1], json!({"text": "(empty message)"}));
}

#[test]
fn a_note_stands_behind_the_last_message_and_outside_of_the_chain() {
    let wire = GoogleWire::gemini();
    let plain = wire.encode(&Talk::new().call(options())).unwrap().segments;
    let noted = wire.encode(&Talk::new().call(options()).note("Be brief.")).unwrap().segments;
    assert_eq!(noted.diverges_from(plain.chain(), Some(&plain)), None);
    let sent: Value = serde_json::from_slice(&noted.to_bytes()).unwrap();
    let said = [json!({"text": "What is the weather in Paris?"}), json!({"text": "Be brief."})];
    assert_eq!(sent["contents"], json!([{"role": "user", "parts": said}]));
    let nothing = agent_core::ModelCall::new(options(), agent_core::ContextView::default());
    assert!(wire.encode(&nothing).is_err());
    assert!(wire.encode(&nothing.note("Begin.")).is_ok());
}
