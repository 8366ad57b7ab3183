//! Runs from outside: their ends, quiescence, and inspection.

use crate::common::{LIMIT, TIMEOUT, calm, client, make_ephemeral, ms, wait};
use futures_util::FutureExt;
use sim_zk::choose::Calm;
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Sim};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zk_recipes::zk::{CreateMode, Runtime, Time, ZooKeeper};

#[test]
fn a_run_is_stuck_when_nothing_will_ever_happen() {
    let run = Sim::run(Config::default(), LIMIT, Calm, (), |_| std::future::pending::<()>());
    assert_eq!((run.end, run.output), (End::Stuck, None));
    let run = Sim::run(Config::default(), LIMIT, Calm, (), |sim| async move {
        let (process, zk) = client(&sim, "a").await;
        zk.close(ms(1_000)).await.expect("the close succeeds");
        let _process = process;
        zk.sleep_until(Time::NEVER).await;
    });
    assert_eq!((run.end, run.output), (End::Stuck, None), "the end of time is never");
}

#[test]
fn a_run_that_takes_too_long_is_out_of_time() {
    let run = Sim::run(Config::default(), ms(5_000), Calm, (), |sim| async move {
        let (_, zk) = client(&sim, "a").await;
        wait(&zk, ms(5_001)).await;
    });
    assert_eq!((run.end, run.output), (End::OutOfTime, None));
    assert!(run.world.now() <= 5_000_000);
}

/// A search makes millions of runs that end while their tasks wait.
#[test]
fn nothing_is_left_of_a_run_that_ends_while_its_tasks_wait() {
    let held = Arc::new(());
    let canary = Arc::downgrade(&held);
    let run = Sim::run(Config::default(), LIMIT, Calm, (), |sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let sleeper = sim.process("b");
        let (of_a, of_b) = (held.clone(), held);
        let (alone, zk_of_a) = (sim.clone(), zk.clone());
        process.spawn(async move {
            loop {
                let _ = zk_of_a.changed(zk_of_a.status()).await;
                let _held = (&of_a, &alone);
            }
        });
        let inner = sim.clone();
        sleeper.clone().spawn(async move {
            inner.sleep(&sleeper, ms(3_600_000)).await;
            drop(of_b);
        });
        zk.close(ms(1_000)).await.expect("the close succeeds");
        std::future::pending::<()>().await;
    });
    assert_ne!(run.end, End::Done);
    drop(run);
    assert!(canary.upgrade().is_none(), "what a task holds goes with its run");
}

#[test]
fn it_is_quiet_when_everybody_waits_and_nothing_is_on_its_way() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        let (_, watch) = other.exists_watch("/2").await.expect("the exists succeeds");
        let task = process.spawn(async move {
            for number in 0..3 {
                zk.create(&format!("/{number}"), b"", CreateMode::Persistent)
                    .await
                    .expect("the create succeeds");
            }
        });
        sim.quiet().await;
        assert!(task.now_or_never().is_some(), "between two requests of one task it is not quiet");
        assert!(watch.now_or_never().is_some(), "a notification was on its way");
    });
}

#[test]
fn it_is_not_quiet_while_a_dead_clients_session_lives() {
    calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        make_ephemeral(&zk, "/e").await;
        process.inflict(Fault::ClientCrash, ms(0));
        assert!(!sim.is_quiet());
        sim.quiet().await;
        assert!(sim.now() > Time::default() + TIMEOUT);
        assert!(sim.look(|world| world.znodes().all(|(path, _)| path != "/e")));
    });
}

#[test]
fn it_is_quiet_when_the_last_session_has_closed() {
    calm(|sim| async move {
        let process = sim.process("a");
        let opening = process.open(TIMEOUT);
        let _task = process.spawn(async move { opening.await.close(ms(1_000)).await });
        sim.quiet().await;
    });
}

/// Returns the panic message of a run that must panic.
fn panics<F: Future<Output = ()> + Send + 'static>(story: impl FnOnce(Sim) -> F) -> String {
    let run = catch_unwind(AssertUnwindSafe(|| Sim::run(Config::default(), LIMIT, Calm, (), story)));
    let panic = run.err().expect("the run panics");
    match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => (*panic.downcast_ref::<&str>().expect("it says something")).to_owned(),
    }
}

#[test]
fn whoever_uses_the_simulation_while_looking_at_it_is_told_so() {
    let said = panics(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let (_, _watch) = zk.exists_watch("/a").await.expect("the exists succeeds");
        sim.look(|_| zk.status());
    });
    assert_eq!(said, "what looks at a simulation must not use it meanwhile");
}

#[test]
fn a_panic_in_a_process_is_the_runs() {
    let said = panics(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let task = process.spawn(async move {
            let _armed = zk.arm(zk_recipes::zk::Duty::Path("/a".into()));
            let _request = zk.sync("/");
            panic!("as it was written");
        });
        let _ = task.await;
    });
    assert_eq!(said, "as it was written");
}

#[test]
fn code_that_never_waits_does_not_hang_the_run() {
    const SAID: &str = "simulated code goes on and on without waiting for anything";
    let alone = panics(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        while zk.now() < Time::NEVER {}
    });
    assert_eq!(alone, SAID);
    let taking_turns = panics(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let (_, other) = client(&sim, "b").await;
        let task = process.spawn(async move {
            while zk.status().over().is_none() {
                madsim::task::yield_now().await;
            }
        });
        while other.status().over().is_none() {
            madsim::task::yield_now().await;
        }
        let _ = task.await;
    });
    assert_eq!(taking_turns, SAID);
}

#[test]
fn asking_for_much_at_once_is_no_going_on_and_on() {
    calm(|sim| async move {
        let (_, zk) = client(&sim, "a").await;
        let many: Vec<_> = (0..20_000).map(|_| zk.exists("/")).collect();
        for one in many {
            assert!(one.await.expect("the exists succeeds").is_some());
        }
    });
}
