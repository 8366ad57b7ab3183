//! A run is its list of choices: the same seed gives the same run, in every process. Seeds alternate between one server
//! and three, with every kind of fault.

use crate::common::{chaos, everything, hostile_ensemble};
use sim_zk::End;
use sim_zk::choose::{Calm, Chooser, Recorder, Replay, Seeded};
use std::collections::BTreeSet;

/// The trace of a run: the hash of its events, the world's fingerprint of its steps, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trace {
    events: u64,
    fingerprint: u64,
    steps: u64,
    ended_us: u64,
}

/// Even seeds on three servers, odd ones on one.
fn servers(seed: u64) -> u8 {
    if seed.is_multiple_of(2) { 3 } else { 1 }
}

fn trace(servers: u8, chooser: impl Chooser + 'static) -> Trace {
    let run = chaos::run_in(hostile_ensemble(servers, 6), chooser, 3, 8);
    assert_eq!(run.end, End::Done);
    Trace {
        events: run.observer.hash(),
        fingerprint: run.world.fingerprint(),
        steps: run.world.steps(),
        ended_us: run.world.now(),
    }
}

fn seeded(seed: u64) -> Seeded {
    Seeded::new(seed, everything(0.005))
}

fn trace_of(seed: u64) -> Trace {
    trace(servers(seed), seeded(seed))
}

fn recorded(seed: u64) -> (Trace, Vec<u16>) {
    let config = hostile_ensemble(servers(seed), 6);
    let run = chaos::run_in(config, Recorder::new(seeded(seed)), 3, 8);
    let choices = run.chooser.choices().to_vec();
    (trace_of(seed), choices)
}

#[test]
fn a_seed_gives_the_same_run_alone_and_among_others() {
    for seed in 0..20 {
        let alone = trace_of(seed);
        for other in 100..150 {
            trace_of(other);
        }
        assert_eq!(trace_of(seed), alone, "seed {seed} after fifty others");
    }
}

#[test]
fn a_seed_gives_the_same_run_on_a_fresh_thread() {
    for seed in 0..20 {
        let here = trace_of(seed);
        let there = std::thread::spawn(move || trace_of(seed)).join().expect("it does not panic");
        assert_eq!(there, here, "seed {seed}");
    }
}

/// Prints the trace of the seed in the environment variable; see the next test.
#[test]
fn a_seed_from_outside() {
    if let Some(seed) = std::env::var("SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        println!("{:?}", trace_of(seed));
    }
}

#[test]
fn a_seed_gives_the_same_run_in_a_fresh_process() {
    for seed in 0..6 {
        trace_of(seed + 100);
        let here = format!("{:?}", trace_of(seed));
        let mut fresh = std::process::Command::new(std::env::current_exe().expect("a test has a file"));
        fresh
            .args(["--exact", "determinism::a_seed_from_outside", "--nocapture"])
            .env("SIM_SEED", seed.to_string());
        let said = fresh.output().expect("it runs").stdout;
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(&here), "seed {seed}: {here} here, and there\n{said}");
    }
}

#[test]
fn two_runs_side_by_side_do_not_touch_each_other() {
    let alone: Vec<Trace> = (0..40).map(trace_of).collect();
    let halves = [0, 1].map(|half| {
        std::thread::spawn(move || {
            (0..40).filter(|seed| seed % 2 == half).map(|seed| (seed, trace_of(seed))).collect::<Vec<_>>()
        })
    });
    for (seed, found) in halves.into_iter().flat_map(|half| half.join().expect("it does not panic")) {
        assert_eq!(found, alone[seed as usize], "seed {seed}");
    }
}

#[test]
fn a_recorded_list_of_choices_is_the_run() {
    for seed in 0..100 {
        let (first, choices) = recorded(seed);
        assert_eq!(trace(servers(seed), Replay::new(choices)), first, "seed {seed}");
    }
}

#[test]
fn a_shortened_list_still_runs() {
    for seed in 0..40 {
        let (_, choices) = recorded(seed);
        for keep in [0, 1, choices.len() / 4, choices.len() / 2, choices.len().saturating_sub(1)] {
            let once = trace(servers(seed), Replay::new(choices[..keep].to_vec()));
            assert_eq!(
                trace(servers(seed), Replay::new(choices[..keep].to_vec())),
                once,
                "seed {seed}, {keep} choices"
            );
        }
    }
}

#[test]
fn any_list_of_choices_is_a_run() {
    for seed in 0..40u64 {
        let scattered = (0..400)
            .map(|n| (seed.wrapping_mul(0x9e37_79b9).wrapping_add(n * n * 2_654_435_761) >> 7) as u16);
        let list: Vec<u16> = scattered.map(|choice| if choice % 3 == 0 { choice } else { 0 }).collect();
        let once = trace(servers(seed), Replay::new(list.clone()));
        assert_eq!(trace(servers(seed), Replay::new(list)), once, "list {seed}");
    }
}

#[test]
fn no_choices_are_the_calm_run() {
    for servers in [1, 3, 5] {
        assert_eq!(trace(servers, Replay::new(Vec::new())), trace(servers, Calm));
    }
}

#[test]
fn seeds_differ() {
    let traces: BTreeSet<Trace> = (0..200).map(trace_of).collect();
    assert_eq!(traces.len(), 200, "by all that happened");
    let fingerprints: BTreeSet<u64> = traces.iter().map(|trace| trace.fingerprint).collect();
    assert_eq!(fingerprints.len(), 200, "by the world's own account");
}
