//! The operations that clients called in runs, and how each of them ended.

use std::collections::BTreeMap;
use zk_checker::history::{Failure, History, Kind, OpId, Outcome, Verb, What};

/// An operation of a kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OperationKind {
    kind: Kind,
    verb: Verb,
    /// Whether the caller had set a time limit.
    is_limited: bool,
}

impl OperationKind {
    /// Its name: `lock acquire`, or `lock acquire within a limit`.
    fn name(self) -> String {
        let limited = if self.is_limited { " within a limit" } else { "" };
        format!("{} {}{limited}", self.kind.name(), self.verb.name())
    }
}

/// The word for an operation whose client died before it returned.
pub const NEVER_RETURNED: &str = "never returned";

/// How an operation ended: `done`, `dropped`, or the reason of its failure.
fn ending(outcome: Outcome, failure: Failure) -> &'static str {
    match (outcome, failure) {
        (Outcome::Done, _) => "done",
        (Outcome::Cancelled, _) => "dropped",
        (_, Failure::None) => outcome.name(),
        (_, failure) => failure.name(),
    }
}

/// Operations by name, with the count of each way in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exercised(pub BTreeMap<String, BTreeMap<String, u64>>);

impl Exercised {
    /// The operations that a run exercised.
    pub fn by(history: &History) -> Exercised {
        // A run has few operations of few kinds.
        let mut open: BTreeMap<OpId, OperationKind> = BTreeMap::new();
        let mut counts: Vec<((OperationKind, &'static str), u64)> = Vec::new();
        let mut count = |operation, ending| match counts.iter_mut().find(|one| one.0 == (operation, ending)) {
            Some((_, count)) => *count += 1,
            None => counts.push(((operation, ending), 1)),
        };
        for event in &history.events {
            match event.what {
                What::Call { object, verb, limit } => {
                    let kind = history.objects[usize::from(object.0)].kind;
                    open.insert(event.op, OperationKind { kind, verb, is_limited: limit > 0 });
                }
                What::Return { outcome, failure } => {
                    if let Some(operation) = open.remove(&event.op) {
                        count(operation, ending(outcome, failure));
                    }
                }
                _ => {}
            }
        }
        for operation in open.into_values() {
            count(operation, NEVER_RETURNED);
        }
        let mut exercised = Exercised::default();
        for ((operation, ending), count) in counts {
            *exercised.0.entry(operation.name()).or_default().entry(ending.to_owned()).or_default() += count;
        }
        exercised
    }

    /// Adds the operations that other runs exercised.
    pub fn merge(&mut self, other: Exercised) {
        for (operation, endings) in other.0 {
            let known = self.0.entry(operation).or_default();
            for (ending, count) in endings {
                *known.entry(ending).or_default() += count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercised(text: &str) -> Vec<(String, String, u64)> {
        let history = zk_checker::text::parse(text).expect("a good history");
        let flat = |(operation, endings): (String, BTreeMap<String, u64>)| {
            endings.into_iter().map(move |(ending, count)| (operation.clone(), ending, count))
        };
        Exercised::by(&history).0.into_iter().flat_map(flat).collect()
    }

    #[test]
    fn each_call_counts_by_its_operation_its_limit_and_its_end() {
        let text = "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
lock /l
0.001 a acquire#1 call /l
0.002 a #1 return done
0.003 b acquire#2 call /l limit 0.4
0.403 b #2 return refused timed_out
0.404 b acquire#3 call /l
0.405 b #3 return cancelled
0.406 b acquire#4 call /l
";
        let of = |operation: &str, ending: &str| (operation.to_owned(), ending.to_owned(), 1);
        let wanted = [
            of("lock acquire", "done"),
            of("lock acquire", "dropped"),
            of("lock acquire", NEVER_RETURNED),
            of("lock acquire within a limit", "timed_out"),
        ];
        assert_eq!(exercised(text), wanted);
    }

    #[test]
    fn what_runs_have_exercised_adds_up() {
        let one = || Exercised([("a".to_owned(), [("done".to_owned(), 2)].into())].into());
        let mut sum = one();
        sum.merge(one());
        sum.merge(Exercised([("b".to_owned(), [("dropped".to_owned(), 1)].into())].into()));
        assert_eq!(sum.0["a"]["done"], 4);
        assert_eq!(sum.0["b"]["dropped"], 1);
    }
}
