//! probe
use zk_scenarios::{plan::Plan, run::{self, Target}};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u64 = args[1].parse().unwrap();
    let calm = run::seed(Target::Lock, &Plan::calm(), 1);
    println!("calm end {:?} events {} steps {} sim {} choices {}", calm.end, calm.history.events.len(), calm.steps, calm.sim_us, calm.choices.len());
    if args.len() > 2 { for e in &calm.history.events { println!("{:>10} {:?} op{} {:?}", e.at, e.who, e.op.0, e.what); } return; }
    let t = std::time::Instant::now();
    let mut ends = std::collections::BTreeMap::new();
    let mut events = 0; let mut steps=0; let mut x = 0u128; let mut sim=0;
    for seed in 0..n {
        let r = run::seed(Target::Lock, &Plan::drawn(seed), seed);
        *ends.entry(format!("{:?}", r.end)).or_insert(0) += 1;
        if r.end != sim_zk::End::Done { println!("seed {seed} {:?} {}", r.end, Plan::drawn(seed)); }
        events += r.history.events.len(); steps += r.steps; x ^= r.hash; sim += r.sim_us;
    }
    let s = t.elapsed().as_secs_f64();
    println!("{ends:?} {:.0} seeds/s events/run {} steps/run {} sim ms/run {} hash {x:032x}", n as f64 / s, events as u64/n, steps/n, sim/n/1000);
}
