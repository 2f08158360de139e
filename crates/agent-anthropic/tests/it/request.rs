//! How a conversation becomes the vendor's messages.

use agent_anthropic::{AnthropicWire, ForeignThinking, PROTOCOL};
use agent_core::{
    Arguments, ContentBlock, DocumentBlock, ImageBlock, MediaSource, Message, ModelFacts, OpaqueBlock, Origin, RawJson,
    StopReason, TextBlock, ThinkingBlock, TokenBound, ToolCall, ToolResultMessage, Wire,
};
use serde_json::json;

use crate::given::{Talk, body, request, shape};

fn wire() -> AnthropicWire {
    AnthropicWire::new()
}

fn call(id: &str) -> ContentBlock {
    ToolCall::new("read", Arguments::from_text(r#"{"b":1.50,"a":2}"#)).vendor_id(id).into()
}

fn raw(json: &serde_json::Value) -> RawJson {
    RawJson::parse(json.to_string()).unwrap()
}

fn base64_image(media_type: Option<&str>, data: &str) -> ContentBlock {
    let image = ImageBlock::new(MediaSource::Base64(data.into()));
    ContentBlock::Image(match media_type {
        Some(kind) => image.media_type(kind),
        None => image,
    })
}

#[test]
fn results_of_a_turn_stand_first_in_one_user_message() {
    let mut talk = Talk::new();
    talk.says("go");
    let asked =
        talk.assistant(vec!["ok".into(), call("toolu_1"), call("toolu_2"), call("call_0")], StopReason::ToolUse);
    for (id, text) in asked.tool_calls().map(|(id, _)| id).zip(["a", "b", "c"]) {
        let result = ToolResultMessage::new(talk.ids.message(0), id, "read", vec![text.into()]);
        talk.transcript.append(Message::from(result)).unwrap();
    }
    talk.says("and now?");
    let (json, losses) = request(&wire(), &talk.call());
    let own = format!("{}_3", asked.id);
    assert_eq!(
        json["messages"][1]["content"][1],
        json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"b": 1.5, "a": 2}})
    );
    assert_eq!(json["messages"][1]["content"][3]["id"], own.as_str(), "ids of compatible servers may come twice");
    assert_eq!(
        json["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "b"},
            {"type": "tool_result", "tool_use_id": own, "content": "c"},
            {"type": "text", "text": "and now?"},
        ])
    );
    assert_eq!((json["messages"].as_array().unwrap().len(), losses), (3, vec![]));
    let text = String::from_utf8(wire().encode(&talk.call()).unwrap().segments.to_bytes().to_vec()).unwrap();
    assert!(text.contains(r#""input":{"b":1.50,"a":2}"#), "arguments go back as the model wrote them");
}

#[test]
fn results_carry_all_text_images_and_failure() {
    let mut talk = Talk::new();
    talk.says("go");
    let asked = talk.assistant((1..=4).map(|i| call(&format!("toolu_{i}"))).collect(), StopReason::ToolUse);
    let calls: Vec<_> = asked.tool_calls().map(|(id, _)| id).collect();
    let contents =
        [vec!["".into(), "one".into(), "two".into()], vec!["see".into(), base64_image(None, "iVBORw0")], vec![]];
    for (id, content) in calls.iter().zip(contents) {
        talk.transcript
            .append(Message::from(ToolResultMessage::new(talk.ids.message(0), *id, "read", content)))
            .unwrap();
    }
    talk.transcript
        .append(Message::from(ToolResultMessage::error(talk.ids.message(0), calls[3], "read", "no file")))
        .unwrap();
    let (json, _) = request(&wire(), &talk.call());
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0"}});
    assert_eq!(
        json["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                {"type": "text", "text": "one"}, {"type": "text", "text": "two"},
            ]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "see"}, image]},
            {"type": "tool_result", "tool_use_id": "toolu_3"},
            {"type": "tool_result", "tool_use_id": "toolu_4", "content": "no file", "is_error": true},
        ])
    );
}

#[test]
fn arguments_that_are_no_object_go_back_as_one() {
    let mut talk = Talk::new();
    talk.says("go");
    let bad = ToolCall::new("read", Arguments::from_text("{\"a\":")).vendor_id("toolu_1");
    let asked = talk.assistant(vec![bad.into()], StopReason::MaxTokens);
    let (id, _) = asked.tool_calls().next().unwrap();
    talk.transcript
        .append(Message::from(ToolResultMessage::error(talk.ids.message(0), id, "read", "cut off")))
        .unwrap();
    let (json, _) = request(&wire(), &talk.call());
    assert_eq!(json["messages"][1]["content"][0]["input"], json!({"invalidArguments": "{\"a\":"}));
}

