//! The example `service`, as three processes on three Apache ZooKeeper servers, goes through the six troubles of
//! `tests/common/service.rs`, one after the other.
//!
//! Where no ZooKeeper is installed the test says so and passes, unless `ZK_REQUIRE_REAL=1` asks for it.

use crate::common::examples::programs;
use crate::common::service::{self as troubles, Servers, Trial};
use std::time::Duration;
use zk_real::{Ensemble, Server};

const TICK: Duration = Duration::from_millis(500);

struct Real(Ensemble);

impl Real {
    /// They serve together or not at all.
    fn start_each(&mut self) {
        std::thread::scope(|scope| {
            for server in self.0.servers_mut() {
                scope.spawn(|| server.start_again().expect("it starts again"));
            }
        });
    }
}

impl Servers for Real {
    fn connect_string(&self) -> String {
        self.0.address()
    }

    fn count(&self) -> usize {
        self.0.servers().len()
    }

    fn restart(&mut self, server: usize) {
        let server = &mut self.0.servers_mut()[server];
        server.shut_down();
        server.start_again().expect("the others are a majority");
    }

    fn stop_all(&mut self) {
        self.0.servers_mut().iter_mut().for_each(|server| server.kill().expect("it is a child"));
    }

    fn start_all(&mut self) {
        self.start_each();
    }

    fn start_empty(&mut self) {
        self.0.servers().iter().try_for_each(Server::forget).expect("they are stopped");
        self.start_each();
    }
}

#[test]
fn a_service_goes_through_six_troubles_on_real_servers() {
    let Some(ensemble) = crate::common::ensemble(3, TICK) else { return };
    let program = &programs()["service"];
    let again = |servers| Trial::begin(program, servers, TICK * 16);
    let servers = troubles::leader_is_killed(again(Real(ensemble)));
    let servers = troubles::leader_is_stopped(again(servers));
    let servers = troubles::servers_restart_in_turn(again(servers));
    let servers = troubles::servers_are_away(again(servers));
    let servers = troubles::servers_come_back_empty(again(servers));
    troubles::leader_is_interrupted(again(servers));
}
