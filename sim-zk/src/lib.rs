//! A simulated ZooKeeper in the same process: deterministic, faithful, hostile.
//!
//! Ordinary async code that is written against the trait [`ZooKeeper`](zk_recipes::ZooKeeper) runs here as it runs on a
//! real ensemble. A run is a function of its choices: a seed draws them, a recorded list repeats them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`world`] | the sans-IO core: servers, client sessions, connections, a clock; what can happen next |
//! | [`driver`] | runs async code against a world: processes, sessions, time |
//! | [`choose`] | who decides: calm, seeded, replayed |
//! | [`fault`] | what can go wrong, and where |
//! | [`witness`] | what happens, told as it happens |
//! | [`paths`] | paths as small numbers |
//!
//! # What is simulated
//!
//! * One server: the data tree with stats, versions and sequence numbers; persistent, ephemeral, sequential and
//!   container znodes; create, delete, set, get, exists, children, multi, multiRead, check, sync.
//! * One-shot watches on data, existence and children; removal; re-registration after a reconnect, with what was missed
//!   and what ZooKeeper leaves untold; the order of notifications and replies.
//! * Sessions: negotiation, pings at a third of the timeout, loss at two thirds, expiry at ticks by the leader, learnt
//!   by the client only when it reconnects; the refusal of a client that has seen more than the server.
//! * Connections: two FIFO streams each, with latencies, cut at any place.
//! * Faults: request lost, applied but reply lost, reply late, disconnect, session expiry, client crash, client pause,
//!   dropped futures. See [`fault::Fault`].
//!
//! # What is not, yet
//!
//! * Several servers, leader changes, lagging followers.
//! * Access lists, quotas, TTL znodes, persistent watches, removal of empty containers.
//! * Clocks that drift.
//! * Bytes: a request that is too long is refused by the client and never reaches a server.

#[cfg(not(madsim))]
compile_error!(
    "sim-zk needs madsim's flag: put `[build] rustflags = [\"--cfg\", \"madsim\"]` into .cargo/config.toml, and note \
     that a RUSTFLAGS variable replaces that setting"
);

pub mod choose;
pub mod driver;
pub mod fault;
mod message;
pub mod paths;
mod server;
mod session;
mod tree;
pub mod witness;
pub mod world;

pub use driver::{End, Finished, Process, Sim, SimClient};
pub use message::Table;
pub use world::Config;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs one example on a calm network: a process named `example` with one session of six seconds.
///
/// # Panics
///
/// If the example fails or never ends.
pub fn doc_example<F>(example: impl FnOnce(SimClient) -> F + Send + 'static)
where
    F: std::future::Future<Output = Result<(), zk_recipes::Error>> + Send + 'static,
{
    use std::time::Duration;
    let root = |sim: Sim| async move {
        let process = sim.process("example");
        let opening = process.open(Duration::from_secs(6));
        process.spawn(async move { example(opening.await).await }).await.expect("the example does not panic")
    };
    let run = Sim::run(Config::default(), Duration::from_secs(600), choose::Calm, (), root);
    assert_eq!(run.end, End::Done, "the example ends");
    run.output.expect("it ended").expect("the example succeeds");
}
