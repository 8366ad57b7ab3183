//! What each call costs: on a calm network, under one fault at each place, where every request is refused, and dropped.
//!
//! Nothing but the calm row is promised. The table is kept so that a request, a pause or a clean-up more is seen.

use super::{Ready, Row, prepared, reads, waits, writes};
use crate::common::{Danger, Drops, Refusal, Stage, dropping, play_faults, play_refusing};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::fmt::Write;
use std::iter::repeat_n;
use std::time::Duration;

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

/// How long a clean-up may take.
const AFTERWARDS: Duration = Duration::from_secs(10);

/// The number of requests of a call until its end, and of its clean-up.
struct Sent {
    during: usize,
    after: usize,
    ended: bool,
}

impl std::fmt::Display for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, " {}", self.during)?;
        if self.after > 0 {
            write!(f, "+{}", self.after)?;
        }
        Ok(())
    }
}

async fn sends(row: &'static Row, stage: Stage, danger: Danger, drops: Drops) -> Sent {
    let a = stage.client("a").await;
    let Ready { call, keeps } = prepared(row, &stage, &a).await;
    let mark = stage.mark();
    danger.begins();
    let ended = dropping(drops, &stage, &a, call).await.is_some();
    let during = a.sent(&stage, mark).len();
    let mark = stage.mark();
    stage.pass(&a, AFTERWARDS).await;
    danger.ends();
    let after = a.sent(&stage, mark).len();
    drop(keeps);
    Sent { during, after, ended }
}

/// A row of the table for one call.
fn costs(row: &'static Row) -> String {
    let under = |faults: Vec<(Fault, usize)>, drops| {
        play_faults(faults, move |stage, danger| sends(row, stage, danger, drops))
    };
    let mut text = format!("{}\n  calm{}\n", row.name, under(vec![], Drops::Later(WAITS)).0);
    for fault in ONCE {
        let places = (0..).map(|nth| under(vec![(fault, nth)], Drops::Later(WAITS)));
        let line: String =
            places.take_while(|(_, is_struck)| *is_struck).map(|(sent, _)| sent.to_string()).collect();
        writeln!(text, "  {}{line}", fault.name()).expect("a string grows");
    }
    for fault in LASTING {
        let (sent, _) = under(repeat_n((fault, 0), MANY).collect(), Drops::Later(WAITS));
        writeln!(text, "  {} for good{sent}", fault.name()).expect("a string grows");
    }
    // A settling write that is refused orders nothing.
    let refused = |stage, danger| sends(row, stage, danger, Drops::Later(WAITS));
    let lost = Some((Fault::ReplyLost, 0));
    let throttled = Refusal { fault: Fault::Throttled, kind: Kind::Multi, at: 0 };
    let (sent, _) = play_refusing(lost, throttled, refused);
    writeln!(text, "  the first reply lost, then transactions throttled for good{sent}")
        .expect("a string grows");
    for lost in [None, Some(Fault::ReplyLost)] {
        let faults: Vec<_> = lost.into_iter().map(|fault| (fault, 0)).collect();
        let moments = MOMENTS.into_iter().map(|ms| under(faults.clone(), Drops::Later(ms)).0);
        let line: String = moments.take_while(|sent| !sent.ended).map(|sent| sent.to_string()).collect();
        let what = if lost.is_some() { "dropped, the first reply lost" } else { "dropped" };
        writeln!(text, "  {what}{line}").expect("a string grows");
    }
    text
}

#[test]
fn what_a_call_costs_that_is_struck_refused_or_dropped() {
    let all: String = writes::all().chain(reads::all()).chain(waits::ALL).map(costs).collect();
    insta::assert_snapshot!(all);
}
