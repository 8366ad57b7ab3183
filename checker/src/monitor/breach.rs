//! The verdicts of monitors, and their proofs.

use super::{Number, Operations};
use crate::verdict::Verdict;

/// The result of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Pass, Fail, Vacuous if there was nothing to judge, or Unknown if the monitor does not apply.
    pub verdict: Verdict,
    /// The breaches in the order of positions: for a Fail.
    pub breaches: Vec<Breach>,
    /// The reason why the monitor does not apply: for an Unknown.
    pub why: Option<&'static str>,
}

impl Judged {
    /// The result for breaches in any order.
    pub(super) fn of<A: Copy>(history: &Operations<A>, mut breaches: Vec<Breach>) -> Judged {
        breaches.sort_by_key(|breach| breach.at);
        let verdict = match (breaches.is_empty(), history.iter().next()) {
            (false, _) => Verdict::Fail,
            (true, None) => Verdict::Vacuous,
            (true, Some(_)) => Verdict::Pass,
        };
        Judged { verdict, breaches, why: None }
    }

    /// The proof: the first breach with its chain, or an order of effects.
    pub(super) fn proof(
        &self,
        chain: impl FnOnce(Wrong) -> Vec<Number>,
        order: impl FnOnce() -> Certificate,
    ) -> Certificate {
        match (self.verdict, self.breaches.first()) {
            (Verdict::Fail, Some(breach)) => {
                Certificate::Breach { breach: *breach, chain: chain(breach.wrong) }
            }
            (Verdict::Pass, _) => order(),
            _ => Certificate::Nothing,
        }
    }

    pub(super) fn unknown(why: &'static str) -> Judged {
        Judged { verdict: Verdict::Unknown, breaches: Vec::new(), why: Some(why) }
    }
}

/// A contradiction that no order of effects explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The position at which it shows.
    pub at: u32,
    /// The kind of breach, with its operations.
    pub wrong: Wrong,
}

/// A kind of breach, with the operations that prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a field is the operation that its name says")]
pub enum Wrong {
    /// Holds: two that exclude each other overlapped. The second acquire returned before the first hold was released.
    Together { first: Number, second: Number },
    /// Holds: when this acquire returned, there were more holders than allowed.
    TooMany { acquire: Number },
    /// Holds: a process without a hold released.
    NotHeld { release: Number },
    /// Holds: the token of the later acquire is not larger.
    Token { first: Number, second: Number },
    /// Queues and registers: a take or read returned a value that had not been put or written by then.
    Invented { get: Number },
    /// Queues: one item was taken twice.
    Twice { first: Number, second: Number },
    /// First in, first out: an item put before was still there, and a take passed it.
    Passed { put: Number, take: Number },
    /// More urgent first: more urgent items were there throughout the take.
    LessUrgent { take: Number },
    /// Queues: a take found the queue empty, although it was never empty during the take.
    NotEmpty { take: Number },
    /// Registers: one value was current from here to there, and the other was current both before and after.
    Between {
        /// An operation with the one value that had returned (none for the initial value), and one with it that was
        /// called later.
        one: (Option<Number>, Number),
        /// An operation with the other value that had returned before the one value was current for the last time, and
        /// one with it that was called after the one value was current for the first time.
        other: (Option<Number>, Number),
    },
    /// Numbers: the earlier operation got a number that is not smaller. It returned before the other was called, or with
    /// the same number.
    NotLarger { first: Number, second: Number },
}

/// An operation takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The operation.
    pub number: Number,
    /// The gap.
    pub gap: u32,
}

/// The proof of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// For a Pass: all effects in an order that the object accepts, each within its operation.
    Order(Vec<Effect>),
    /// For a Fail: the breach.
    Breach {
        /// The operations that prove it.
        breach: Breach,
        /// For an empty answer, and for an item that was not the most urgent: puts of items that cover the whole
        /// operation, at least one of them being there at any time. They overlap in this order.
        chain: Vec<Number>,
    },
    /// For an Unknown, and for a history without operations.
    Nothing,
}

/// Effects by gap; within one gap by the key.
pub(super) fn in_order<K: Ord>(mut effects: Vec<(u32, K, Number)>) -> Certificate {
    effects.sort_unstable();
    Certificate::Order(effects.into_iter().map(|(gap, _, number)| Effect { number, gap }).collect())
}
