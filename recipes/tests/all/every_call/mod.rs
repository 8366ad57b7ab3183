//! Promises that all calls share, each judged over one table of calls.
//!
//! | file | promise |
//! |---|---|
//! | `dropped` | a write whose future is dropped is applied once or not at all, and not after the end of its session |
//! | `truthful` | an error that says what became of a write says the truth, and nothing is written in parts |
//! | `session_over` | every call of a session that is over says so |
//! | `denied` | every call says that an access list denies it |
//! | `losses` | what each call costs beside its path on a calm network: kept, not promised |
//!
//! The tables are `writes`, `reads` and `waits`, and for `losses` also `kept`. A row prepares a call and hands it out unpolled.

mod denied;
mod dropped;
mod kept;
mod losses;
mod reads;
mod session_over;
mod truthful;
mod waits;
mod writes;

use crate::common::{Client, Danger, Drops, RECONNECT, Stage, dropping, play};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};
use std::any::Any;
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use zk_recipes::zk::{Error, ZooKeeper};

/// A call that can be made.
pub struct Row {
    /// The method, and what is special about the case.
    name: &'static str,
    /// Prepares the call of that client.
    prepare: fn(Stage, Client) -> BoxFuture<'static, Ready>,
}

/// A call that was not polled yet.
pub struct Ready {
    call: BoxFuture<'static, Result<(), Error>>,
    /// Guards that hold what the call writes to.
    keeps: Box<dyn Any + Send>,
}

/// A call that needs nothing to live on.
fn alone<T: Send + 'static>(call: impl Future<Output = Result<T, Error>> + Send + 'static) -> Ready {
    Ready { call: call.map_ok(drop).boxed(), keeps: Box::new(()) }
}

/// A call of a guard, which lives on when the call is over or dropped.
fn of<G, T, F>(guard: G, call: impl FnOnce(Arc<G>) -> F) -> Ready
where
    G: Send + Sync + 'static,
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let guard = Arc::new(guard);
    Ready { call: call(guard.clone()).map_ok(drop).boxed(), keeps: Box::new(guard) }
}

/// Prepares a call, and lets its preparation come to rest.
async fn prepared(row: &Row, stage: &Stage, of: &Client) -> Ready {
    let ready = (row.prepare)(stage.clone(), of.clone()).await;
    stage.pass(of, A_WHILE).await;
    ready
}

/// Longer than anything is on its way.
const A_WHILE: Duration = Duration::from_millis(200);

/// Directories that calls make on their way: they may be there although the call was not applied.
const ON_THE_WAY: [&str; 1] = ["/made"];

/// All znodes with their data and versions; guids are written as `<guid>`, since every run draws others.
async fn tree(stage: &Stage, by: &Client) -> Vec<String> {
    let paths: Vec<(String, bool)> = stage.sim.look(|world| {
        let all = world.znodes().map(|(path, owner)| (path.to_owned(), owner.0 != 0));
        all.filter(|(path, _)| path.len() > 1 && !path.starts_with("/zookeeper")).collect()
    });
    let names: Vec<String> = paths.iter().map(|(path, _)| path.clone()).collect();
    let found = by.zk.get_many(&names).await.expect("the network is calm");
    let line = |((path, is_ephemeral), found): (_, Option<zk_recipes::zk::Data>)| {
        let found = found.expect("nobody else writes");
        let data = String::from_utf8_lossy(&found.data).into_owned();
        let ephemeral = if is_ephemeral { EPHEMERAL } else { "" };
        without_guids(&format!("{path} v{} {data:?}{ephemeral}", found.stat.version))
    };
    let is_meant = |(path, _): &&(String, bool)| !ON_THE_WAY.contains(&path.as_str());
    let mut lines: Vec<String> =
        paths.iter().cloned().zip(found).filter(|(of, _)| is_meant(&of)).map(line).collect();
    lines.sort();
    lines
}

/// What a line of an ephemeral ends with.
const EPHEMERAL: &str = " ephemeral";

const GUID_DIGITS: usize = 32;

fn without_guids(line: &str) -> String {
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let (mut out, mut rest) = (String::new(), line);
    while !rest.is_empty() {
        let digits = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        match digits {
            0 => {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..first]);
                rest = &rest[first..];
            }
            digits => {
                out.push_str(if digits == GUID_DIGITS { "<guid>" } else { &rest[..digits] });
                rest = &rest[digits..];
            }
        }
    }
    out
}

/// What became of a call that writes.
struct Written {
    /// How it ended; `None` if it was still waiting after 20 s.
    ended: Option<Result<(), Error>>,
    /// What was sent and answered from its begin to its end: the marks of both.
    lasted: Range<usize>,
    /// The tree once everything is at rest.
    tree: Vec<String>,
}

/// Makes a call in danger, for at most 20 s, and looks at the tree when everything is at rest again.
async fn written(row: &'static Row, stage: &Stage, a: &Client, danger: Danger) -> Written {
    let looks = stage.client("looks").await;
    let Ready { call, keeps } = prepared(row, stage, a).await;
    let begin = stage.mark();
    danger.begins();
    let ended = dropping(Drops::Later(20_000), stage, a, call).await;
    danger.ends();
    let lasted = begin..stage.mark();
    stage.pass(a, 3 * RECONNECT).await;
    stage.settle().await;
    let tree = tree(stage, &looks).await;
    drop(keeps);
    Written { ended, lasted, tree }
}

/// The tree without the call, and with the whole of it.
fn trees(row: &'static Row) -> (Vec<String>, Vec<String>) {
    let after = |is_made: bool| {
        play(move |stage| async move {
            let (looks, a) = (stage.client("looks").await, stage.client("a").await);
            let Ready { call, keeps } = prepared(row, &stage, &a).await;
            if is_made {
                call.await.unwrap_or_else(|e| panic!("{}: {e}", row.name));
            } else {
                drop(call);
            }
            stage.pass(&a, 3 * RECONNECT).await;
            stage.settle().await;
            let tree = tree(&stage, &looks).await;
            drop(keeps);
            tree
        })
    };
    (after(false), after(true))
}

#[test]
fn every_call_of_the_table_writes_something() {
    for row in writes::all() {
        let (none, whole) = trees(row);
        assert_ne!(none, whole, "{}", row.name);
    }
}

#[test]
fn a_guid_is_written_as_such() {
    let guid = "0123456789abcdef0123456789abcdef";
    assert_eq!(
        without_guids(&format!("/q/{guid}-job-0000000001 v0 \"é\"")),
        "/q/<guid>-job-0000000001 v0 \"é\""
    );
    assert_eq!(without_guids("abc"), "abc");
}
