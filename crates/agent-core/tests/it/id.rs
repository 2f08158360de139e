//! Ids: their text, their order, and what is no id.
#![expect(clippy::string_slice, reason = "the text is cut at the ends of characters")]

use agent_core::{AttemptId, CallId, IdSource, MessageId, RunId};
use proptest::prelude::*;

const A: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn known_texts() {
    let check = |bits: u128, text: &str| {
        assert_eq!(MessageId::from_bits(bits).to_string(), text);
        assert_eq!(text.parse(), Ok(MessageId::from_bits(bits)));
        assert_eq!(text.parse(), Ok(RunId::from_bits(bits)));
        assert_eq!(text.parse(), Ok(AttemptId::from_bits(bits)));
    };
    check(0, "00000000000000000000000000");
    check(31, "0000000000000000000000000Z");
    check(32, "00000000000000000000000010");
    check(u128::MAX, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    // The example of https://github.com/ulid/spec, made at 1469922850259 ms.
    check(1_469_922_850_259 << 80 | 0xD676_4C61_EFB9_9302_BD5B, A);
}

#[test]
fn rejected() {
    let check = |text: &str| {
        assert!(text.parse::<MessageId>().is_err(), "{text}");
        assert!(serde_json::from_value::<MessageId>(text.into()).is_err(), "{text}");
        assert!(format!("{text}_0").parse::<CallId>().is_err(), "{text}");
    };
    check("");
    check(&A[1..]);
    check(&format!("{A}0"));
    check(&A.to_lowercase());
    check("81ARZ3NDEKTSV4RRFFQ69G5FAV"); // more than 128 bits
    for c in ['I', 'L', 'O', 'U', '-', ' ', '\0'] {
        check(&A.replacen('R', &c.to_string(), 1));
    }
    check(&format!("{}é", &A[..24])); // 26 bytes
    assert!(A.parse::<MessageId>().is_ok());
}

#[test]
fn rejected_calls() {
    for tail in ["", "_", "_x", "_-1", "_4294967296", "-0", "_0_0", "_ 1", "_+1", "_01", "_00"] {
        assert!(format!("{A}{tail}").parse::<CallId>().is_err(), "{tail}");
    }
    assert_eq!(format!("{A}_4294967295").parse::<CallId>().map(CallId::block), Ok(u32::MAX));
}

#[test]
fn errors_are_plain() {
    let error = "short".parse::<RunId>().unwrap_err();
    let said = "not an id: 26 characters of Crockford's base 32 are expected, got 5";
    assert_eq!(error.to_string(), said);
    assert_eq!(format!("{:?}", RunId::from_bits(1)), "RunId(00000000000000000000000001)");
}

#[test]
fn a_seed_gives_the_same_ids() {
    let ids = |seed| -> Vec<MessageId> {
        let mut source = IdSource::seeded(seed);
        (0..100).map(|now| source.message(now)).collect()
    };
    assert_eq!(ids(1), ids(1));
    let (a, b) = (ids(1), ids(2));
    assert!(a.iter().all(|id| !b.contains(id)));
}

#[test]
fn ids_hold_the_time() {
    let mut ids = IdSource::seeded(9);
    for now in [0, 1, 1_469_922_850_259, (1 << 48) - 1] {
        assert_eq!(ids.run(now).bits() >> 80, u128::from(now));
    }
}

proptest! {
    #[test]
    fn text_and_order(bits: u128, other: u128, block: u32) {
        let id = MessageId::from_bits(bits);
        prop_assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<MessageId>(&json).unwrap(), id);
        let call = CallId::new(id, block);
        prop_assert_eq!(call.to_string().parse(), Ok(call));
        prop_assert_eq!((call.message(), call.block()), (id, block));
        // The order of the texts is the order of the ids.
        let other = MessageId::from_bits(other);
        prop_assert_eq!(id.to_string().cmp(&other.to_string()), id.cmp(&other));
    }

    #[test]
    fn ids_grow_whatever_the_clock_does(seed: u64, times in prop::collection::vec(
        prop_oneof![Just(5u64), 0..10u64, 0..(1u64 << 48)], 1..200,
    )) {
        let mut ids = IdSource::seeded(seed);
        let mut last = MessageId::from_bits(0);
        for now in times {
            let id = ids.message(now);
            prop_assert!(id > last, "{id} after {last}");
            last = id;
        }
    }
}
