//! A simulated ZooKeeper in the same process: deterministic, faithful, and with fault injection.
//!
//! Ordinary async code written against the trait [`ZooKeeper`](zk_recipes::ZooKeeper) runs here as on a real ensemble.
//! A run is a function of its choices: a seed draws them, and a recorded list replays them.
//!
//! | module | content |
//! |---|---|
//! | [`world`] | the sans-IO core: servers, client sessions, connections, a clock, the pending events |
//! | [`driver`] | runs async code against a world: processes, sessions, time |
//! | [`choose`] | choices: fault-free, seeded, replayed |
//! | [`raw`] | a world driven by hand, packet by packet |
//! | [`fault`] | fault injection: kinds of fault, and injection points |
//! | [`injected_bug`] | injected bugs: clients and servers that break a promise |
//! | [`observer`] | events, and the observers that see them |
//! | [`paths`] | interned paths |
//!
//! # What is simulated
//!
//! Each line names tests that would fail without it; `tests/all/listed.rs` checks that they exist.
//!
//! * Znodes: stats, versions, sequence numbers to their end, null and empty data, the four kinds of create, paths as each
//!   operation checks them. `a_stat_changes_as_in_zookeeper`, `sequence_numbers_count_every_creation_in_the_directory`,
//!   `at_the_end_of_the_numbers_only_what_is_pending_goes_on`, `a_path_is_checked_as_late_as_zookeeper_does`
//! * Ephemerals, containers, znodes with a time to live, and the leader's reaper.
//!   `ephemerals_have_an_owner_and_no_children`, `a_container_goes_at_a_beat_of_the_reaper_after_its_last_child`,
//!   `containers_are_reaped_when_their_last_child_has_gone_and_times_when_they_are_over`
//! * Every operation of 3.8, multi and multiRead among them; refused or not, a write takes one zxid.
//!   `every_operation_is_understood`, `a_multi_that_fails_leaves_nothing_behind_not_even_a_number`,
//!   `a_multi_read_reads_each_on_its_own`, `every_write_takes_one_zxid_refused_or_not_and_no_read_does`
//! * The order in which a Java server lists children and ephemerals, but for the bins of a hash table that have become trees.
//!   `children_come_in_the_order_of_a_java_server`, `a_session_takes_its_ephemerals_along_in_the_order_of_javas_set`
//! * Access control lists, identities, `super`; no notifications without READ permission.
//!   `each_operation_needs_its_permission`, `identities_belong_to_the_connection`,
//!   `whoever_may_not_read_is_not_told_and_has_lost_the_watch`
//! * Soft quotas: counted, and never enforced. `trees_with_a_limit_are_counted_without_a_trace`
//! * Watches: one-shot, persistent, recursive, with the quirks of 3.8; removal; registration after a reconnect, with the
//!   notifications for missed changes. `persistent_watches_stay_and_recursive_ones_reach_down`,
//!   `a_one_shot_takes_the_place_of_a_persistent_watch_and_the_other_way_round`, `what_changed_while_away_is_told_at_the_return`,
//!   `a_notification_comes_before_every_reply_that_shows_its_transaction`
//! * Sessions: negotiation, pings at a third of the timeout, connection loss at two thirds, expiry by the leader at ticks,
//!   reported only by a server. `a_timeout_is_negotiated_between_two_and_twenty_ticks`, `an_idle_client_pings_at_a_third_of_its_timeout`,
//!   `expiry_comes_at_a_tick_within_a_tick_after_the_timeout`, `a_client_learns_of_its_expiry_only_from_a_server`
//! * The reconnects of the Java client: server by server, with its backoff. `what_is_asked_while_away_fails_with_the_next_attempt_that_fails`,
//!   `a_client_goes_round_its_servers_and_rests_after_each_round_without_success`
//! * Connections of clients: two FIFO streams, with latencies, cut at any place; the wire protocol, byte by byte.
//!   `streams_are_first_in_first_out_whatever_the_latencies`, `replies_have_the_body_of_their_operation`,
//!   `some_frames_make_a_server_hang_up`
//! * One to nine servers, with one committed order. `every_server_applies_the_same_transactions_in_the_same_order`,
//!   `every_read_shows_the_state_that_its_zxid_names`, `zxids_strictly_increase_and_leave_no_gap_within_an_epoch`
//! * Reads at the server of the client: stale reads, also at the leader; which requests are barriers.
//!   `a_stale_read_at_a_follower`, `a_stale_read_at_a_leader`, `a_sync_through_a_follower_is_a_barrier`,
//!   `a_connection_through_a_slow_link_reads_what_the_leader_had_committed`
//! * Quorums, elections, epochs; unacknowledged writes that a new leader keeps or loses.
//!   `an_epoch_has_one_leader_and_no_older_one_commits`, `a_write_that_was_not_acknowledged_is_lost_or_kept_when_the_leader_dies`,
//!   `a_proposal_known_to_the_old_leader_alone_is_applied_if_it_leads_again`,
//!   `a_proposal_that_no_follower_got_is_gone_for_good_if_others_elect`,
//!   `whoever_read_at_a_new_leader_is_turned_away_by_its_followers_until_something_happens`
//! * Links between servers: FIFO, each with a lag, delayed or cut; a timeout after `syncLimit` silent ticks.
//!   `behind_a_held_link_a_follower_reads_the_old_and_passes_writes_on`, `behind_a_cut_link_a_follower_gives_its_leader_up`,
//!   `who_is_cut_off_serves_no_read_for_long`, `a_partitioned_leader_reads_the_old_while_another_commits`
//! * Stages of a server: the disk, the apply stage, a leader's own commits.
//!   `while_a_quorum_of_disks_stalls_a_write_hangs_and_is_committed_later`,
//!   `behind_an_apply_stall_a_read_is_older_than_a_notification`, `behind_a_commit_stall_the_leader_reads_the_old`
//! * Session owners: `SessionMoved`, and a session stolen back. `a_late_write_of_the_old_connection_dies_and_closes_it`,
//!   `a_session_stolen_back_by_an_attempt_that_was_given_up`, `a_write_of_a_session_that_has_moved_is_never_applied`
//! * Touches that a follower reports late: a client is connected, gets replies, and has already expired.
//!   `on_a_partitioned_follower_a_client_is_connected_and_answered_and_already_expired`,
//!   `a_leader_that_stood_still_ends_the_sessions_of_everybody`, `a_new_leader_lets_nobody_expire_before_a_whole_timeout`
//! * The duplicate of CURATOR-264, at about its measured rate. `a_look_up_elsewhere_misses_a_create_at_a_rate_of_a_few_percent`,
//!   `behind_a_sync_it_never_does`
//! * Fault injection, with the injection points of each kind: see [`fault::Fault`]. `every_kind_strikes_where_it_is_drawn_and_only_there`,
//!   `every_kind_strikes_at_each_of_its_places`, `what_lasts_is_mended_once`
//! * Clocks: clock drift of clients, clock jumps of servers, and expiry that depends on neither.
//!   `by_a_slow_clock_a_client_believes_in_its_session_for_too_long`,
//!   `when_the_clock_jumps_times_go_back_and_expiry_does_not_care`
//!
//! # What is not
//!
//! * Observer servers, weights, hierarchical quorums, `reconfig` (it is answered `ReconfigDisabled`).
//! * Read-only mode, local sessions.
//! * X.509, TLS; schemes other than world, auth, digest, ip and super. SASL is answered as by a server that has none configured.
//! * Quotas that are enforced (`zookeeper.enforceQuota`), request throttling, limits of connections.
//! * Snapshots as files, full, broken and lost disks: a server keeps what it has logged.
//! * Crashes of hosts: only processes crash, and their earlier writes to sockets may still arrive.
//! * Hash-table bins that have become trees: Java lists eight or more names of one bucket in another order.
//! * An epoch's end after 2^32 transactions.
//! * Four-letter words, the admin server, JMX.
//! * The bugs of 3.8.0 that lose committed data (ZOOKEEPER-4643, -4646, -4394, -4685, -4925), and other versions' behaviour.

