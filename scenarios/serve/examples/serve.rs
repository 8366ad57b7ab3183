//! Serves an ensemble: `serve SERVERS TICK_MS [ext] [reap]`.
use std::time::Duration;
use zk_serve::{Ensemble, Options};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let options = Options {
        servers: arguments[1].parse().unwrap(),
        tick: Duration::from_millis(arguments[2].parse().unwrap()),
        extended_types: has("ext"),
        reap_every: has("reap").then_some(Duration::from_millis(300)),
        super_digest: has("super").then(|| "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=".to_owned()),
        ..Options::default()
    };
    let ensemble = Ensemble::listen(&options).unwrap();
    println!("{}", ensemble.connect_string());
    ensemble.run().unwrap();
}
