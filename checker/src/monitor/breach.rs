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
pub enum Wrong {
    /// Holds: two that exclude each other held at once.
    Together {
        /// The acquire that returned first.
        first: Number,
        /// The acquire that returned before the first hold was given back.
        second: Number,
    },
    /// Holds: when this acquire returned, more held than may hold at once.
    TooMany {
        /// The acquire.
        acquire: Number,
    },
    /// Holds: given back by who had none.
    NotHeld {
        /// The release.
        release: Number,
    },
    /// Holds: the token of the later one is not larger.
    Token {
        /// The acquire that held first.
        first: Number,
        /// The acquire that held later.
        second: Number,
    },
    /// Queues and registers: what was got had not been put (written) by then.
    Invented {
        /// The take, or the read.
        get: Number,
    },
    /// Queues: one item, taken twice.
    Twice {
        /// One take.
        first: Number,
        /// Another.
        second: Number,
    },
    /// First in, first out: an item put before was still there, and was passed.
    Passed {
        /// The put of the item that was passed.
        put: Number,
        /// The take that passed it.
        take: Number,
    },
    /// The more urgent first: more urgent items were there all the time that this take took.
    LessUrgent {
        /// The take.
        take: Number,
    },
    /// Queues: it was never empty while this take took, which said so.
    NotEmpty {
        /// The take.
        take: Number,
    },
    /// Registers: one value stood from here to there, and the other stood both before and after.
    Between {
        /// An operation with the one value that had returned (none for the initial value), and one with it that was
        /// called later.
        one: (Option<Number>, Number),
        /// An operation with the other value that had returned before the one value stood for the last time, and one with
        /// it that was called after it stood for the first time.
        other: (Option<Number>, Number),
    },
    /// Numbers: the earlier one got a number that is not smaller.
    NotLarger {
        /// Returned before the other was called, or with the same number.
        first: Number,
        /// The other one.
        second: Number,
    },
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
