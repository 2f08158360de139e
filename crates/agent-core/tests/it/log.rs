//! The shared list against a plain vector.

use agent_core::Log;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// Pushes onto the copy with this number, modulo their count.
    Push(usize, usize),
    Clone(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<usize>(), 1..40usize).prop_map(|(at, n)| Step::Push(at, n)),
        1 => any::<usize>().prop_map(Step::Clone),
    ]
}

fn same(log: &Log<usize>, model: &[usize]) {
    assert_eq!((log.len(), log.is_empty()), (model.len(), model.is_empty()));
    assert_eq!(log.last(), model.last());
    assert!(log.iter().eq(model.iter()));
    assert!(log.iter().rev().eq(model.iter().rev()));
    for at in 0..model.len() + 3 {
        assert_eq!(log.get(at), model.get(at));
        assert!(log.iter_from(at).eq(model.get(at..).unwrap_or_default()), "from {at}");
    }
    assert_eq!(*log, model.iter().copied().collect());
    assert_eq!(format!("{log:?}"), format!("{model:?}"));
}

#[test]
fn around_the_chunks() {
    for len in [0, 1, 31, 32, 33, 63, 64, 65, 96] {
        let model: Vec<usize> = (0..len).collect();
        same(&model.iter().copied().collect(), &model);
    }
    assert!(Log::<u8>::new().iter_from(usize::MAX).next().is_none());
    assert_ne!(Log::from_iter([1, 2]), Log::from_iter([1, 3]));
    assert_ne!(Log::from_iter([1, 2]), Log::from_iter([1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn is_a_vector(steps in prop::collection::vec(step(), 1..40)) {
        let mut logs = vec![(Log::new(), Vec::new())];
        let mut next = 0;
        for step in steps {
            let count = logs.len();
            match step {
                Step::Push(at, n) => {
                    let (log, model) = &mut logs[at % count];
                    for _ in 0..n {
                        log.push(next);
                        model.push(next);
                        next += 1;
                    }
                }
                Step::Clone(at) => {
                    let copy = logs[at % count].clone();
                    logs.push(copy);
                }
            }
        }
        logs.iter().for_each(|(log, model)| same(log, model));
    }
}
