//! Which call a fragment belongs to, for every way in which vendors name them.

use agent_core::CallSlots;

/// One fragment: place, id, and the block that it has to come to.
type Fragment<'a> = (Option<u64>, Option<&'a str>, u32);

#[test]
fn fragments() {
    let check = |name: &str, fragments: &[Fragment<'_>]| {
        let mut slots = CallSlots::new();
        let mut next = 0;
        for (n, (place, id, expected)) in fragments.iter().enumerate() {
            let block = slots.find(*place, *id).unwrap_or_else(|| {
                next += 1;
                slots.insert(*place, *id, next)
            });
            assert_eq!(block, *expected, "{name}, fragment {n}");
        }
    };
    let (a, b, c) = (Some("a"), Some("b"), Some("c"));
    check(
        "place and id, then the place",
        &[(Some(0), a, 1), (Some(0), None, 1), (Some(1), b, 2), (Some(1), None, 2), (Some(0), None, 1)],
    );
    check("place and id every time", &[(Some(0), a, 1), (Some(1), b, 2), (Some(0), a, 1)]);
    check("only ids", &[(None, a, 1), (None, b, 2), (None, a, 1), (None, None, 2)]);
    check(
        "only places, with gaps",
        &[(Some(3), None, 1), (Some(7), None, 2), (Some(3), None, 1), (Some(u64::MAX), None, 3)],
    );
    check("nothing", &[(None, None, 1), (None, None, 1)]);
    check(
        "one place for all",
        &[(Some(0), a, 1), (Some(0), None, 1), (Some(0), b, 2), (Some(0), None, 2), (Some(0), a, 1), (Some(0), c, 3)],
    );
    check("one id at two places", &[(Some(0), a, 1), (Some(1), a, 2), (None, a, 2)]);
    check("an empty id is none", &[(Some(0), Some(""), 1), (Some(0), None, 1), (None, Some(""), 1)]);
    check("the id comes late", &[(Some(0), None, 1), (Some(0), a, 1), (Some(1), b, 2)]);
    check("a late id tells the next call apart", &[(Some(0), None, 1), (Some(0), a, 1), (Some(0), b, 2), (None, a, 1)]);
    check("a late place is known afterwards", &[(None, a, 1), (Some(4), a, 1), (Some(4), None, 1), (Some(5), a, 2)]);
    check("places after ids", &[(Some(0), a, 1), (None, b, 2), (None, None, 2), (Some(0), a, 1)]);
}
