//! A seed is a run: alone in a fresh process, and in the middle of a sweep.
//!
//! `ZKSIM_SEEDS` says how many seeds are compared; 60 if it is not set.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

fn lines(arguments: &[&str]) -> Vec<Value> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_zksim")).args(arguments).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is an object")).collect()
}

#[test]
fn a_seed_in_a_fresh_process_is_the_seed_in_the_middle_of_a_sweep() {
    let seeds: u64 = std::env::var("ZKSIM_SEEDS").map_or(60, |n| n.parse().expect("ZKSIM_SEEDS is a number"));
    let count = seeds.to_string();
    let within: BTreeMap<u64, (Value, Value)> =
        lines(&["sweep", "lock", "--seeds", &count, "--each", "--format", "json"])
            .into_iter()
            .filter(|line| line["kind"] == "run")
            .map(|line| {
                (line["seed"].as_u64().expect("a seed"), (line["hash"].clone(), line["events"].clone()))
            })
            .collect();
    assert_eq!(within.len() as u64, seeds);
    for (seed, (hash, events)) in within {
        let alone = lines(&["run", "lock", "--seed", &seed.to_string(), "--format", "json"]).swap_remove(0);
        assert_eq!((&alone["hash"], &alone["events"]), (&hash, &events), "seed {seed}");
    }
}
