//! What a refusal by a server comes to: every recipe, every request of a scene, every kind of refusal; the table in
//! `ERRORS.md`.
//!
//! A scene is a script of calls of one recipe. It is played once for each of its requests, which is refused, clean-up
//! included; then whoever took part leaves. Every call must end, with success or with the refusal; nothing may be left by the
//! sessions, which live; and another client must get through.
//!
//! After a change that is meant, `UPDATE_ERROR_TABLE=1 cargo test -p zk-recipes refusals` writes the table anew: read the
//! difference.

mod coordination;
mod data;
mod locks;

use crate::common::{Client, Danger, Stage, play_faults, play_storm, play_struck};
use futures_util::future::{BoxFuture, Either, select};
use sim_zk::fault::Fault;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use zk_recipes::zk::{Error, ErrorKind};

/// The kinds of refusal, and what a call may come to besides success, as the table says it.
const REFUSALS: [(Fault, &str); 4] = [
    (Fault::Throttled, "ThrottledOp"),
    (Fault::QuotaExceeded, "QuotaExceeded"),
    (Fault::AccessDenied, "NoAuth"),
    (Fault::ServerError, "unknown"),
];

/// Calls that make one request and leave it to the caller to repeat it.
const ONE_REQUEST: [&str; 5] = ["contenders", "candidates", "holders", "evict", "transact"];

/// No call takes longer, whatever is refused: a participant who waits for another one is given a shorter limit of its own.
const NO_CALL_TAKES_LONGER: Duration = Duration::from_secs(120);

/// How long a participant waits for another one, whose call may have failed.
const PATIENCE: Duration = Duration::from_secs(20);

type Scene = fn(Script) -> BoxFuture<'static, Vec<Call>>;

const SCENES: &[(&str, Scene)] = &[
    ("lock", |script| Box::pin(locks::lock(script))),
    ("shared lock", |script| Box::pin(locks::shared(script))),
    ("revocable lock", |script| Box::pin(locks::revocable(script))),
    ("priority lock", |script| Box::pin(locks::priority(script))),
    ("semaphore", |script| Box::pin(locks::semaphore(script))),
    ("election", |script| Box::pin(locks::election(script))),
    ("barrier", |script| Box::pin(coordination::barrier(script))),
    ("double barrier", |script| Box::pin(coordination::double_barrier(script))),
    ("two-phase commit", |script| Box::pin(coordination::two_phase_commit(script))),
    ("queue", |script| Box::pin(data::queue(script))),
    ("queue with claims", |script| Box::pin(data::claims(script))),
    ("priority queue", |script| Box::pin(data::priority_queue(script))),
    ("names", |script| Box::pin(data::names(script))),
    ("config", |script| Box::pin(data::config(script))),
    ("counter", |script| Box::pin(data::counter(script))),
    ("group", |script| Box::pin(data::group(script))),
];

/// A call, and what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The method.
    name: &'static str,
    /// As the table says it.
    came_to: &'static str,
}

/// A scene that is being played.
pub struct Script {
    pub stage: Stage,
    pub danger: Danger,
    calls: Vec<Call>,
}

impl Script {
    /// Makes a call, and writes down what it comes to.
    pub async fn tell<T>(
        &mut self,
        on: &Client,
        name: &'static str,
        call: impl Future<Output = Result<T, impl Into<Error>>>,
    ) -> Option<T> {
        let result = {
            let limit = pin!(self.stage.pass(on, NO_CALL_TAKES_LONGER));
            match select(pin!(call), limit).await {
                Either::Left((result, _)) => result,
                Either::Right(_) => panic!("{name} does not end"),
            }
        };
        self.took(name, result)
    }

    /// Writes down what a call came to.
    pub fn took<T>(&mut self, name: &'static str, result: Result<T, impl Into<Error>>) -> Option<T> {
        let (came_to, output) = match result {
            Ok(output) => ("ok", Some(output)),
            Err(e) => (word(&e.into()), None),
        };
        self.calls.push(Call { name, came_to });
        output
    }

    /// Whoever took part has left: nothing is there any more after a while, but the znodes that stay for good. In `/q/*-job-`
    /// the star stands for anything, and anything may follow.
    pub async fn ends(self, clients: &[&Client], stays: &[&str]) -> Vec<Call> {
        self.danger.ends();
        self.stage.pass(clients[0], PATIENCE).await;
        for client in clients {
            client.has_left_nothing(&self.stage, "after all have left");
        }
        let may_stay = |path: &str| {
            stays.iter().any(|stays| match stays.split_once('*') {
                Some((prefix, infix)) => path.strip_prefix(prefix).is_some_and(|rest| rest.contains(infix)),
                None => path == *stays,
            })
        };
        let left: Vec<String> = self.stage.sim.look(|world| {
            let all = world.znodes().map(|(path, _)| path);
            let all = all.filter(|path| *path != "/" && !path.starts_with("/zookeeper"));
            all.filter(|path| !may_stay(path)).map(str::to_owned).collect()
        });
        assert_eq!(left, [""; 0], "left behind, after {:?}", self.calls);
        self.calls
    }

    /// Whether every call up to now came to success.
    pub fn all_is_well(&self) -> bool {
        self.calls.iter().all(|call| call.came_to == "ok")
    }
}

fn word(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Refused(code) => code.name(),
        ErrorKind::NoAuth => "NoAuth",
        ErrorKind::TimedOut => "timed out",
        ErrorKind::Multi { cause, .. } => word(cause),
        ErrorKind::ClaimLost => "claim lost",
        _ if error.is_outcome_unknown() => "unknown",
        _ => panic!("no refusal says {error:?}"),
    }
}

