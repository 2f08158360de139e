//! `cargo xtask bench --peers`: what Mainspring costs beside other libraries and beside a floor, in one run.

mod client;
mod figures;
mod measure;
mod server;
mod table;

use std::fs;

use crate::{
    metadata,
    report::{Error, Fault, Report},
    runner::Runner,
};
use client::{CLIENTS, Client, Place};
use figures::Extent;
use measure::Bench;
use server::Server;

pub(crate) fn run(runner: &Runner, args: &[String]) -> Result<Report, Error> {
    let Some(asked) = Asked::read(args)? else {
        let what = "says no part";
        return Ok(Report::new("nothing run", vec![Fault::new("bench", what, "name a part: `--peers`")]));
    };
    let target = metadata::load(runner)?.target.join("bench-peers");
    let place = Place { runner, target, processor: client::processor() };
    if !place.builds(&[client::SERVER])? {
        let fault = Fault::new(client::SERVER, "does not build, see above", "mend benches/peers/server");
        return Ok(Report::new("nothing run", vec![fault]));
    }
    let mut faults = Vec::new();
    let (mut clients, mut missing): (Vec<&Client>, Vec<&Client>) = (Vec::new(), Vec::new());
    for client in CLIENTS.iter().filter(|client| asked.wants(client)) {
        let builds = place.builds(&client.packages())?;
        if !builds && client.is_own() {
            faults.push(Fault::new(client.package, "does not build, see above", "mend benches/peers"));
        }
        if builds { clients.push(client) } else { missing.push(client) }
    }
    let server = Server::start(&place)?;
    let bench = Bench::new(&place, &server, asked.fast)?;
    let mut report = String::new();
    if place.processor.is_none() {
        println!("taskset is not installed: CPU times vary with where the kernel puts the programs");
    }
    if !bench.counts() {
        println!("valgrind is not installed: no instructions are counted");
    }
    for figure in figures::ALL {
        let Some(table) = figure(&bench, &clients, Extent::of(asked.fast))? else { continue };
        let text = table.to_string();
        println!("{text}");
        report.push_str(&text);
        report.push('\n');
        faults.extend(table.faults());
    }
    for client in missing {
        let line = format!("{}: not built\n", client.name);
        print!("{line}");
        report.push_str(&line);
    }
    let path = place.target.with_extension("md");
    fs::write(&path, report).map_err(|source| Error::Write { path: path.clone(), source })?;
    Ok(Report::new(format!("{} faults, written to {}", faults.len(), path.display()), faults))
}

/// What the command line asks for.
#[derive(Debug, Default)]
struct Asked {
    only: Vec<String>,
    fast: bool,
}

impl Asked {
    /// `None` where no part is named.
    fn read(args: &[String]) -> Result<Option<Self>, Error> {
        let mut asked = Self::default();
        let mut peers = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--peers" => peers = true,
                "--fast" => asked.fast = true,
                "--only" => match args.next().filter(|name| CLIENTS.iter().any(|client| client.key == **name)) {
                    Some(name) => asked.only.push(name.clone()),
                    None => return Err(Error::Argument { command: "bench", argument: arg.clone() }),
                },
                other => return Err(Error::Argument { command: "bench", argument: other.to_owned() }),
            }
        }
        Ok(peers.then_some(asked))
    }

    fn wants(&self, client: &Client) -> bool {
        match self.only.as_slice() {
            [] => !self.fast || client.is_own(),
            only => only.iter().any(|key| *key == client.key),
        }
    }
}

#[cfg(test)]
mod tests {
    //! What the command line means.

    use super::{Asked, CLIENTS};

    fn wanted(args: &[&str]) -> Option<Vec<&'static str>> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let asked = Asked::read(&args).ok()??;
        let mut keys: Vec<_> = CLIENTS.iter().filter(|client| asked.wants(client)).map(|client| client.key).collect();
        keys.dedup();
        Some(keys)
    }

    #[test]
    fn the_command_line_chooses_clients() {
        let all = ["floor", "ours", "yoagent", "rig", "genai", "async-openai"];
        assert_eq!(wanted(&["--peers"]), Some(all.to_vec()));
        assert_eq!(wanted(&["--peers", "--fast"]), Some(vec!["floor", "ours"]));
        assert_eq!(wanted(&["--peers", "--only", "rig", "--only", "ours"]), Some(vec!["ours", "rig"]));
        assert_eq!(wanted(&["--fast"]), None);
        assert_eq!(wanted(&["--peers", "--only", "nobody"]), None);
        assert_eq!(wanted(&["--peers", "--only"]), None);
        assert_eq!(wanted(&["--peers", "more"]), None);
    }
}
