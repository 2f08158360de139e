//! Where a run can be, and where it can go from there: the state diagram, as data that tests hold against the code.

macro_rules! phases {
    ($( $(#[$about:meta])* $phase:ident => [$($next:ident),*]; )*) => {
        /// Where a run is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Phase { $( $(#[$about])* $phase, )* }

        impl Phase {
            /// Every phase with the phases that can follow it: the state diagram of a run.
            pub const DIAGRAM: &'static [(Self, &'static [Self])] = &[$( (Self::$phase, &[$(Self::$next),*]), )*];

            /// The phases that can follow this one.
            pub fn next(self) -> &'static [Self] {
                Self::DIAGRAM.iter().find(|(phase, _)| *phase == self).map_or(&[], |(_, next)| *next)
            }
        }
    };
}

phases! {
    /// What a crash left open is looked for and settled.
    Start => [Heal, BeginTurn];
    /// Calls that a crash left open are answered.
    Heal => [BeginTurn, End];
    /// A turn begins.
    BeginTurn => [Input, Answered];
    /// Prompts, steering and follow-ups pass the hooks and enter the history.
    Input => [Limits, CloseTurn];
    /// Limits are looked at.
    Limits => [BeforeTurn, CloseTurn];
    /// Hooks may end the run.
    BeforeTurn => [Context, CloseTurn];
    /// The context policy edits what the model is shown.
    Context => [BeforeModel, Prepare, CloseTurn];
    /// Hooks may add a note, change options, or end the run.
    BeforeModel => [Prepare, CloseTurn];
    /// The request is made; the cache guard compares it with the last one.
    Prepare => [Reserve, OnError, CloseTurn];
    /// The budget holds the worst case.
    Reserve => [StartCall, Prepare, BeforeModel, CloseTurn];
    /// The journal has that the call is about to be sent.
    StartCall => [Call, CloseTurn];
    /// The model answers.
    Call => [Settle];
    /// The journal has the answer; the budget has its cost.
    Settle => [OnError, Answered, BeforeModel, CloseTurn];
    /// Hooks hear of a failed call.
    OnError => [Backoff, Context, BeforeModel, Prepare, CloseTurn];
    /// The wait before the next attempt.
    Backoff => [Reserve, CloseTurn];
    /// The answer is looked at: refusals, loops, empty answers.
    Answered => [Judge, CloseTurn];
    /// Calls are checked, and hooks asked.
    Judge => [Tools];
    /// Tools run, in waves.
    Tools => [CloseTurn, Paused];
    /// Hooks see the turn; it ends.
    CloseTurn => [BeginTurn, OnStop, End];
    /// Hooks may send the model on.
    OnStop => [BeginTurn, End];
    /// The run waits for answers, as data.
    Paused => [End];
    /// The journal has the ending; hooks finish.
    End => [Done];
    /// Nothing follows.
    Done => [];
}