/// What each call of a recipe comes to, by kind of refusal.
type Table = BTreeMap<(usize, usize, &'static str), [BTreeSet<&'static str>; 4]>;

fn table() -> Table {
    let mut table = Table::new();
    for (recipe, (name, scene)) in SCENES.iter().enumerate() {
        let mut order: Vec<&'static str> = Vec::new();
        for (kind, (fault, refusal)) in REFUSALS.iter().enumerate() {
            for nth in 0.. {
                let (calls, struck) = play_struck(*fault, nth, |stage, danger| {
                    scene(Script { stage, danger, calls: Vec::new() })
                });
                for Call { name: call, came_to } in calls {
                    let is_allowed = match came_to {
                        "ok" | "timed out" | "claim lost" => true,
                        // Its first step was applied when its second one was refused.
                        "unknown" if call == "finish" => true,
                        came_to if came_to == *refusal => {
                            *fault != Fault::Throttled || ONE_REQUEST.contains(&call)
                        }
                        _ => false,
                    };
                    assert!(is_allowed, "{name}, {fault:?} at {nth}: {call} came to {came_to}");
                    let at = order.iter().position(|of| *of == call).unwrap_or_else(|| {
                        order.push(call);
                        order.len() - 1
                    });
                    table.entry((recipe, at, call)).or_default()[kind].insert(came_to);
                }
                if !struck {
                    break;
                }
                assert!(nth < 300, "{name} comes to its end");
            }
        }
    }
    table
}

const HEAD: &str = "# What a refused request comes to\n\n\
    ZooKeeper can refuse any request without processing it. In the simulation every request of a scene is refused once, \
    clean-up included, and this is what the calls of the scene came to. A test holds this table (`cargo test -p zk-recipes \
    refusals`). In every case nothing was left behind by the sessions, which live on, and another client got through.\n\n\
    * **ThrottledOp**: the server is overloaded ([`is_retryable_refusal`]). A call asks again, with pauses, as long as its \
    limit and its session allow, a `try_` call for a third of the session timeout; so do releases and clean-up duties. Calls that \
    make one request leave that to the caller.\n\
    * **QuotaExceeded**, **NoAuth**: a quota or an access list forbids the request. A call ends with the error, and what it \
    has begun is undone. Clean-up duties ask again as long as the session lives.\n\
    * **unknown**: a server failed (`SystemError` and its like), or answered with a code of a later version \
    ([`is_outcome_unknown`]). A call ends with the error, and clean-up duties remove what may have been applied.\n\
    * **timed out**: a participant waited for another one, whose call had failed, up to the limit that it had set.\n\n\
    [`is_retryable_refusal`]: https://docs.rs/zk-recipes/latest/zk_recipes/zk/struct.Error.html#method.is_retryable_refusal\n\
    [`is_outcome_unknown`]: https://docs.rs/zk-recipes/latest/zk_recipes/zk/struct.Error.html#method.is_outcome_unknown\n\n\
    | recipe | call | throttled | quota exceeded | access denied | server error |\n|---|---|---|---|---|---|\n";

fn text(table: &Table) -> String {
    let mut out = String::from(HEAD);
    for ((recipe, _, call), came_to) in table {
        let cells = came_to.clone().map(|words| words.into_iter().collect::<Vec<_>>().join(", "));
        let _ = writeln!(out, "| {} | {call} | {} |", SCENES[*recipe].0, cells.join(" | "));
    }
    out
}

/// Clients that are refused for a while, and not just once, get there as well: nothing but the overload ends a call.
#[test]
fn an_overload_that_lasts_ends_no_call() {
    for (name, scene) in SCENES {
        for times in [3, 8] {
            for nth in 0.. {
                let (calls, struck) = play_storm(Fault::Throttled, nth, times, |stage, danger| {
                    scene(Script { stage, danger, calls: Vec::new() })
                });
                for Call { name: call, came_to } in calls {
                    let is_good = match came_to {
                        "ok" | "timed out" => true,
                        came_to => came_to == "ThrottledOp" && ONE_REQUEST.contains(&call),
                    };
                    assert!(is_good, "{name}, {times} refusals from {nth} on: {call} came to {came_to}");
                }
                if !struck {
                    break;
                }
            }
        }
    }
}

/// A reply is lost, and one of the next requests is denied, most often the one that would find out what became of the first:
/// nothing is left all the same, and nobody is kept out.
#[test]
fn a_lost_reply_and_a_refusal_leave_nothing() {
    for (name, scene) in SCENES {
        for (refusal, word) in [(Fault::AccessDenied, "NoAuth"), (Fault::ServerError, "unknown")] {
            for (nth, then) in (0..).flat_map(|nth| (0..3).map(move |then| (nth, then))) {
                let faults = [(Fault::ReplyLost, nth), (refusal, then)];
                let (calls, struck) =
                    play_faults(faults, |stage, danger| scene(Script { stage, danger, calls: Vec::new() }));
                for Call { name: call, came_to } in calls {
                    let is_good = ["ok", "timed out", "unknown", "claim lost", word].contains(&came_to);
                    assert!(is_good, "{name}, {faults:?}: {call} came to {came_to}");
                }
                if !struck {
                    break;
                }
            }
        }
    }
}

#[test]
fn every_refusal_of_every_request_is_survived_and_the_table_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ERRORS.md");
    let counted = text(&table());
    if std::env::var_os("UPDATE_ERROR_TABLE").is_some() {
        std::fs::write(&path, &counted).expect("the table can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    for (written, counted) in written.lines().zip(counted.lines()) {
        assert_eq!(written, counted, "ERRORS.md is out of date: see the head of this test");
    }
    assert_eq!(written.len(), counted.len(), "ERRORS.md is out of date: see the head of this test");
}