#[test]
fn images_and_documents_go_in_every_form() {
    let pdf = |source| DocumentBlock::new(source).media_type("application/pdf").name("Report");
    let cases = [
        (
            base64_image(Some("image/jpg"), "/9j/"),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"}}),
        ),
        (
            base64_image(None, "UklGRg"),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "UklGRg"}}),
        ),
        (
            ImageBlock::new(MediaSource::Url("https://a.example/b.png".into())).into(),
            json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}),
        ),
        (
            ImageBlock::new(MediaSource::FileId("file_1".into())).into(),
            json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
        ),
        (
            pdf(MediaSource::Base64("JVBERi0=".into())).into(),
            json!({"type": "document", "title": "Report", "source": {
                "type": "base64", "media_type": "application/pdf", "data": "JVBERi0=",
            }}),
        ),
        (
            pdf(MediaSource::Url("https://a.example/b.pdf".into())).into(),
            json!({"type": "document", "title": "Report", "source": {"type": "url", "url": "https://a.example/b.pdf"}}),
        ),
        (
            DocumentBlock::new(MediaSource::Base64("R3LDvMOfZQ==".into())).media_type("text/markdown").into(),
            json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Grüße"}}),
        ),
        (
            DocumentBlock::new(MediaSource::FileId("file_2".into())).into(),
            json!({"type": "document", "source": {"type": "file", "file_id": "file_2"}}),
        ),
    ];
    for (block, expected) in cases {
        let mut talk = Talk::new();
        talk.user(vec![block.clone()]);
        let (json, losses) = request(&wire(), &talk.call());
        assert_eq!((&json["messages"][0]["content"][0], losses), (&expected, vec![]), "{block:?}");
    }
}

#[test]
fn what_the_vendor_cannot_carry_is_a_loss_and_the_message_stays() {
    let blind = || wire().model(ModelFacts::new("anthropic", "claude-sonnet-5"));
    let pdf = DocumentBlock::new(MediaSource::Url("https://a.example/b.pdf".into()));
    let word = DocumentBlock::new(MediaSource::Base64("UEsD".into())).media_type("application/msword");
    let bad_text = DocumentBlock::new(MediaSource::Base64("%%".into())).media_type("text/plain");
    let cases: [(AnthropicWire, ContentBlock, &str); 7] = [
        (wire(), base64_image(Some("image/tiff"), "SUkq"), "image/tiff"),
        (wire(), base64_image(None, "SUkq"), "nobody named"),
        (blind(), base64_image(None, "/9j/"), "an image, which the model does not read"),
        (blind(), pdf.into(), "a document, which the model does not read"),
        (wire(), word.into(), "application/msword"),
        (wire(), bad_text.into(), "no UTF-8"),
        (wire(), ThinkingBlock::new("hm").into(), "no model said"),
    ];
    for (wire, block, what) in cases {
        let mut talk = Talk::new();
        talk.user(vec![block]).assistant(vec!["Yes?".into()], StopReason::EndTurn);
        talk.says("Well");
        let (json, losses) = request(&wire, &talk.call());
        assert!(losses[0].contains(what), "{losses:?} without {what}");
        assert_eq!(json["messages"][0]["content"], json!([{"type": "text", "text": "(empty message)"}]));
        // Losses are told again with every request that has them.
        let again = talk.call();
        assert_eq!(request(&wire, &again).1, losses);
        assert_eq!(request(&wire, &again).1, losses, "from the cache");
    }
}

#[test]
fn empty_text_and_empty_answers_are_left_out() {
    let mut talk = Talk::new();
    talk.user(vec![" \n".into(), "Hi".into(), "".into()]);
    talk.assistant(vec!["  ".into()], StopReason::EndTurn);
    talk.says("Still there?");
    let (json, _) = request(&wire(), &talk.call());
    assert_eq!(shape(&json), [("user".into(), vec!["text".into(), "text".into()])]);
}

fn thinking(origin: Origin) -> Vec<ContentBlock> {
    let signed = ThinkingBlock::new("Hm").signature("sig").origin(origin.clone());
    let redacted = ThinkingBlock::new("").encrypted("EqQB").origin(origin);
    vec![redacted.into(), signed.into(), "So".into()]
}

