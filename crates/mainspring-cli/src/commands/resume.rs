//! A saved session goes on.

use std::io::{self, IsTerminal as _};

use agent_core::{ApprovalAnswer, RunEnding};
use agent_session::SessionStore as _;

use super::once;
use crate::{
    args::Resume,
    config,
    drive::is_paused,
    error::{Error, Status},
    setup,
};

pub(crate) async fn resume(resume: Resume) -> Result<Status, Error> {
    let mut options = resume.options;
    let config = config::read(options.config.as_deref())?;
    config.fill(&mut options)?;
    let store = setup::sessions()?;
    let id = match resume.id {
        Some(id) => id,
        None => store.list().await?.first().ok_or(Error::NoSession)?.header.id.to_string(),
    };
    (options.session, options.no_save) = (Some(id), false);
    let talks = io::stdin().is_terminal() && io::stderr().is_terminal();
    let setup = setup::setup(&options, &config, talks && !options.yes && !options.json).await?;
    let answers = match (resume.allow, resume.deny) {
        (true, _) => Some(ApprovalAnswer::Allow),
        (false, Some(reason)) => Some(ApprovalAnswer::Deny(reason)),
        (false, None) => None,
    };
    let recovery = setup.conversation.recovery()?;
    let is_open = !recovery.is_clean() || setup.conversation.last_ending() == Some(RunEnding::Paused);
    if resume.prompt.is_none() && !is_open && talks && !options.json {
        return super::chat::talk(setup, &options).await;
    }
    let mut show = once::show(&options);
    once::introduce(&setup, &options, &mut show)?;
    for interrupted in &recovery.interrupted {
        show.note(&format!("`{}` was interrupted: {:?}", interrupted.tool, interrupted.recourse))?;
    }
    let asks = talks && !options.yes && !options.json;
    let mut inputs = once::inputs(asks);
    let mut status = Status::Done;
    if is_open {
        if let Some(answer) = &answers {
            let asked: Vec<_> = setup.conversation.state()?.pending_approvals().map(|intent| intent.call).collect();
            for call in asked {
                setup.conversation.answer(call, answer.clone()).await?;
            }
        }
        let run = setup.conversation.resume()?;
        let (report, ended) = once::drive(&setup, &mut show, &mut inputs).run(run).await?;
        status = ended;
        if is_paused(&report) {
            once::finish(setup).await?;
            return Ok(status);
        }
    } else if resume.prompt.is_none() {
        show.note("nothing is open in this session; say what to do next with --prompt")?;
    }
    if let Some(prompt) = &resume.prompt {
        let run = setup.conversation.run(prompt.as_str())?;
        status = once::drive(&setup, &mut show, &mut inputs).run(run).await?.1;
    }
    once::finish(setup).await?;
    Ok(status)
}
