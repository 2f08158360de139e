//! Examples live in `examples/`; the code of the README and of the book is compiled and run here.

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[doc = include_str!($path)]
            #[cfg(doctest)]
            pub mod $name {}
        )*
    };
}

pages! {
    readme: "../../README.md",
    run: "../../docs/run.md",
    steering: "../../docs/steering.md",
    approvals: "../../docs/approvals.md",
    telemetry: "../../docs/telemetry.md",
    loop_readme: "../../crates/agent-loop/README.md",
    messages: "../../docs/messages.md",
    transcripts: "../../docs/transcripts.md",
    requests: "../../docs/requests.md",
    answers: "../../docs/answers.md",
    wires: "../../docs/wires.md",
    anthropic: "../../docs/anthropic.md",
    anthropic_readme: "../../crates/agent-anthropic/README.md",
    openai: "../../docs/openai.md",
    google: "../../docs/google.md",
    http: "../../docs/http.md",
    http_readme: "../../crates/agent-http/README.md",
    models: "../../docs/models.md",
    models_readme: "../../crates/agent-models/README.md",
    tools: "../../docs/tools.md",
    builtin_tools: "../../docs/builtin-tools.md",
    hooks: "../../docs/hooks.md",
    budgets: "../../docs/budgets.md",
    journal: "../../docs/journal.md",
    sessions: "../../docs/sessions.md",
    session_readme: "../../crates/agent-session/README.md",
    errors: "../../docs/errors.md",
    testing: "../../docs/testing.md",
}
