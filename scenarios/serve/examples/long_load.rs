//! Keeps an ensemble without sockets busy until its history has so many events, and tells what is kept meanwhile:
//!
//!     cargo run --release -p zk-serve --features fuzzing --example long_load -- 50000000
//!
//! The resident memory should not grow once as many events are kept as may be, and the verdict is that of all events.

use std::time::Instant;
use zk_serve::fuzz::Load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events: u64 = std::env::args().nth(1).map_or(Ok(10_000_000), |text| text.parse())?;
    #[expect(clippy::disallowed_methods, reason = "a measurement")]
    let begun = Instant::now();
    let mut load = Load::new(2_000_000);
    let mut loaded = load.loaded();
    let steps = 20;
    println!("{:>12} {:>10} {:>10} {:>10} {:>8}", "events", "kept", "names", "MiB", "seconds");
    for step in 1..=steps {
        while loaded.events < events * step / steps {
            load.go_rounds(20_000);
            loaded = load.loaded();
        }
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{:>12} {:>10} {:>10} {:>10} {seconds:>8.1}",
            loaded.events,
            loaded.kept,
            loaded.names,
            resident_mib()?
        );
    }
    load.fire();
    print!("{}", load.loaded().judged);
    Ok(())
}

/// The resident memory of this process, as Linux tells it.
fn resident_mib() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse::<u64>()? / 1024)
}