#[test]
fn thinking_of_the_same_model_goes_back_as_it_was() {
    let origins =
        ["claude-sonnet-5", "claude-sonnet-5-20260401", "us.anthropic.claude-sonnet-5", "claude-sonnet-5[1m]"];
    for model in origins {
        let mut talk = Talk::new();
        talk.says("Hi").assistant(thinking(Origin::new(PROTOCOL, "anthropic", model)), StopReason::EndTurn);
        talk.says("Go on");
        let (json, losses) = request(&wire(), &talk.call());
        assert_eq!(
            json["messages"][1]["content"],
            json!([
                {"type": "redacted_thinking", "data": "EqQB"},
                {"type": "thinking", "thinking": "Hm", "signature": "sig"},
                {"type": "text", "text": "So"},
            ]),
            "{model}"
        );
        assert_eq!(losses, [""; 0]);
    }
}

#[test]
fn thinking_of_another_model_is_text_or_a_loss_and_never_unsigned() {
    let foreign = [
        Origin::new(PROTOCOL, "anthropic", "claude-opus-5"),
        Origin::new(PROTOCOL, "gateway", "claude-sonnet-5"),
        Origin::new("openai-responses", "openai", "gpt-6-sol"),
    ];
    for origin in foreign {
        let mut talk = Talk::new();
        talk.says("Hi").assistant_of(origin.clone(), thinking(origin.clone()), StopReason::EndTurn);
        talk.says("Go on");
        let (json, losses) = request(&wire(), &talk.call());
        assert_eq!(json["messages"][1]["content"], json!([{"type": "text", "text": "So"}]), "{origin:?}");
        assert_eq!(losses.len(), 2);
        let (json, losses) = request(&wire().foreign_thinking(ForeignThinking::Text), &talk.call());
        assert_eq!(json["messages"][1]["content"][0]["text"], "<thinking>\nHm\n</thinking>");
        assert_eq!(losses, ["reasoning that only another model can read; it is left out"]);
    }
    // Of this model and without a signature, as a cancel leaves it.
    let mut talk = Talk::new();
    let unsigned = ThinkingBlock::new("Hm").origin(talk.origin());
    talk.says("Hi").assistant(vec![unsigned.into(), "So".into()], StopReason::Cancelled);
    talk.says("Go on");
    let (json, losses) = request(&wire(), &talk.call());
    assert_eq!((shape(&json)[1].1.clone(), losses.len()), (vec!["text".to_owned()], 1));
}

#[test]
fn a_deployment_replays_under_the_name_that_it_answers_with() {
    let mut talk = Talk::new();
    talk.model = "my-deployment";
    talk.says("Hi").assistant(thinking(Origin::new(PROTOCOL, "anthropic", "claude-sonnet-5")), StopReason::EndTurn);
    talk.says("Go on");
    assert_eq!(request(&wire(), &talk.call()).1.len(), 2);
    let (json, losses) = request(&wire().answers_as("my-deployment", "claude-sonnet-5"), &talk.call());
    assert_eq!((json["model"].as_str(), losses.len()), (Some("my-deployment"), 0));
    assert_eq!(json["messages"][1]["content"][1]["signature"], "sig");
}

#[test]
fn an_answer_does_not_end_in_thinking() {
    let mut talk = Talk::new();
    let mut blocks = thinking(talk.origin());
    blocks.pop();
    talk.says("Hi").assistant(blocks, StopReason::Cancelled);
    talk.says("Go on");
    let (json, losses) = request(&wire(), &talk.call());
    assert_eq!((json["messages"].as_array().unwrap().len(), losses.len()), (1, 2));
}

#[test]
fn server_tools_and_citations_go_back_as_they_were() {
    let mut talk = Talk::new();
    let used = json!({"id": "srvtoolu_1", "input": {"query": "x"}, "name": "web_search", "type": "server_tool_use"});
    let found = json!({"content": [], "tool_use_id": "srvtoolu_1", "type": "web_search_tool_result"});
    let opaque = |talk: &Talk, json| ContentBlock::Opaque(OpaqueBlock::new(talk.origin(), raw(json)));
    let mut cited = TextBlock::new("Blue.");
    cited.metadata = Some(raw(&json!({"citations": [{"type": "web_search_result_location"}]})));
    let content = vec![opaque(&talk, &used), opaque(&talk, &found), cited.into()];
    talk.says("Why?").assistant(content.clone(), StopReason::EndTurn);
    talk.says("And?");
    let (json, losses) = request(&wire(), &talk.call());
    let text = json!({"type": "text", "text": "Blue.", "citations": [{"type": "web_search_result_location"}]});
    assert_eq!((&json["messages"][1]["content"], losses.len()), (&json!([used, found, text]), 0));
    // Another provider gets the text.
    let (json, losses) = request(&wire().provider("gateway"), &talk.call());
    assert_eq!((&json["messages"][1]["content"], losses.len()), (&json!([{"type": "text", "text": "Blue."}]), 2));
}

