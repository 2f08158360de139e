//! The scripted provider and the provider of a function.

use agent_core::{
    Billed, CallOptions, CancelToken, ContentBlock, IdSource, ImageBlock, MediaSource, Message, ModelCall, ModelEvent,
    Money, Price, Provider, ProviderError, ProviderErrorKind, Rates, StopReason, TokenBound, ToolCall, Usage,
    UserMessage,
};
use agent_testkit::{FnProvider, Gate, Reply, ScriptedProvider, assert_cache_stable};
use futures_util::FutureExt;

use crate::support::{Tested, answer, events, hi, prepare, results, tools, user, view};

fn text_of(event: &ModelEvent) -> Option<&str> {
    match event {
        ModelEvent::TextDelta { text, .. } | ModelEvent::ThinkingDelta { text, .. } => Some(text),
        ModelEvent::ArgumentsDelta { json, .. } => Some(json),
        _ => None,
    }
}

fn overloaded() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Overloaded, "busy")
}

#[tokio::test]
async fn a_reply_is_folded_as_it_was_written() -> Tested {
    let reply = Reply::thinking("Hm.")
        .then_signed_thinking("So.", "sig")
        .then_text("I add.")
        .then_call("add", r#"{"a":1}"#)
        .then_call("add", r#"{"a":"#)
        .usage(Usage::new(7, 3));
    let provider = ScriptedProvider::new([reply]);
    let message = answer(&prepare(&provider, hi()?.tools(tools(&["add"])?)).await?).await?;
    let blocks: Vec<String> = message.content.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    let id = message.response_id.as_deref().and_then(|id| id.strip_prefix("resp_")).ok_or("id")?;
    let origin = r#""origin":{"protocol":"toy","provider":"toy","model":"toy-1"}"#;
    let expected = [
        format!(r#"{{"type":"thinking","text":"Hm.",{origin}}}"#),
        format!(r#"{{"type":"thinking","text":"So.","signature":"sig",{origin}}}"#),
        r#"{"type":"text","text":"I add."}"#.to_owned(),
        format!(r#"{{"type":"toolCall","name":"add","arguments":{{"a":1}},"vendorId":"call_{id}_3"}}"#),
        format!(r#"{{"type":"toolCall","name":"add","arguments":"{{\"a\":","vendorId":"call_{id}_4"}}"#),
    ];
    assert_eq!(blocks, expected);
    assert_eq!((message.stop_reason, message.usage), (StopReason::ToolUse, Usage::new(7, 3)));
    Ok(())
}

#[tokio::test]
async fn stops_and_usage_are_the_scripts() -> Tested {
    let provider = ScriptedProvider::new([
        Reply::text("a"),
        Reply::text("a").stop(StopReason::Refusal).detail("no").without_usage(),
        Reply::empty(),
    ]);
    let request = prepare(&provider, hi()?).await?;
    let (first, second, third) = (answer(&request).await?, answer(&request).await?, answer(&request).await?);
    assert_eq!((first.stop_reason, first.usage), (StopReason::EndTurn, Usage::new(10, 5)));
    assert_eq!((second.stop_reason, second.usage), (StopReason::Refusal, Usage::ZERO));
    assert_eq!(second.error.as_deref(), Some("no"));
    assert_eq!((third.content.len(), third.stop_reason), (0, StopReason::EndTurn));
    Ok(())
}

#[tokio::test]
async fn deltas_have_the_chosen_size() -> Tested {
    for (size, expected) in
        [(0, vec!["z", "w", "ö", "l", "f"]), (2, vec!["zw", "öl", "f"]), (5, vec!["zwölf"]), (9, vec!["zwölf"])]
    {
        let reply = Reply::thinking("zwölf").then_text("zwölf").then_call("add", "zwölf");
        let provider = ScriptedProvider::new([reply.chunks(size)]);
        let request = prepare(&provider, hi()?).await?;
        let all = events(&mut request.send(CancelToken::new()).await?).await?;
        let texts: Vec<&str> = all.iter().filter_map(text_of).collect();
        assert_eq!(texts, expected.repeat(3));
    }
    Ok(())
}

#[tokio::test]
async fn sending_again_is_the_next_reply_under_another_id() -> Tested {
    let provider =
        ScriptedProvider::new([Reply::error(overloaded()), Reply::call("add", "{}"), Reply::call("add", "{}")]);
    let request = prepare(&provider, hi()?.tools(tools(&["add"])?)).await?;
    let error = request.send(CancelToken::new()).await.err().ok_or("no error")?;
    assert_eq!(error.kind(), ProviderErrorKind::Overloaded);
    let (first, second) = (answer(&request).await?, answer(&request).await?);
    assert_ne!(first.response_id, second.response_id);
    let id = |m: &agent_core::AssistantMessage| {
        m.tool_calls().next().and_then(|(_, call): (_, &ToolCall)| call.vendor_id.clone())
    };
    assert!(id(&first).is_some() && id(&first) != id(&second));
    let attempts: Vec<u64> = provider.sent().iter().map(|sent| sent.attempt).collect();
    assert_eq!((attempts, provider.calls().len()), (vec![1, 2, 3], 1));

    // The script is over.
    let over = request.send(CancelToken::new()).await.err().ok_or("no error")?;
    assert_eq!(over.message(), "the script is over after 3 replies; push another");
    let facts = (over.kind(), over.billed(), over.is_retryable());
    assert_eq!(facts, (ProviderErrorKind::Other, Billed::No, false));
    provider.push("more");
    assert_eq!(Message::from(answer(&request).await?).text(), "more");
    Ok(())
}

#[tokio::test]
async fn another_process_goes_on_with_other_ids() -> Tested {
    // Two providers, as before and after a crash, in one conversation.
    let mut ids = IdSource::seeded(1);
    let mut messages = vec![user(&mut ids, "Hi")];
    for _ in 0..2 {
        let provider = ScriptedProvider::new([Reply::call("add", "{}")]);
        let call = ModelCall::new(CallOptions::new("toy-1"), view(messages.clone())?);
        let mut message = answer(&prepare(&provider, call.tools(tools(&["add"])?)).await?).await?;
        message.id = ids.message(0);
        messages.push(message.clone().into());
        messages.extend(results(&mut ids, &message));
    }
    let call = ModelCall::new(CallOptions::new("toy-1"), view(messages)?).tools(tools(&["add"])?);
    let request = prepare(&ScriptedProvider::new(["fine"]), call).await?;
    assert_eq!(Message::from(answer(&request).await?).text(), "fine");
    Ok(())
}

#[tokio::test]
async fn an_error_comes_after_its_events() -> Tested {
    let whole = 6; // start, block start, delta, block end, usage, stop
    for after in [0, 1, 3, whole, 100] {
        let provider = ScriptedProvider::new([Reply::text("a").error_after(after, overloaded())]);
        let request = prepare(&provider, hi()?).await?;
        let mut stream = request.send(CancelToken::new()).await?;
        let mut seen = 0;
        let error = loop {
            match stream.next().await.ok_or("no error")? {
                Ok(_) => seen += 1,
                Err(error) => break error,
            }
        };
        assert_eq!((seen, error.kind()), (after.min(whole), ProviderErrorKind::Overloaded));
        assert!(stream.next().await.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn cancelled_before_the_start_nothing_is_sent() -> Tested {
    let provider = ScriptedProvider::new(["a"]);
    let request = prepare(&provider, hi()?).await?;
    let cancel = CancelToken::new();
    cancel.cancel();
    let error = request.send(cancel).await.err().ok_or("no error")?;
    assert_eq!((error.kind(), error.billed()), (ProviderErrorKind::Cancelled, Billed::No));
    assert_eq!((provider.sent().len(), provider.remaining()), (0, 1));
    Ok(())
}

#[tokio::test]
async fn cancelled_in_mid_stream_the_next_event_is_the_error() -> Tested {
    let gate = Gate::new();
    for reply in [Reply::text("ab").chunks(1), Reply::text("ab").hang_after(2), Reply::text("ab").wait_after(2, &gate)]
    {
        let provider = ScriptedProvider::new([reply]);
        let request = prepare(&provider, hi()?).await?;
        let cancel = CancelToken::new();
        let mut stream = request.send(cancel.clone()).await?;
        for _ in 0..2 {
            stream.next().await.ok_or("too short")??;
        }
        cancel.cancel();
        let next = stream.next().await;
        let error = next.ok_or("no error")?.err().ok_or("an event")?;
        assert_eq!((error.kind(), error.billed()), (ProviderErrorKind::Cancelled, Billed::Unknown));
        assert!(stream.next().await.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn hangs_and_gates_hold() -> Tested {
    let (before, middle) = (Gate::new(), Gate::new());
    let provider = ScriptedProvider::new([
        Reply::hang(),
        Reply::text("a").wait(&before).wait_after(3, &middle),
        Reply::text("a").wait(&Gate::new()),
    ]);
    let request = prepare(&provider, hi()?).await?;

    let cancel = CancelToken::new();
    let mut hung = request.send(cancel.clone());
    assert!(hung.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert_eq!(hung.await.err().map(|e| e.kind()), Some(ProviderErrorKind::Cancelled));

    let mut held = request.send(CancelToken::new());
    assert!(held.as_mut().now_or_never().is_none());
    before.open();
    let mut stream = held.await?;
    for _ in 0..3 {
        stream.next().await.ok_or("too short")??;
    }
    assert!(stream.next().now_or_never().is_none());
    middle.reached().await;
    middle.open();
    assert_eq!(events(&mut stream).await?.len(), 3);

    let cancel = CancelToken::new();
    let mut held = request.send(cancel.clone());
    assert!(held.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert_eq!(held.await.err().map(|e| e.kind()), Some(ProviderErrorKind::Cancelled));
    Ok(())
}

#[tokio::test]
async fn a_prepare_fails_once() -> Tested {
    let provider = ScriptedProvider::new(["a"]);
    provider.fail_prepare(ProviderError::new(ProviderErrorKind::Unsupported, "no images"));
    let failed = provider.prepare(hi()?).await.err().map(|e| e.kind());
    assert_eq!(failed, Some(ProviderErrorKind::Unsupported));
    assert!(provider.calls().is_empty());
    answer(&prepare(&provider, hi()?).await?).await?;
    Ok(())
}

#[tokio::test]
async fn requests_are_segments_that_grow_and_have_a_price() -> Tested {
    let provider = ScriptedProvider::named("p", "q", ["a", "b"]);
    let mut ids = IdSource::seeded(1);
    let options = || CallOptions::new("toy-1").system("Be brief.").max_output(50);
    let first = vec![user(&mut ids, "Hi")];
    let mut second = first.clone();
    let call = ModelCall::new(options(), view(first)?).tools(tools(&["add", "sub"])?);
    let cache = call.cache.clone();
    let one = prepare(&provider, call.note("Only now")).await?;
    let mut message = answer(&one).await?;
    message.id = ids.message(0);
    second.extend([message.into(), user(&mut ids, "And?")]);
    let call = ModelCall::new(options(), view(second)?).tools(tools(&["add", "sub"])?);
    let call = call.cache(cache).previous(*one.chain().ok_or("no chain")?);
    let two = prepare(&provider, call).await?;
    answer(&two).await?;
    assert_cache_stable!(one, two);

    let sent = provider.sent();
    let bodies: Vec<&str> = sent.iter().map(|sent| std::str::from_utf8(&sent.body)).collect::<Result<_, _>>()?;
    let head = concat!(
        r#"{"model":"toy-1","maxOutput":50,"temperature":null,"toolChoice":"auto","#,
        r#""reasoning":"default","tools":["#,
        r#"{"name":"add","description":"a tool","schema":{"type":"object"}},"#,
        r#"{"name":"sub","description":"a tool","schema":{"type":"object"}}],"#,
        r#""system":["Be brief."],"messages":["#,
        r#"{"role":"user","block":{"type":"text","text":"Hi"},"cache":true}"#,
    );
    let tails = [
        r#",{"role":"note","text":"Only now"}]}"#,
        concat!(
            r#",{"role":"assistant","block":{"type":"text","text":"a"}}"#,
            r#",{"role":"user","block":{"type":"text","text":"And?"},"cache":true}]}"#,
        ),
    ];
    assert_eq!(bodies, tails.map(|tail| format!("{head}{tail}")));
    assert_eq!(Some(&sent[0].chain), one.chain());
    assert_eq!(provider.origin("m"), agent_core::Origin::new("p", "q", "m"));

    let TokenBound::AtMost(bound) = two.input_bound() else { return Err("no bound".into()) };
    let length = u64::try_from(bodies[1].len())?;
    assert!(bound <= length && bound + 30 > length, "{bound} {length}");
    let dollar = Money::from_micro_dollars(1_000_000);
    let price = Price::new(Rates::new(dollar, dollar));
    let worst = price.worst_case(two.input_bound(), two.output_bound())?;
    assert_eq!(worst, dollar.times(bound + 50));
    Ok(())
}

#[tokio::test]
async fn media_have_a_bound_of_their_own() -> Tested {
    let image = |source| ContentBlock::Image(ImageBlock::new(source));
    let base64 = image(MediaSource::Base64("A".repeat(100_000)));
    let url = image(MediaSource::Url("https://x.example/a.png".to_owned()));
    for (block, known) in [(base64, true), (url, false)] {
        let message = UserMessage::new(IdSource::seeded(1).message(0), vec![block]);
        let call = ModelCall::new(CallOptions::new("toy-1"), view(vec![message.into()])?);
        match prepare(&ScriptedProvider::new(["a"]), call).await?.input_bound() {
            TokenBound::AtMost(tokens) => assert!(known && (2_000..3_000).contains(&tokens)),
            _ => assert!(!known),
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_function_answers_by_the_call() -> Tested {
    let provider = FnProvider::new(|call| match call.options.model.as_str() {
        "good" => Ok(vec![
            ModelEvent::Start { response_id: None, model: None },
            ModelEvent::Stop { reason: StopReason::EndTurn, detail: None },
        ]),
        _ => Err(overloaded()),
    });
    let hi = hi()?.view;
    let good = prepare(&provider, ModelCall::new(CallOptions::new("good"), hi.clone())).await?;
    assert_eq!(events(&mut good.send(CancelToken::new()).await?).await?.len(), 2);
    let bad = prepare(&provider, ModelCall::new(CallOptions::new("bad"), hi.clone())).await?;
    let failed = bad.send(CancelToken::new()).await.err().map(|e| e.kind());
    assert_eq!(failed, Some(ProviderErrorKind::Overloaded));
    assert_eq!(provider.sent().len(), 2);

    // A list of results ends with its first error.
    let start = || Ok(ModelEvent::Start { response_id: None, model: None });
    let broken = FnProvider::new(move |_| vec![start(), Err(overloaded()), start()]);
    let request = prepare(&broken, ModelCall::new(CallOptions::new("m"), hi)).await?;
    let mut stream = request.send(CancelToken::new()).await?;
    assert!(matches!(stream.next().await, Some(Ok(_))));
    assert!(matches!(stream.next().await, Some(Err(_))));
    assert!(stream.next().await.is_none());

    // It refuses like the other, and then the function is not asked.
    let empty = ModelCall::new(CallOptions::new("good"), agent_core::ContextView::default());
    let refused = prepare(&provider, empty).await?.send(CancelToken::new()).await;
    assert_eq!(refused.err().map(|e| e.kind()), Some(ProviderErrorKind::InvalidRequest));
    Ok(())
}
