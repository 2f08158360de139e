//! An agent: a setting, which owns nothing of any run.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use agent_core::{
    ApprovalAnswer, BoxFuture, Budget, CallIntent, CallOptions, ContextPolicy, Hook, ModelFacts, OnFailure, Provider,
    ReadSchema, Timer, TokenCounter, Tool, ToolSet, ToolSpecError, Validator,
};

use crate::{
    MachineSetup, RunSettings,
    hooks::{Hooks, Installed},
    telemetry::{MetricSink, Sink},
};

/// Somebody who answers approvals while a run waits: a policy, or a way to a person.
pub trait Approver: Send + Sync {
    /// Answers. The run waits as long as the approval is valid; dropping the future takes the question back.
    fn answer(&self, intent: CallIntent) -> BoxFuture<'static, ApprovalAnswer>;
}

/// A provider, a model, tools, hooks, policies and limits. A clone is the same agent, and many conversations of one
/// agent can be on at once.
///
/// ```
/// use agent_core::CallOptions;
/// use agent_loop::{Agent, Conversation};
/// use agent_testkit::{PausedTimer, Reply, ScriptedProvider};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let model = ScriptedProvider::new([Reply::text("Hello!")]);
/// let agent = Agent::builder(model, CallOptions::new("toy-1"), PausedTimer::at(0)).build()?;
/// let conversation = Conversation::new(&agent);
/// let report = conversation.run("Hi")?.into_report().await;
/// assert_eq!(report.final_text(), "Hello!");
/// assert_eq!(conversation.messages().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).map_err(|e| e.to_string())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    pub(crate) tools: HashMap<String, Arc<OfferedTool>>,
    pub(crate) hooks: Hooks,
    pub(crate) tree_hooks: Arc<[Arc<dyn Hook>]>,
    pub(crate) policy: Option<Arc<dyn ContextPolicy>>,
    pub(crate) counter: Option<Arc<dyn TokenCounter>>,
    /// One of the caller's; else core's structural check.
    pub(crate) validator: Option<Arc<dyn Validator>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) budget: Option<Budget>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) metrics: Sink,
    pub(crate) setup: Arc<MachineSetup>,
}

/// A tool with its schema, which is read when it is called first.
pub(crate) struct OfferedTool {
    pub(crate) tool: Arc<dyn Tool>,
    schema: OnceLock<ReadSchema>,
}

impl OfferedTool {
    fn new(tool: Arc<dyn Tool>) -> Self {
        Self { tool, schema: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &ReadSchema {
        self.schema.get_or_init(|| ReadSchema::of(self.tool.spec().schema()))
    }
}

/// Puts an agent together.
pub struct AgentBuilder {
    models: Vec<(Arc<dyn Provider>, Arc<CallOptions>, ModelFacts)>,
    tools: Vec<Arc<dyn Tool>>,
    metrics: Sink,
    hooks: Vec<Installed>,
    tree_hooks: Vec<Arc<dyn Hook>>,
    policy: Option<Arc<dyn ContextPolicy>>,
    counter: Option<Arc<dyn TokenCounter>>,
    validator: Option<Arc<dyn Validator>>,
    approver: Option<Arc<dyn Approver>>,
    budget: Option<Budget>,
    timer: Arc<dyn Timer>,
    settings: RunSettings,
}

impl Agent {
    /// An agent that asks this provider with these options, by this clock.
    pub fn builder(
        provider: impl Provider + 'static,
        options: impl Into<Arc<CallOptions>>,
        timer: impl Timer + 'static,
    ) -> AgentBuilder {
        Self::shared(Arc::new(provider), options, Arc::new(timer))
    }

    /// The same for a provider and a clock that are shared already.
    pub fn shared(
        provider: Arc<dyn Provider>,
        options: impl Into<Arc<CallOptions>>,
        timer: Arc<dyn Timer>,
    ) -> AgentBuilder {
        let options = options.into();
        let facts = ModelFacts::new("", &options.model);
        AgentBuilder {
            models: vec![(provider, options, facts)],
            tools: Vec::new(),
            metrics: None,
            hooks: Vec::new(),
            tree_hooks: Vec::new(),
            policy: None,
            counter: None,
            validator: None,
            approver: None,
            budget: None,
            timer,
            settings: RunSettings::default(),
        }
    }

    /// What a machine has to know of the agent: for hosts that drive it themselves.
    pub fn setup(&self) -> &Arc<MachineSetup> {
        &self.0.setup
    }
}

impl AgentBuilder {
    /// What is known of the model that was named last: its price, its window.
    #[must_use]
    pub fn facts(mut self, facts: ModelFacts) -> Self {
        if let Some(model) = self.models.last_mut() {
            model.2 = facts;
        }
        self
    }

    /// Another model, for when the ones before cannot be paid or do not answer.
    #[must_use]
    pub fn fallback(
        mut self,
        provider: Arc<dyn Provider>,
        options: impl Into<Arc<CallOptions>>,
        facts: ModelFacts,
    ) -> Self {
        self.models.push((provider, options.into(), facts));
        self
    }

    /// A tool.
    #[must_use]
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared_tool(Arc::new(tool))
    }

    /// A tool that is shared already.
    #[must_use]
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// A hook, and what its failure means.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>, on_failure: OnFailure) -> Self {
        self.hooks.push(Installed { hook, on_failure });
        self
    }

