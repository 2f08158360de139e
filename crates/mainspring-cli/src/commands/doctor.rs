//! What is there and what is missing.

use std::io::{self, IsTerminal as _, Write as _};

use agent_models::Catalogue;
use agent_tools::{Sandbox, SandboxMode, Workspace};
use serde_json::json;

use super::once::width;
use crate::{
    args::Doctor,
    choose::{self, key_of},
    config,
    error::{Error, Status},
    setup,
};

pub(crate) async fn doctor(args: Doctor) -> Result<Status, Error> {
    let mut checks: Vec<(&str, bool, String)> = Vec::new();
    let config = config::read(args.config.as_deref());
    let place = config::path(args.config.as_deref()).map(|(path, _)| path);
    checks.push(match (&config, &place) {
        (Err(error), _) => ("configuration", false, error.text()),
        (Ok(_), Some(path)) if path.exists() => ("configuration", true, path.display().to_string()),
        (Ok(_), Some(path)) => ("configuration", true, format!("none; it would be {}", path.display())),
        (Ok(_), None) => ("configuration", true, "none: neither HOME nor XDG_CONFIG_HOME is set".into()),
    });
    let config = config.unwrap_or_default();

    let providers = Catalogue::bundled().providers();
    let keys: Vec<String> =
        providers.iter().filter_map(|provider| Some(format!("{} ({})", provider.id, key_of(&provider.id)?))).collect();
    checks.push(("keys", true, if keys.is_empty() { "none in the environment".into() } else { keys.join(", ") }));

    let addresses = choose::addresses(&config);
    let found = futures_util::future::join_all(addresses.iter().cloned().map(choose::probe)).await;
    let servers: Vec<String> = found
        .into_iter()
        .flatten()
        .map(|server| format!("{} ({})", server.address, server.models.join(", ")))
        .collect();
    let none = format!("none answers at {}", addresses.join(", "));
    checks.push(("local servers", true, if servers.is_empty() { none } else { servers.join(", ") }));

    let chosen = choose::choose(config::env("MAINSPRING_MODEL").as_deref(), &config).await;
    checks.push(match chosen {
        Ok(chosen) => ("model", true, format!("{}: {}", chosen.name, chosen.why.unwrap_or_else(|| "named".into()))),
        Err(error) => ("model", false, error.text()),
    });

    let sandbox = Workspace::new(".").map(|workspace| Sandbox::new(SandboxMode::BestEffort).probe(&workspace));
    checks.push(match sandbox {
        Ok(status) => ("sandbox", true, status.to_string()),
        Err(error) => ("sandbox", false, error.to_string()),
    });

    let terminal = match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        (true, true) => format!("{} cells wide, TERM={}", width(), config::env("TERM").unwrap_or_default()),
        _ => "input or output is no terminal: answers are plain, nothing is asked".into(),
    };
    checks.push(("terminal", true, terminal));
    checks.push(match setup::sessions_folder() {
        Ok(folder) => ("sessions", true, folder.display().to_string()),
        Err(error) => ("sessions", false, error.text()),
    });

    let good = checks.iter().all(|(_, good, _)| *good);
    let text = if args.json {
        let all = checks.iter().map(|(name, good, what)| json!({"check": name, "ok": good, "what": what}));
        format!("{}\n", json!({"ok": good, "checks": all.collect::<Vec<_>>()}))
    } else {
        checks.iter().fold(String::new(), |text, (name, good, what)| {
            format!("{text}{} {name:14} {what}\n", if *good { "ok " } else { "BAD" })
        })
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if good { Status::Done } else { Status::Failed })
}
