//! What was saved.

use std::{
    fs,
    io::{self, Write as _},
};

use agent_core::RecordBody;
use agent_session::{ExportFormat, Session, SessionStore as _};

use crate::{
    args::{SessionsArgs, SessionsCommand, View},
    error::{Error, Status},
    setup,
    terminal::{cut, safe},
};

/// How many hits are shown.
const HITS: usize = 50;

pub(crate) async fn sessions(args: SessionsArgs) -> Result<Status, Error> {
    let store = setup::sessions()?;
    let mut text = String::new();
    match args.command.unwrap_or(SessionsCommand::List) {
        SessionsCommand::List => {
            for summary in store.list().await? {
                let title = cut(summary.title.as_deref().unwrap_or("(nothing was asked)"), 60);
                let folder = summary.header.cwd.as_deref().unwrap_or_default();
                text.push_str(&format!("{}  {title}  {}\n", summary.header.id, safe(folder)));
            }
            if text.is_empty() {
                text.push_str("no session was saved yet\n");
            }
        }
        SessionsCommand::Search { text: wanted } => {
            for hit in store.search(&wanted, HITS).await? {
                text.push_str(&format!("{}  {}\n", hit.session, cut(&hit.excerpt, 90)));
            }
            if text.is_empty() {
                text.push_str("nothing found\n");
            }
        }
        SessionsCommand::Tree { id } => text = tree(&open(&id).await?).await?,
        SessionsCommand::Show { id } => text = open(&id).await?.export(ExportFormat::Markdown).await?.text,
        SessionsCommand::Export { id, format } => {
            let format = format.parse().map_err(|_| Error::Format { format })?;
            let exported = open(&id).await?.export(format).await?;
            for loss in &exported.losses {
                io::stderr().write_all(format!("not in it: {}\n", loss.what).as_bytes())?;
            }
            text = exported.text;
        }
        SessionsCommand::Rm { id } => {
            let found = store.find(&id).await?.header.id;
            store.delete(found).await?;
            text = format!("removed {found}\n");
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}

async fn open(id: &str) -> Result<Session, Error> {
    let store = setup::sessions()?;
    Ok(store.open(store.find(id).await?.header.id).await?)
}

/// The branches: each tip with what was asked last on its way.
pub(super) async fn tree(session: &Session) -> Result<String, Error> {
    let head = session.head();
    let mut text = format!("{} ({} entries)\n", session.id(), session.len());
    for tip in session.branch_tips() {
        let path = session.path_to(tip.id)?;
        let records = session.records(&path).await?;
        let asked = records.into_iter().flatten().rev().find_map(|record| match record.body {
            RecordBody::MessageAppended(message) => Some(message.text()),
            _ => None,
        });
        let mark = if head == Some(tip.id) { '*' } else { ' ' };
        let asked = cut(asked.as_deref().unwrap_or("(nothing was asked)"), 70);
        text.push_str(&format!("{mark} {}  {} entries  {asked}\n", tip.id, path.len()));
    }
    for (name, entry) in session.labels() {
        text.push_str(&format!("  {} = {entry}\n", safe(&name)));
    }
    Ok(text)
}

pub(crate) async fn view(args: View) -> Result<Status, Error> {
    let page = open(&args.id).await?.page().await?;
    match args.output {
        Some(path) => {
            fs::write(&path, page)?;
            io::stderr().write_all(format!("wrote {}\n", path.display()).as_bytes())?;
        }
        None => io::stdout().lock().write_all(page.as_bytes())?,
    }
    Ok(Status::Done)
}