#[cfg(not(madsim))]
compile_error!(
    "sim-zk needs madsim's flag: put `[build] rustflags = [\"--cfg\", \"madsim\"]` into .cargo/config.toml, and note \
     that a RUSTFLAGS variable replaces that setting"
);

pub mod acl;
pub mod choose;
mod config;
pub mod digest;
pub mod driver;
mod ensemble;
pub mod fault;
pub mod injected_bug;
pub mod message;
mod named;
pub mod observer;
pub mod paths;
pub mod raw;
mod server;
mod session;
mod tree;
mod txn;
pub mod wire;
pub mod world;

pub use config::{Config, Reorderings, Scheduling};
pub use driver::{Connector, End, Finished, Process, Sim, SimClient};
pub use message::{ConnId, Table};
pub use server::{ReplySize, Settings};
pub use world::Hold;

/// Items for benchmarks only.
#[doc(hidden)]
pub mod bench {
    pub use crate::tree::work::Work;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs a documentation example without faults, in a process named `example` with one session of six seconds.
///
/// # Panics
///
/// If the example fails or never ends.
pub fn doc_example<F>(example: impl FnOnce(SimClient) -> F + Send + 'static)
where
    F: std::future::Future<Output = Result<(), zk_recipes::Error>> + Send + 'static,
{
    doc_example_of(|[zk]| example(zk));
}

/// Like [`doc_example`], of code that opens its sessions itself.
///
/// # Panics
///
/// If the example fails or never ends.
pub fn doc_example_supervised<F>(example: impl FnOnce(Connector) -> F + Send + 'static)
where
    F: std::future::Future<Output = Result<(), zk_recipes::Error>> + Send + 'static,
{
    doc_example_in(
        |process| async move { example(process.connector(std::time::Duration::from_secs(6))).await },
    );
}

/// Like [`doc_example`], with several sessions in processes of their own, next to the process of the example.
///
/// # Panics
///
/// If the example fails or never ends.
pub fn doc_example_of<const N: usize, F>(example: impl FnOnce([SimClient; N]) -> F + Send + 'static)
where
    F: std::future::Future<Output = Result<(), zk_recipes::Error>> + Send + 'static,
{
    doc_example_in(|process| async move {
        let mut sessions = Vec::new();
        for number in 0..N {
            let timeout = std::time::Duration::from_secs(6);
            sessions.push(process.sim().process(&format!("example{number}")).open(timeout).await);
        }
        example(sessions.try_into().unwrap_or_else(|_| unreachable!("there are as many as asked for"))).await
    });
}

/// Runs an example in a process of its own.
fn doc_example_in<F>(example: impl FnOnce(Process) -> F + Send + 'static)
where
    F: std::future::Future<Output = Result<(), zk_recipes::Error>> + Send + 'static,
{
    let root = |sim: Sim| async move {
        let process = sim.process("example");
        let of_it = process.clone();
        process.spawn(async move { example(of_it).await }).await.expect("the example does not panic")
    };
    let run = Sim::run(Config::default(), std::time::Duration::from_secs(600), choose::Calm, (), root);
    assert_eq!(run.end, End::Done, "the example ends");
    run.output.expect("it ended").expect("the example succeeds");
}
