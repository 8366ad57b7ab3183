//! Tests: the report of a run that hangs names the waiting client, its call, the znode it waits for, that znode's
//! owner, and why the znode stays.

use crate::client::SimProcess;
use crate::holding::Held;
use crate::plan::Plan;
use crate::run::{self, Run};
use crate::testing::{first_failure, turns};
use crate::workload::{Stated, Task, Workload};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sim_zk::SimClient;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_checker::history::{Kind, What};
use zk_recipes::zk::{CreateMode, Error, SessionId, ZooKeeper};
use zk_recipes::{Released, Stop};
use zk_report::trace;

const LEASE: &str = "/lease";

struct Lease(SimClient, i64);

impl Held for Lease {
    fn token(&self) -> i64 {
        self.1
    }

    async fn lost(&self) -> Stop {
        std::future::pending().await
    }

    async fn release(self) -> Result<Released, Error> {
        self.0.delete(LEASE, None).await.map(|()| Released::Clean)
    }
}

/// A broken recipe: takes every existing znode for another client's, also its own after a lost reply, or after its
/// guard was dropped.
async fn lease(zk: SimClient) -> Result<Lease, Error> {
    loop {
        let made = zk.create(LEASE, b"", CreateMode::Ephemeral).await;
        if let Ok(made) = made {
            return Ok(Lease(zk, made.stat.czxid));
        }
        let status = zk.status();
        if let Some(over) = status.over() {
            return Err(over);
        }
        if !status.is_connected() {
            zk.changed(status).await;
        } else if let Ok((found, gone)) = zk.get_watch(LEASE).await {
            assert_ne!(found.stat.ephemeral_owner, SessionId(0), "a lease is ephemeral");
            let _ = gone.await;
        }
    }
}

fn leases(task: Task<SimProcess>) -> BoxFuture<'static, ()> {
    turns(task, lease).boxed()
}

static STATED: Stated = Stated { finishes_within: Duration::from_secs(60), rules: Some(&[]), sometimes: &[] };

/// The workload under one kind of fault.
const fn leases_under(faults: &'static [Fault], plan: fn(u64) -> Plan) -> Workload {
    let objects = |names: &mut zk_checker::history::Names, setting: &crate::workload::Setting| {
        vec![setting.held(Kind::Lock, names.intern(LEASE))]
    };
    Workload { faults, plan, ..Workload::own("lease", objects, leases, &STATED) }
}

static UNTOLD: Workload = leases_under(&[Fault::ReplyLost], |_| Plan {
    clients: 1,
    ..Plan::calm().with(&[Fault::ReplyLost], 0.05)
});
static DROPPED: Workload = leases_under(&[], |_| Plan { clients: 2, ..Plan::calm() });

/// The first hanging run whose report contains this text, with numbers left out.
fn hanging(workload: &'static Workload, said: &str) -> (Run, Vec<String>) {
    let runs = (0..300).map(|seed| run::seed(workload, &workload.plan(seed), seed));
    let mut told = runs.map(|run| (numberless(&run.waits()), run));
    let (waits, run) = told.find(|(waits, _)| waits.concat().contains(said)).expect("one hangs so");
    (run, waits)
}

fn numberless(lines: &[String]) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let word = |word: &str| match word.starts_with("0x")
        || word.starts_with(['(', 'e', 's']) && word.contains(is_digit)
    {
        true => format!("#{}", word.trim_start_matches(|c: char| !matches!(c, ',' | ':' | ';'))),
        false => word.to_owned(),
    };
    lines.iter().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_client_that_waits_for_its_own_znode_after_a_lost_reply_is_named() {
    let (run, waits) = hanging(&UNTOLD, "never learned");
    assert_eq!(
        waits,
        [
            "a waits in its acquire of /lease, called at # #",
            "  for a change or the deletion of /lease: its watch, armed at # #, has not fired",
            "  /lease exists since # #, czxid #: ephemeral of a's session #, by a's create of # #, whose reply was lost at # #",
            "  it stays: session # has not ended; a never learned that its create was applied, and a itself waits here",
        ]
    );
    let lost: Vec<String> = trace::print(&run.history, &[])
        .lines()
        .filter(|line| line.contains("create /lease") && line.contains("connection lost"))
        .map(|line| line.rsplit_once(" as ").map_or(line, |(before, _)| before).trim().to_owned())
        .collect();
    assert!(lost.iter().any(|line| line.ends_with("✗ connection lost, but applied")), "{lost:?}");
}

#[test]
fn a_guard_that_was_dropped_is_named_where_it_stops_and_where_others_wait_for_it() {
    let (run, waits) = hanging(&DROPPED, "dropped");
    assert_eq!(
        waits,
        [
            "a waits in its acquire of /lease, called at # #",
            "  for a change or the deletion of /lease: its watch, armed at # #, has not fired",
            "  /lease exists since # #, czxid #: ephemeral of b's session #, by b's create of # #",
            "  it stays: session # has not ended; b stopped at # # (its guard is dropped, not released), and b is in no call that \
             would delete it",
        ]
    );
    let text = trace::print(&run.history, &[]);
    assert!(text.contains("■ stops; its guard is dropped, not released"), "{text}");
    let stops =
        run.history.events.iter().filter(|event| matches!(event.what, What::Unbelieve { .. })).count();
    let dropped = text.matches("its guard is dropped").count();
    assert!(dropped < stops, "those that were released are not among them: {text}");
}

#[test]
fn a_failure_of_own_code_says_who_waits() {
    let failure = first_failure(&UNTOLD, 0..300).expect("a reply is lost");
    assert_eq!(failure.what, "stuck");
    assert!(
        failure.finding.contains("\na waits in its acquire of /lease, called at e"),
        "{}",
        failure.finding
    );
}