#[test]
fn a_paused_turn_goes_on_and_a_cut_one_loses_its_unanswered_server_call() {
    let used = json!({"id": "srvtoolu_1", "input": {}, "name": "web_search", "type": "server_tool_use"});
    for (stop, kept) in [(StopReason::Paused, true), (StopReason::Error, false), (StopReason::Cancelled, false)] {
        let mut talk = Talk::new();
        let block = OpaqueBlock::new(talk.origin(), raw(&used));
        talk.says("Why?").assistant(vec!["Look:".into(), ContentBlock::Opaque(block)], stop);
        let (json, losses) = request(&wire(), &talk.call());
        let content = json["messages"][1]["content"].as_array().unwrap();
        assert_eq!((content.len() == 2, losses.is_empty()), (kept, kept));
        // What follows a paused answer continues its message.
        if kept {
            talk.assistant(vec!["Done.".into()], StopReason::EndTurn);
            let (json, _) = request(&wire(), &talk.call());
            assert_eq!(shape(&json)[1].1, ["text", "server_tool_use", "text"]);
        }
    }
}

#[test]
fn who_called_a_tool_and_its_toolset_go_back() {
    let mut talk = Talk::new();
    talk.says("go");
    let mut used = ToolCall::new("click", Arguments::empty()).vendor_id("toolu_1");
    used.metadata = Some(raw(
        &json!({"caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}, "toolset_name": "browser"}),
    ));
    let asked = talk.assistant(vec![used.into()], StopReason::ToolUse);
    let (id, _) = asked.tool_calls().next().unwrap();
    talk.transcript
        .append(Message::from(ToolResultMessage::new(talk.ids.message(0), id, "click", vec!["ok".into()])))
        .unwrap();
    let (json, _) = request(&wire(), &talk.call());
    assert_eq!(json["messages"][1]["content"][0]["caller"]["tool_id"], "srvtoolu_1");
    assert_eq!(json["messages"][1]["content"][0]["toolset_name"], "browser");
    assert_eq!(json["messages"][2]["content"][0]["toolset_name"], "browser");
}

#[test]
fn a_note_for_one_call_stands_behind_the_last_message() {
    let mut talk = Talk::new();
    talk.says("Hi");
    let (json, _) = request(&wire(), &talk.call().note("Be quick."));
    assert_eq!(json["messages"][0]["content"][1], json!({"type": "text", "text": "Be quick."}));
    talk.assistant(vec!["Yes?".into()], StopReason::EndTurn);
    let (json, _) = request(&wire(), &talk.call().note("Be quick."));
    assert_eq!(shape(&json).last().unwrap(), &("user".to_owned(), vec!["text".to_owned()]));
    let (json, _) = request(&wire(), &Talk::new().call().note("Alone."));
    assert_eq!(json["messages"], json!([{"role": "user", "content": [{"type": "text", "text": "Alone."}]}]));
    assert!(wire().encode(&Talk::new().call()).is_err(), "nothing to send");
    assert!(wire().encode(&Talk::new().call().note(" ")).is_err());
}

#[test]
fn bounds_hold_for_media_and_are_unknown_for_addresses() {
    let bound = |block: ContentBlock| {
        let mut talk = Talk::new();
        talk.user(vec![block]);
        let encoded = wire().encode(&talk.call()).unwrap();
        assert!(matches!(encoded.overhead, TokenBound::AtMost(1..=2_000)));
        assert_eq!(body(&encoded)["max_tokens"], encoded.max_output.unwrap());
        encoded.segments.bound()
    };
    let megabyte = format!("/9j/{}", "A".repeat(1 << 20));
    assert!(matches!(bound(base64_image(None, &megabyte)), TokenBound::AtMost(5_000..=5_500)));
    assert_eq!(bound(ImageBlock::new(MediaSource::Url("https://a.example".into())).into()), TokenBound::Unknown);
    let pdf = DocumentBlock::new(MediaSource::Base64("JVBERi0=".into()));
    assert!(matches!(bound(pdf.into()), TokenBound::AtMost(1_000_000..=1_001_000)));
}
