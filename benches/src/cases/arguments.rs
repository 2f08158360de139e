//! Tool arguments in small deltas, beside text in the same deltas.

use std::hint::black_box;

use agent_core::{Assembler, BlockStart, ByteString, IdSource, ModelEvent};

use super::{Case, Growth, PerUnit, VersusFloor};

/// 1 MB in deltas of 5 bytes.
const MEGABYTE: u64 = 200_000;

pub(super) const ARGUMENTS: Case = Case {
    name: "tool-arguments",
    unit: "delta of 5 bytes",
    run: |n| {
        let name = ByteString::from("write");
        fold(n, BlockStart::ToolCall { name, vendor_id: None }, |json| ModelEvent::ArgumentsDelta { block: 0, json });
    },
    per_unit: PerUnit { lo: MEGABYTE / 4, hi: MEGABYTE, max: Some(450) },
    growth: Some(Growth { n: MEGABYTE, n_dev: MEGABYTE / 20, max_tenths: 22 }),
    floor: Some(VersusFloor { name: "text-deltas", max_tenths: 45, routine: false }),
};

pub(super) const TEXT: Case = Case {
    name: "text-deltas",
    unit: "delta of 5 bytes",
    run: |n| fold(n, BlockStart::Text, |text| ModelEvent::TextDelta { block: 0, text }),
    per_unit: PerUnit { lo: MEGABYTE / 4, hi: MEGABYTE, max: None },
    growth: Some(Growth { n: MEGABYTE, n_dev: MEGABYTE / 20, max_tenths: 22 }),
    floor: None,
};

fn fold(n: u64, start: BlockStart, delta: impl Fn(ByteString) -> ModelEvent) {
    let mut assembler = Assembler::new(IdSource::seeded(1).message(0));
    let mut push = |event: &ModelEvent| drop(black_box(assembler.push(event)));
    push(&ModelEvent::BlockStart { block: 0, start });
    push(&delta("{\"text\":\"".into()));
    let some = ["fn ma", "in() ", "{\\n  ", "let a", " = 1;"].map(|text| delta(text.into()));
    for event in some.iter().cycle().zip(0..n).map(|(event, _)| event) {
        push(event);
    }
    push(&delta("\"}".into()));
    // A reader follows the field at every delta for nothing, so one look is enough here.
    black_box(assembler.arguments(0).and_then(|arguments| arguments.field("text")?.text()).map(str::len));
    black_box(assembler.finish());
}
