//! Runtimes that lack something, and runtimes that end before a handle.

use super::script::serves;
use super::{LONG, TIMEOUT, open, run};
use std::time::Duration;
use tokio::runtime::Builder;
use zk_client::{Client, Options};
use zk_recipes::{Runtime, ZooKeeper};

#[test]
fn a_runtime_that_drives_no_sockets_or_no_timers_is_bad_input() {
    let options = || Options::new(Duration::from_secs(600));
    let address = serves(|mut peer| {
        peer.welcomes(TIMEOUT);
        peer.goes_on();
    });
    let timers = Builder::new_current_thread().enable_time().build().unwrap();
    let sockets = Builder::new_current_thread().enable_io().build().unwrap();
    for (runtime, lacks) in [(timers, "no I/O"), (sockets, "no timer")] {
        let refused = runtime.block_on(Client::open(&address, options())).unwrap_err();
        assert!(refused.is_bad_input() && refused.to_string().contains(lacks), "{refused}");
        assert_eq!(runtime.metrics().num_alive_tasks(), 0, "nothing is left that could panic");
    }
}

#[test]
fn alarms_of_a_handle_go_off_after_its_runtime_has_ended() {
    let address = serves(|mut peer| {
        peer.welcomes(TIMEOUT);
        peer.goes_on();
    });
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let zk = runtime.block_on(open(&address));
    drop(runtime);
    let until = zk.now() + Duration::from_millis(100);
    run(zk.sleep_until(until));
    assert!(zk.now() >= until);
    assert!(run(zk.close(LONG)).is_ok());
}
