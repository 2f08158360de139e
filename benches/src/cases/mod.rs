//! The table of cases. A new case is a file here and a row in [`CASES`].

mod anthropic;
mod arguments;
mod encode;
mod http;
mod openai;
mod prepare;
mod session;
pub mod sse;
mod turns;

/// A piece of work of size `n` whose instructions are counted.
///
/// Its preparation must cost the same whatever `n` is, because only differences are judged.
#[derive(Debug)]
#[non_exhaustive]
pub struct Case {
    /// What the command line calls it.
    pub name: &'static str,
    /// What `n` counts.
    pub unit: &'static str,
    /// Does the work; the result must go through `black_box`.
    pub run: fn(u64),
    /// What one unit costs: (I(hi) - I(lo)) / (hi - lo).
    pub per_unit: PerUnit,
    /// How the cost grows, if that is judged.
    pub growth: Option<Growth>,
    /// Another case that does the least that can be done, if that is judged.
    pub floor: Option<VersusFloor>,
}

/// Between which sizes a unit is measured and what it may cost.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PerUnit {
    /// The small size.
    pub lo: u64,
    /// The large size.
    pub hi: u64,
    /// The most instructions that one unit may cost in the release profile; `None` informs only.
    pub max: Option<u64>,
}

/// How much more twice the work may cost.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Growth {
    /// The size in a release run, large enough that starting up does not matter.
    pub n: u64,
    /// The size in a routine test run, of the dev profile.
    pub n_dev: u64,
    /// The largest I(2n) / I(n), times ten.
    pub max_tenths: u64,
}

/// How many times the floor's cost per unit is allowed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VersusFloor {
    /// The name of the floor's case.
    pub name: &'static str,
    /// The largest quotient, times ten.
    pub max_tenths: u64,
    /// Whether a routine test run judges it too, in the dev profile.
    pub routine: bool,
}

/// All cases.
pub static CASES: &[Case] = &[
    sse::FRAME_300,
    sse::FRAME_300_TYPED,
    sse::FRAME_300_BAD_COMMENT,
    sse::FLOOR_LINES,
    sse::ONE_EVENT,
    sse::FLOOR_ONE_EVENT,
    sse::FLOOR_ONE_EVENT_UTF8,
    sse::MANY_LINES,
    anthropic::TEXT_DELTA,
    openai::TEXT_DELTA,
    openai::PADDED_DELTA,
    openai::ARGUMENTS_DELTA,
    encode::ANTHROPIC_50,
    encode::ANTHROPIC_1000,
    encode::OPENAI_50,
    encode::OPENAI_1000,
    arguments::ARGUMENTS,
    arguments::TEXT,
    prepare::AFTER_10,
    prepare::AFTER_1000,
    prepare::AFTER_5000,
    turns::AFTER_10,
    turns::AFTER_100,
    turns::AFTER_300,
    turns::AFTER_1000,
    turns::AFTER_5000,
    session::APPEND,
    session::FLOOR_APPEND,
    session::BRANCH,
    session::FLOOR_BRANCH,
    session::LOAD,
    session::FLOOR_LOAD,
    session::WHOLE,
    http::REQUEST,
    http::FLOOR_REQUEST,
];

/// The case of that name.
#[must_use]
pub fn case(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}
