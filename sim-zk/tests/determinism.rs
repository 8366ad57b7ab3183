//! A run is its list of choices: the same seed gives the same run, wherever and whenever it is run.

mod common;

use common::{chaos, everything};
use sim_zk::End;
use sim_zk::choose::{Calm, Chooser, Recording, Replay, Seeded};
use std::collections::BTreeSet;

/// What a run came to: the hash of all that happened, the world's own of its steps, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trace {
    happenings: u64,
    fingerprint: u64,
    steps: u64,
    ended_us: u64,
}

fn trace(chooser: impl Chooser + 'static) -> Trace {
    let run = chaos::run(chooser, 4, 3, 8);
    assert_eq!(run.end, End::Done);
    Trace {
        happenings: run.witness.hash(),
        fingerprint: run.world.fingerprint(),
        steps: run.world.steps(),
        ended_us: run.world.now(),
    }
}

fn seeded(seed: u64) -> Seeded {
    Seeded::new(seed, everything(0.01))
}

fn recorded(seed: u64) -> (Trace, Vec<u16>) {
    let run = chaos::run(Recording::new(seeded(seed)), 4, 3, 8);
    let choices = run.chooser.choices().to_vec();
    (trace(seeded(seed)), choices)
}

#[test]
fn a_seed_gives_the_same_run_alone_and_among_others() {
    for seed in 0..20 {
        let alone = trace(seeded(seed));
        for other in 100..150 {
            trace(seeded(other));
        }
        assert_eq!(trace(seeded(seed)), alone, "seed {seed} after fifty others");
    }
}

#[test]
fn a_seed_gives_the_same_run_on_a_fresh_thread() {
    for seed in 0..20 {
        let here = trace(seeded(seed));
        let there = std::thread::spawn(move || trace(seeded(seed))).join().expect("it does not panic");
        assert_eq!(there, here, "seed {seed}");
    }
}

#[test]
fn two_runs_side_by_side_do_not_touch_each_other() {
    let alone: Vec<Trace> = (0..40).map(|seed| trace(seeded(seed))).collect();
    let halves = [0, 1].map(|half| {
        std::thread::spawn(move || {
            (0..40)
                .filter(|seed| seed % 2 == half)
                .map(|seed| (seed, trace(seeded(seed))))
                .collect::<Vec<_>>()
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
        assert_eq!(trace(Replay::new(choices)), first, "seed {seed}");
    }
}

#[test]
fn a_shortened_list_still_runs() {
    for seed in 0..40 {
        let (_, choices) = recorded(seed);
        for keep in [0, 1, choices.len() / 4, choices.len() / 2, choices.len().saturating_sub(1)] {
            let once = trace(Replay::new(choices[..keep].to_vec()));
            assert_eq!(trace(Replay::new(choices[..keep].to_vec())), once, "seed {seed}, {keep} choices");
        }
    }
}

#[test]
fn any_list_of_choices_is_a_run() {
    for seed in 0..40u64 {
        let scattered = (0..400)
            .map(|n| (seed.wrapping_mul(0x9e37_79b9).wrapping_add(n * n * 2_654_435_761) >> 7) as u16);
        let list: Vec<u16> = scattered.map(|choice| if choice % 3 == 0 { choice } else { 0 }).collect();
        let once = trace(Replay::new(list.clone()));
        assert_eq!(trace(Replay::new(list)), once, "list {seed}");
    }
}

#[test]
fn no_choices_are_the_calm_run() {
    assert_eq!(trace(Replay::new(Vec::new())), trace(Calm));
}

#[test]
fn seeds_differ() {
    let traces: BTreeSet<Trace> = (0..200).map(|seed| trace(seeded(seed))).collect();
    assert_eq!(traces.len(), 200, "by all that happened");
    let fingerprints: BTreeSet<u64> = traces.iter().map(|trace| trace.fingerprint).collect();
    assert_eq!(fingerprints.len(), 200, "by the world's own account");
}
