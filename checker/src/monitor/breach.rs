//! What monitors say, and what proves it.

use super::{Number, Operations};
use crate::verdict::Verdict;

/// What a monitor found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Pass, Fail, Vacuous if there was nothing to judge, or Unknown if the monitor does not apply.
    pub verdict: Verdict,
    /// What is wrong, in the order of positions: for a Fail.
    pub breaches: Vec<Breach>,
    /// Why it does not apply: for an Unknown.
    pub why: Option<&'static str>,
}

impl Judged {
    /// Of breaches in any order.
    pub(super) fn of<A: Copy>(history: &Operations<A>, mut breaches: Vec<Breach>) -> Judged {
        breaches.sort_by_key(|breach| breach.at);
        let verdict = match (breaches.is_empty(), history.iter().next()) {
            (false, _) => Verdict::Fail,
            (true, None) => Verdict::Vacuous,
            (true, Some(_)) => Verdict::Pass,
        };
        Judged { verdict, breaches, why: None }
    }

    /// What proves it: the first breach with its chain, or an order of effects.
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

/// Something that no order of effects explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The position at which it shows.
    pub at: u32,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What is wrong, with the operations that prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a field is the operation that its name says")]
pub enum Wrong {
    /// Holds: two that exclude each other held at once. The second acquire returned before the first hold was given back.
    Together { first: Number, second: Number },
    /// Holds: when this acquire returned, more held than may hold at once.
    TooMany { acquire: Number },
    /// Holds: a process without a hold released.
    NotHeld { release: Number },
    /// Holds: the token of the later acquire is not larger.
    Token { first: Number, second: Number },
    /// Queues and registers: the value of a take or read had not been put (written) by then.
    Invented { get: Number },
    /// Queues: one item was taken twice.
    Twice { first: Number, second: Number },
    /// First in, first out: an item put before was still there, and a take passed it.
    Passed { put: Number, take: Number },
    /// The more urgent first: more urgent items were there as long as the take took.
    LessUrgent { take: Number },
    /// Queues: a take found the queue empty, and it was never empty while the take took.
    NotEmpty { take: Number },
    /// Registers: one value stood from here to there, and the other stood both before and after.
    Between {
        /// An operation with the one value that had returned (none for the initial value), and one with it that was
        /// called later.
        one: (Option<Number>, Number),
        /// An operation with the other value that had returned before the one value stood for the last time, and one with
        /// it that was called after it stood for the first time.
        other: (Option<Number>, Number),
    },
    /// Numbers: the earlier operation got a number that is not smaller. It returned before the other was called, or with
    /// the same number.
    NotLarger { first: Number, second: Number },
}

/// An operation takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Which.
    pub number: Number,
    /// In which gap.
    pub gap: u32,
}

/// What proves a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// For a Pass: all effects in an order that the object accepts, each within its operation.
    Order(Vec<Effect>),
    /// For a Fail: what is wrong.
    Breach {
        /// The operations that prove it.
        breach: Breach,
        /// For an empty answer, and for an item that was not the most urgent: puts of items of which one was there at
        /// any time of that operation. They overlap in this order.
        chain: Vec<Number>,
    },
    /// For an Unknown, and where there was nothing to judge.
    Nothing,
}

/// Effects by gap; within one gap by what goes first there.
pub(super) fn in_order<K: Ord>(mut effects: Vec<(u32, K, Number)>) -> Certificate {
    effects.sort_unstable();
    Certificate::Order(effects.into_iter().map(|(gap, _, number)| Effect { number, gap }).collect())
}
