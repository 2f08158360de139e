//! The check names the cause, the segment and the byte.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agent_core::{CacheBreakCause, CallOptions, IdSource, ModelCall, Prepared, Provider, Reasoning, ToolSet};
use agent_testkit::{CacheUnstable, ScriptedProvider, assert_cache_stable, check_cache_stable};

use crate::support::{Tested, assistant, tools, user, view};

async fn prepared(
    options: CallOptions,
    tools: ToolSet,
    texts: &[&str],
) -> Result<Prepared, Box<dyn std::error::Error>> {
    let mut ids = IdSource::seeded(1);
    let messages = texts.iter().enumerate().map(|(at, text)| match at % 2 {
        0 => user(&mut ids, text),
        _ => assistant(&mut ids, vec![(*text).into()]).into(),
    });
    let call = ModelCall::new(options, view(messages.collect())?).tools(tools);
    Ok(ScriptedProvider::new([""; 0]).prepare(call).await?)
}

#[tokio::test]
async fn growth_is_stable_and_change_is_not() -> Tested {
    let plain = || CallOptions::new("toy-1").system("Be brief.");
    let (none, add) = (ToolSet::default(), tools(&["add"])?);
    let first = prepared(plain(), none.clone(), &["Hi"]).await?;
    let grown = prepared(plain(), none.clone(), &["Hi", "Hello", "And?"]).await?;
    assert_cache_stable!(first, first);
    assert_cache_stable!(first, grown);
    // What the vendor's cache ignores.
    let limited = plain().max_output(5).temperature(0.5);
    assert_cache_stable!(first, prepared(limited, none.clone(), &["Hi"]).await?);

    let hidden = plain();
    for (options, tools, texts, cause) in [
        (CallOptions::new("toy-2").system("Be brief."), &none, ["Hi"], CacheBreakCause::Identity),
        (plain(), &add, ["Hi"], CacheBreakCause::Tools),
        (plain().system("Be kind."), &none, ["Hi"], CacheBreakCause::System),
        (plain().reasoning(Reasoning::Off), &none, ["Hi"], CacheBreakCause::MessageOptions),
        (hidden, &none, ["Ho"], CacheBreakCause::Messages),
    ] {
        let other = prepared(options, tools.clone(), &texts).await?;
        let found = check_cache_stable(&first, &other);
        let Err(CacheUnstable::Diverges { cause: found, .. }) = found else {
            return Err(format!("{cause:?}: {found:?}").into());
        };
        assert_eq!(found, cause);
    }
    Ok(())
}

#[tokio::test]
async fn the_failure_names_the_place() -> Tested {
    let plain = || CallOptions::new("toy-1");
    let first = prepared(plain(), ToolSet::default(), &["Hi", "Hello", "And?"]).await?;
    let other = prepared(plain(), ToolSet::default(), &["Hi", "Hullo", "And?"]).await?;
    let Err(CacheUnstable::Diverges { segment, byte: Some(byte), .. }) = check_cache_stable(&first, &other) else {
        return Err("no byte".into());
    };
    let segments = other.segments().ok_or("no segments")?;
    assert_eq!(segment, segments.prelude().len() + 1);
    // Without markers, which stand outside the count.
    let body = segments.to_bytes();
    let body = String::from_utf8(body.to_vec())?.replace(r#","cache":true"#, "");
    let behind = body.get(usize::try_from(byte)?..).ok_or("beyond the body")?;
    assert!(behind.starts_with("ullo"), "{body} {byte}");

    let failure = catch_unwind(AssertUnwindSafe(|| assert_cache_stable!(first, other))).err().ok_or("no failure")?;
    let message = failure.downcast_ref::<String>().ok_or("no message")?;
    let expected = format!("the prompt cache breaks: Messages changed at segment {segment}, byte {byte}");
    assert_eq!(*message, expected);
    Ok(())
}
