//! Facts about models: effort and output limits. Effects of tools, whose defaults matter as much.

use agent_core::{
    Abilities, Access, Approval, BoxFuture, CallId, Effects, Effort, IdSource, ModelFacts, RawJson, Replay, Tool,
    ToolContext, ToolOutcome, ToolOutput, ToolSpec,
};

use crate::given::{id, raw};

#[test]
fn nearest_effort() {
    use Effort::{High, Low, Max, Medium, Minimal, XHigh};
    let check = |efforts: &[Effort], wanted, expected| {
        let mut facts = ModelFacts::new("p", "m");
        facts.efforts = efforts.to_vec();
        assert_eq!(facts.nearest_effort(wanted), expected, "{wanted:?} of {efforts:?}");
    };
    let all = [Minimal, Low, Medium, High, XHigh, Max];
    for effort in all {
        check(&all, effort, Some(effort));
        check(&[], effort, None);
        check(&[Medium], effort, Some(Medium));
    }
    check(&[Low, High], Medium, Some(Low));
    check(&[Low, High], XHigh, Some(High));
    check(&[Low, High], Minimal, Some(Low));
    check(&[High, Low], Max, Some(High)); // in any order
    check(&[High, Low], Minimal, Some(Low));
}

#[test]
fn output_bound() {
    let check = |asked, model, honours, expected| {
        let mut facts = ModelFacts::new("p", "m");
        (facts.max_output, facts.abilities.honours_max_output) = (model, honours);
        assert_eq!(facts.output_bound(asked), expected);
    };
    check(None, None, true, None);
    check(Some(5), None, true, Some(5));
    check(None, Some(9), true, Some(9));
    check(Some(5), Some(9), true, Some(5));
    check(Some(9), Some(5), true, Some(5));
    // A vendor that ignores the limit is bound by what the model can, if by anything.
    check(Some(5), Some(9), false, Some(9));
    check(Some(5), None, false, None);
    check(None, None, false, None);
}

#[test]
fn a_plain_model() {
    let abilities = Abilities::default();
    let on = [abilities.tools, abilities.parallel_calls, abilities.temperature, abilities.honours_max_output];
    let off = [
        abilities.images,
        abilities.documents,
        abilities.tool_images,
        abilities.reasoning,
        abilities.structured_output,
    ];
    assert_eq!((on, off), ([true; 4], [false; 5]));
    let facts: ModelFacts = serde_json::from_str(r#"{"model":"m","provider":"p","new":1}"#).unwrap();
    assert_eq!(facts, ModelFacts::new("p", "m"));
}

#[test]
fn effects() {
    let plain = |access: Access| {
        let text = format!("{{\"access\":{}}}", serde_json::to_string(&access).unwrap());
        serde_json::from_str::<Effects>(&text).unwrap()
    };
    // What a record does not say is the safe choice.
    let safe = Effects::exclusive("k");
    assert_eq!(safe, plain(Access::Exclusive("k".to_owned())));
    assert_eq!((safe.idempotent, safe.irreversible, safe.ends_turn), (false, false, false));
    assert_eq!((safe.approval, safe.replay), (Approval::NotNeeded, Replay::AskModel));
    assert_eq!((safe.timeout_ms, safe.output_cap), (None, None));
    let shared = Effects::shared();
    assert_eq!((&shared.access, shared.idempotent), (&Access::Shared, true));
    assert_eq!(shared.replay, Replay::Rerun);
    assert_eq!(safe.idempotent(), plain(Access::Exclusive("k".to_owned())).idempotent());
    let all = Effects::exclusive("k")
        .idempotent()
        .irreversible()
        .approval(Approval::Needed)
        .timeout_ms(5)
        .replay(Replay::Verify)
        .output_cap(7)
        .ends_turn();
    let written = concat!(
        r#"{"access":{"exclusive":"k"},"idempotent":true,"irreversible":true,"approval":"needed","#,
        r#""timeoutMs":5,"replay":"verify","outputCap":7,"endsTurn":true}"#
    );
    assert_eq!(serde_json::to_string(&all).unwrap(), written);
    assert_eq!(serde_json::from_str::<Effects>(written).unwrap(), all);
}

struct Plain(ToolSpec);

impl Tool for Plain {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, _: RawJson, context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let text = context.idempotency_key();
        Box::pin(async move { ToolOutcome::Output(ToolOutput::text(text)) })
    }
}

#[tokio::test]
async fn a_tool_that_says_nothing_runs_alone() {
    let tool = Plain(ToolSpec::new("write", "", raw(r#"{"type":"object"}"#)).unwrap());
    assert_eq!(tool.effects(&raw("{}")), Effects::exclusive("write"));
    assert_eq!(tool.version(), "1");
    let of = CallId::new(id(1), 2);
    let context = ToolContext::new(IdSource::seeded(1).run(0), of);
    let refused = tool.verify(raw("{}"), context.clone()).await;
    assert_eq!(refused.unwrap_err().to_string(), "this tool cannot verify a call");
    let ToolOutcome::Output(output) = tool.call(raw("{}"), context).await else { panic!("no output") };
    assert_eq!(output, ToolOutput::text(of.to_string()));
}
