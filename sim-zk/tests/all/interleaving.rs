//! Interleaving mode: every order of requests is a run, and equal states have equal fingerprints.

use sim_zk::choose::{Chooser, Point};
use sim_zk::fault::Fault;
use sim_zk::{Config, End, Process, Reorderings, Sim, SimClient};
use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;
use zk_recipes::zk::{CreateMode, Runtime, ZooKeeper};

/// Follows a list of choices, then takes 0; records the number of alternatives and the state at each choice.
#[derive(Default)]
struct Noting {
    planned: Vec<u32>,
    alternatives: Vec<u32>,
    states: Vec<u128>,
}

impl Chooser for Noting {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let n = if point == Point::Next { n } else { 1 };
        self.alternatives.push(n);
        self.planned.get(self.alternatives.len() - 1).copied().unwrap_or(0)
    }

    fn goes_on(&mut self, state: &mut dyn FnMut() -> u128) -> bool {
        self.states.push(state());
        true
    }
}

/// The requests of every process, one after the other.
#[derive(Clone, Copy)]
enum Does {
    Read,
    Write,
}

fn run(planned: Vec<u32>, requests: u32, does: Does) -> Noting {
    let config = Config::default().interleaving(Reorderings::default());
    let chooser = Noting { planned, ..Noting::default() };
    let root = move |sim: Sim| async move {
        let mut parts = Vec::new();
        for name in ["a", "b"] {
            let process = sim.process(name);
            let opening = process.open(Duration::from_secs(6));
            parts.push(process.spawn(async move {
                let zk = opening.await;
                for number in 0..requests {
                    match does {
                        Does::Read => drop(zk.exists("/").await.unwrap()),
                        Does::Write => {
                            let path = format!("/{}-{number}", zk.session().0);
                            drop(zk.create(&path, b"", CreateMode::Persistent).await.unwrap());
                        }
                    }
                }
            }));
        }
        for part in parts {
            part.await.unwrap();
        }
    };
    let run = Sim::run(config, Duration::from_secs(60), chooser, (), root);
    assert_eq!(run.end, End::Done);
    run.chooser
}

/// Performs all runs: returns their number, the number of final states, and the number of all states.
fn all(requests: u32, does: Does) -> (usize, usize, usize) {
    let (mut waiting, mut runs) = (vec![Vec::new()], 0);
    let (mut last, mut states) = (BTreeSet::<u128>::new(), BTreeSet::<u128>::new());
    while let Some(planned) = waiting.pop() {
        let ran = run(planned.clone(), requests, does);
        runs += 1;
        last.extend(ran.states.last().copied());
        states.extend(&ran.states);
        for at in planned.len()..ran.alternatives.len() {
            for other in 1..ran.alternatives[at] {
                let mut next = planned.clone();
                next.resize(at, 0);
                next.push(other);
                waiting.push(next);
            }
        }
    }
    (runs, last.len(), states.len())
}

#[test]
fn there_are_as_many_runs_as_ways_to_merge_two_rows_of_requests() {
    // (2n)! / (n! n!)
    for (requests, ways) in [(1, 2), (2, 6), (3, 20), (4, 70)] {
        assert_eq!(all(requests, Does::Read).0, ways, "{requests} reads each");
        assert_eq!(all(requests, Does::Write).0, ways, "{requests} writes each");
    }
}

#[test]
fn reads_in_another_order_end_in_the_same_state_and_writes_do_not() {
    let (_, ends_of_reads, states_of_reads) = all(3, Does::Read);
    let (_, ends_of_writes, states_of_writes) = all(3, Does::Write);
    // The last request in flight is a's or b's.
    assert_eq!(ends_of_reads, 2);
    assert_eq!(ends_of_writes, 20);
    assert!(states_of_reads < states_of_writes, "{states_of_reads}, {states_of_writes}");
}

/// Returns the final state of a run with one process.
fn last<F: Future<Output = ()> + Send + 'static>(
    part: impl Fn(Sim, Process, SimClient) -> F + Send + 'static,
) -> u128 {
    let config = Config::default().interleaving(Reorderings::default());
    let root = move |sim: Sim| async move {
        let process = sim.process("a");
        let zk = process.open(Duration::from_secs(6)).await;
        part(sim.clone(), process, zk).await;
        // The very last state is recorded before this sleep ends.
        sim.sleep(&sim.process("b"), Duration::from_secs(60)).await;
    };
    let run = Sim::run(config, Duration::from_secs(300), Noting::default(), (), root);
    assert_eq!(run.end, End::Done);
    *run.chooser.states.last().expect("it has waited")
}

#[test]
fn how_late_it_is_matters_to_whoever_knows_of_a_time() {
    let sleeps = |looks: bool, seconds: u64| {
        last(move |sim, process, zk| async move {
            if looks {
                zk.now();
            }
            sim.sleep(&process, Duration::from_secs(seconds)).await;
        })
    };
    assert_eq!(sleeps(false, 12), sleeps(false, 24));
    assert_ne!(sleeps(true, 12), sleeps(true, 24));
}

#[test]
fn nobody_remembers_what_a_process_was_told_that_has_crashed_or_is_over() {
    #[derive(Clone, Copy)]
    enum Then {
        Nothing,
        Crash,
        Over,
    }
    let reads = |count: u32, then: Then| {
        last(move |_, process, zk| async move {
            for _ in 0..count {
                zk.exists("/").await.expect("the exists succeeds");
            }
            match then {
                Then::Nothing => {}
                Then::Crash => process.inflict(Fault::ClientCrash, Duration::ZERO),
                Then::Over => process.retire(),
            }
        })
    };
    assert_ne!(reads(1, Then::Nothing), reads(2, Then::Nothing));
    assert_eq!(reads(1, Then::Crash), reads(2, Then::Crash));
    assert_eq!(reads(1, Then::Over), reads(2, Then::Over));
}

#[test]
fn what_a_process_begins_with_tells_it_from_others() {
    let begins = |word: u64| {
        last(move |_, process, _| async move {
            process.begins_with(word);
        })
    };
    assert_ne!(begins(1), begins(2));
}

#[test]
fn a_run_that_is_cut_says_so() {
    struct One(u32);
    impl Chooser for One {
        fn choose(&mut self, _: Point, _: u32) -> u32 {
            0
        }
        fn goes_on(&mut self, _: &mut dyn FnMut() -> u128) -> bool {
            self.0 += 1;
            self.0 <= 1
        }
    }
    let config = Config::default().interleaving(Reorderings::default());
    let root = |sim: Sim| async move { drop(sim.process("a").open(Duration::from_secs(6)).await) };
    let run = Sim::run(config, Duration::from_secs(60), One(0), (), root);
    assert_eq!((run.end, run.output, run.world.now()), (End::Cut, None, 0));
}
