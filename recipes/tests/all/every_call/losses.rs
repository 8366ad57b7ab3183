//! What each call costs: on a calm network, under one fault at each place, where every request is refused, and dropped.
//!
//! Nothing but the calm row is promised. The table is kept so that a request, a pause or a clean-up more is seen.

use super::denied::{KINDS, Went, goes};
use super::{Row, kept, reads, waits, writes};
use crate::common::{Drops, Refusal, play_faults, play_refusing};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::fmt::Write;
use std::iter::repeat_n;

/// The faults that strike once.
const ONCE: [Fault; 4] = [Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::Throttled];

/// The refusals that last.
const LASTING: [Fault; 2] = [Fault::AccessDenied, Fault::Throttled];

/// More than any call sends.
const MANY: usize = 2_000;

/// How long a call may wait, in milliseconds, before it is dropped.
const WAITS: u64 = 20_000;

/// The moments at which it is dropped, in milliseconds: half round trips, and those of a client that reconnects after 1,550 ms.
const MOMENTS: [u64; 18] =
    [0, 5, 10, 15, 20, 25, 30, 40, 50, 500, 1500, 1540, 1550, 1560, 1570, 1580, 1600, 2000];

/// The number of requests of a call until its end, and of its clean-up.
fn sent(went: &Went) -> String {
    match went.later.len() {
        0 => format!(" {}", went.sent),
        later => format!(" {}+{later}", went.sent),
    }
}

/// The same where all requests of one kind are refused for good, if the call sends any.
fn kind_refused(row: &'static Row, fault: Fault, kind: Kind) -> String {
    let refusal = Refusal { fault, kind, at: 0 };
    let (went, refused) =
        play_refusing(None, refusal, |stage, danger| goes(row, stage, danger, Drops::Later(WAITS)));
    if refused.requests == 0 { String::new() } else { format!(" {kind:?}{}", sent(&went)) }
}

/// A row of the table for one call.
fn costs(row: &'static Row) -> String {
    let under = |faults: Vec<(Fault, usize)>, drops| {
        play_faults(faults, move |stage, danger| goes(row, stage, danger, drops))
    };
    let mut text = format!("{}\n  calm{}\n", row.name, sent(&under(vec![], Drops::Later(WAITS)).0));
    for fault in ONCE {
        let places = (0..).map(|nth| under(vec![(fault, nth)], Drops::Later(WAITS)));
        let line: String =
            places.take_while(|(_, is_struck)| *is_struck).map(|(went, _)| sent(&went)).collect();
        writeln!(text, "  {}{line}", fault.name()).expect("a string grows");
    }
    for fault in LASTING {
        let (went, _) = under(repeat_n((fault, 0), MANY).collect(), Drops::Later(WAITS));
        writeln!(text, "  {} for good{}", fault.name(), sent(&went)).expect("a string grows");
    }
    // A settling write that is refused orders nothing.
    let refused = |stage, danger| goes(row, stage, danger, Drops::Later(WAITS));
    let lost = Some((Fault::ReplyLost, 0));
    let throttled = Refusal { fault: Fault::Throttled, kind: Kind::Multi, at: 0 };
    let (went, _) = play_refusing(lost, throttled, refused);
    writeln!(text, "  the first reply lost, then transactions throttled for good{}", sent(&went))
        .expect("a string grows");
    for fault in LASTING {
        let line: String = KINDS.into_iter().map(|kind| kind_refused(row, fault, kind)).collect();
        writeln!(text, "  {}, by kind{line}", fault.name()).expect("a string grows");
    }
    for lost in [None, Some(Fault::ReplyLost)] {
        let faults: Vec<_> = lost.into_iter().map(|fault| (fault, 0)).collect();
        let moments = MOMENTS.into_iter().map(|ms| under(faults.clone(), Drops::Later(ms)).0);
        let line: String = moments.take_while(|went| went.ended.is_none()).map(|went| sent(&went)).collect();
        let what = if lost.is_some() { "dropped, the first reply lost" } else { "dropped" };
        writeln!(text, "  {what}{line}").expect("a string grows");
    }
    text
}

#[test]
fn what_a_call_costs_that_is_struck_refused_or_dropped() {
    let rows = writes::all().chain(reads::all()).chain(waits::ALL).chain(kept::ALL);
    insta::assert_snapshot!(rows.map(costs).collect::<String>());
}
