//! Once no fault strikes any more every client comes to its end, within the time that its workload states: a run that hangs
//! has failed, and says in which way.

use futures_util::FutureExt;
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_catalogue::lock::workload as lock;
use zk_checker::Verdict;
use zk_harness::client::Client;
use zk_harness::plan::Plan;
use zk_harness::run::{self, Hang};
use zk_harness::workload::{Stated, Task, TaskFn, Workload};
use zk_recipes::zk::{CreateMode, ZooKeeper};

const STATED: Stated = Stated { finishes_within: Duration::from_secs(60), rules: None, sometimes: &[] };

/// Less than a round of those who take their time.
static IMPATIENT: Stated = Stated { finishes_within: Duration::from_secs(40), rules: None, sometimes: &[] };

/// A workload of such clients, and otherwise the lock's.
const fn of(name: &'static str, sim: TaskFn<zk_harness::client::SimProcess>) -> Workload {
    Workload {
        name,
        about: "clients that come to no end",
        caught_by: None,
        faults: Fault::DRAWN,
        plan: Plan::drawn,
        objects: lock::objects,
        sim,
        required: &[],
        must_reach: &[],
        injected_bug: None,
        stated: &STATED,
    }
}

/// Each is content with the znode that it made itself, and takes away that of everybody else.
static EACH_UNDOES_THE_OTHER: Workload =
    of("each-undoes-the-other", |Task { client, setting, rounds, done, .. }| {
        async move {
            let zk = client.open().await.expect("a simulated client gets its session");
            for round in rounds {
                let mine = format!("/of-{}", client.number());
                loop {
                    let _ = zk.create("/one", mine.as_bytes(), CreateMode::Ephemeral).await;
                    client.sleep(setting.pace.work).await;
                    match zk.get("/one").await {
                        Ok(found) if found.data == mine.as_bytes() && setting.clients == 1 => break,
                        Ok(_) => _ = zk.delete("/one", None).await,
                        Err(error) if error.is_session_over() => return,
                        Err(_) => {}
                    }
                }
                done(round + 1);
            }
        }
        .boxed()
    });

/// Waits for a znode that no client creates.
static WAITS_FOR_NOBODY: Workload = of("waits-for-nobody", |Task { client, rounds, done, .. }| {
    async move {
        let zk = client.open().await.expect("a simulated client gets its session");
        for round in rounds {
            if client.number() == 0 {
                std::future::pending::<()>().await;
            }
            let _ = zk.exists("/x").await;
            done(round + 1);
        }
    }
    .boxed()
});

/// Takes its time: each round is over in time, and all of them together are not.
static TAKES_ITS_TIME: Workload = of("takes-its-time", |Task { client, rounds, done, .. }| {
    async move {
        for round in rounds {
            client.sleep(Duration::from_secs(50)).await;
            done(round + 1);
        }
    }
    .boxed()
});

#[test]
fn clients_that_undo_each_others_work_for_ever_are_a_livelock() {
    let run = run::seed(&EACH_UNDOES_THE_OTHER, &Plan { clients: 2, ..Plan::calm() }, 1);
    assert_eq!((run.hang(), run.verdict()), (Some(Hang::Livelock), Verdict::Fail));
    assert_eq!(run.what_failed(), "livelock");
    assert!((59..=60).contains(&(run.longest_lull_us / 1_000_000)), "{} us", run.longest_lull_us);
    let alone = run::seed(&EACH_UNDOES_THE_OTHER, &Plan { clients: 1, ..Plan::calm() }, 1);
    assert_eq!(alone.hang(), None, "one that nobody disturbs comes to its end");
}

#[test]
fn a_livelock_is_found_also_behind_faults_and_counts_from_their_end() {
    for seed in 0..20 {
        let plan = Plan { clients: 2, ..Plan::drawn(seed) };
        let run = run::seed(&EACH_UNDOES_THE_OTHER, &plan, seed);
        // A client that loses its session gives up; the other one continues, without progress.
        assert!(run.hang().is_none() || run.what_failed() == "livelock", "seed {seed}: {:?}", run.hang());
        assert!(run.longest_lull_us <= 60_000_000, "seed {seed}");
    }
}

#[test]
fn one_that_waits_for_what_never_happens_is_stuck() {
    let run = run::seed(&WAITS_FOR_NOBODY, &Plan::calm(), 1);
    assert_eq!((run.hang(), run.verdict()), (Some(Hang::Stuck), Verdict::Fail));
    assert_eq!(run.what_failed(), "stuck");
}

#[test]
fn time_counts_anew_from_every_round_that_ends() {
    let run = run::seed(&TAKES_ITS_TIME, &Plan { clients: 1, rounds: 5, ..Plan::calm() }, 1);
    assert_eq!(run.hang(), None);
    assert!(run.sim_us > 240_000_000, "{} us", run.sim_us);
    let hurried = Workload { stated: &IMPATIENT, name: "hurried", ..of("", TAKES_ITS_TIME.sim) };
    let hurried: &'static Workload = Box::leak(Box::new(hurried));
    assert_eq!(run::seed(hurried, &Plan::calm(), 1).hang(), Some(Hang::Stuck));
}