    /// A hook that reaches every run below this one too, and cannot be removed there. Its failure denies.
    #[must_use]
    pub fn tree_hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.tree_hooks.push(hook);
        self
    }

    /// What keeps a conversation within its window.
    #[must_use]
    pub fn context_policy(mut self, policy: impl ContextPolicy + 'static) -> Self {
        self.policy = Some(Arc::new(policy));
        self
    }

    /// What counts tokens for the context policy; without one they are estimated.
    #[must_use]
    pub fn token_counter(mut self, counter: impl TokenCounter + 'static) -> Self {
        self.counter = Some(Arc::new(counter));
        self
    }

    /// What checks arguments against a tool's schema; core's structural check without one.
    #[must_use]
    pub fn validator(mut self, validator: impl Validator + 'static) -> Self {
        self.validator = Some(Arc::new(validator));
        self
    }

    /// Who answers approvals while a run waits for them.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// What all conversations of the agent may spend together.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets who measures: durations, tokens and costs of runs, calls and tools.
    #[must_use]
    pub fn metrics(mut self, sink: Arc<dyn MetricSink>) -> Self {
        self.metrics = Some(sink);
        self
    }

    /// Limits, retries and the like.
    #[must_use]
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// [`ToolSpecError::Duplicate`] where two tools have one name.
    pub fn build(self) -> Result<Agent, ToolSpecError> {
        let set = ToolSet::new(self.tools.iter().map(|tool| tool.spec().clone()).collect())?;
        let tree = self.tree_hooks.iter().map(|hook| Installed { hook: hook.clone(), on_failure: OnFailure::Deny });
        let all: Arc<[Installed]> = tree.chain(self.hooks).collect();
        let setup = MachineSetup {
            models: self.models.iter().map(|(_, options, facts)| (options.clone(), facts.clone())).collect(),
            tools: set,
            hooks: !all.is_empty(),
            policy: self.policy.is_some(),
            counter: self.counter.is_some(),
            budget: self.budget.is_some(),
            settings: self.settings,
        };
        let bound_ms = setup.settings.hook_ms;
        Ok(Agent(Arc::new(Parts {
            providers: self.models.into_iter().map(|(provider, ..)| provider).collect(),
            tools: self
                .tools
                .into_iter()
                .map(|tool| (tool.spec().name().to_owned(), Arc::new(OfferedTool::new(tool))))
                .collect(),
            hooks: Hooks { all, timer: self.timer.clone(), bound_ms },
            tree_hooks: self.tree_hooks.into(),
            policy: self.policy,
            counter: self.counter,
            validator: self.validator,
            approver: self.approver,
            budget: self.budget,
            timer: self.timer,
            metrics: self.metrics,
            setup: Arc::new(setup),
        })))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let models = self.0.setup.models.iter().map(|(options, _)| &options.model);
        f.debug_struct("Agent")
            .field("models", &models.collect::<Vec<_>>())
            .field("tools", &self.0.setup.tools)
            .finish()
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
