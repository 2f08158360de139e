//! Ctrl+C: the tool that runs first, then the run.

use std::sync::{Arc, Mutex, PoisonError};

use agent_core::{
    BoxFuture, CancelToken, Effects, RawJson, Tool, ToolContext, ToolError, ToolOutcome, ToolOutput, ToolSpec,
};

/// The tools that run now, each of which can be stopped alone.
#[derive(Clone, Default)]
pub(crate) struct Stoppable(Arc<Mutex<Vec<(u64, CancelToken)>>>);

impl Stoppable {
    /// A tool that can be stopped while the run goes on; the model is told that the user stopped it.
    pub(crate) fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(Wrapped { tool, all: self.clone() })
    }

    /// Stops what runs; whether anything did.
    pub(crate) fn stop(&self) -> bool {
        let running = std::mem::take(&mut *self.lock());
        running.iter().for_each(|(_, token)| token.cancel());
        !running.is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(u64, CancelToken)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Wrapped {
    tool: Arc<dyn Tool>,
    all: Stoppable,
}

/// Takes a call off the list, however it ends.
struct Listed(Stoppable, u64);

impl Drop for Listed {
    fn drop(&mut self) {
        self.0.lock().retain(|(id, _)| *id != self.1);
    }
}

impl Tool for Wrapped {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn effects(&self, arguments: &RawJson) -> Effects {
        self.tool.effects(arguments)
    }

    fn version(&self) -> &str {
        self.tool.version()
    }

    fn call(&self, arguments: RawJson, mut context: ToolContext) -> BoxFuture<'_, ToolOutcome> {
        let token = context.cancel.child();
        context.cancel = token.clone();
        let listed = {
            let mut all = self.all.lock();
            let id = all.iter().map(|(id, _)| id + 1).max().unwrap_or(0);
            all.push((id, token));
            Listed(self.all.clone(), id)
        };
        Box::pin(async move {
            let _listed = listed;
            // The tool ends by itself when it is told to, with what there is of its output.
            self.tool.call(arguments, context).await
        })
    }

    fn verify(&self, arguments: RawJson, context: ToolContext) -> BoxFuture<'_, Result<Option<ToolOutput>, ToolError>> {
        self.tool.verify(arguments, context)
    }
}
