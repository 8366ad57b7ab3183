//! The example `service`, as three processes on a served ensemble, goes through six troubles: `tests/common/service.rs`.

use crate::command::{Running, said};
use crate::examples::programs;
use crate::troubles::{self, Servers, Trial};
use crate::waits::{over, run};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use zk_client::{Client, Options as ClientOptions};
use zk_recipes::zk::{Over, ZooKeeper};
use zk_serve::{Options, ServeError, Server};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| programs()["service"].clone());

/// The number of places for an ensemble, of nine ports each, below the ports that the system gives to sockets.
const PLACES: u32 = 2_400;

/// A served ensemble whose ports are known, so that another one can take its place.
struct Served {
    server: Option<Server>,
    options: Options,
}

impl Served {
    /// On ports that the system gives to no other socket, so that they are free again when they are needed, and that no other
    /// test of this process takes: servers that are down do not keep theirs.
    fn start(servers: u8, tick: Duration) -> Served {
        static TAKEN: AtomicU16 = AtomicU16::new(0);
        let first = std::process::id() % PLACES;
        for _ in 0..PLACES {
            let place = (first + u32::from(TAKEN.fetch_add(1, Ordering::Relaxed))) % PLACES;
            let options = Options { servers, port: 10_000 + place as u16 * 9, tick, ..Options::default() };
            match Server::start(&options) {
                Ok(server) => return Served { server: Some(server), options },
                Err(ServeError::Listen { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("there are no three free ports in a row");
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs")
    }

    fn perform(&self, verb: &str, fields: Value) -> Value {
        self.server().perform(verb, fields).expect("it is known")
    }

    fn znodes(&self) -> Vec<String> {
        let tree = self.perform("tree", json!({}));
        let znodes = tree["znodes"].as_array().expect("a list").iter();
        znodes.filter_map(|znode| Some(znode["path"].as_str()?.to_owned())).collect()
    }
}

impl Servers for Served {
    fn connect_string(&self) -> String {
        self.server().connect_string()
    }

    fn count(&self) -> usize {
        usize::from(self.options.servers)
    }

    fn restart(&mut self, server: usize) {
        assert_eq!(self.perform("restart", json!({"server": server}))["settled"], true);
    }

    fn stop_all(&mut self) {
        (0..self.count()).for_each(|server| _ = self.perform("crash", json!({"server": server})));
    }

    fn start_all(&mut self) {
        assert_eq!(self.perform("heal", json!({}))["settled"], true);
    }

    fn start_empty(&mut self) {
        drop(self.server.take());
        self.server = Some(Server::start(&self.options).expect("its ports are free"));
    }
}

/// With sessions of 15 ticks.
fn trial(tick: Duration) -> Trial<Served> {
    Trial::begin(&PROGRAM, Served::start(3, tick), tick * 15)
}

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_millis(600);

#[test]
fn a_service_outlasts_its_leader() {
    troubles::leader_is_killed(trial(SHORT));
}

#[test]
fn a_service_outlasts_a_leader_that_is_stopped_and_goes_on() {
    troubles::leader_is_stopped(trial(SHORT));
}

#[test]
fn a_service_keeps_its_sessions_while_all_servers_restart_in_turn() {
    troubles::servers_restart_in_turn(trial(LONG));
}

#[test]
fn a_service_outlasts_an_outage_of_all_servers() {
    troubles::servers_are_away(trial(SHORT));
}

#[test]
fn a_service_goes_on_with_servers_that_have_lost_their_data() {
    troubles::servers_come_back_empty(trial(SHORT));
}

#[test]
fn a_leader_that_is_interrupted_gives_back_at_once() {
    troubles::leader_is_interrupted(trial(LONG));
}

#[test]
fn the_three_in_one_process_leaves_nothing_although_its_sessions_were_ended() {
    let served = Served::start(1, SHORT);
    let mut process = Running::start(Command::new(&*PROGRAM).arg(served.connect_string()));
    process.wait_until(|| served.znodes().iter().any(|path| path.ends_with("/leader")));
    let sessions = served.perform("sessions", json!({}));
    for session in sessions["sessions"].as_array().expect("a list") {
        // The process may have closed it meanwhile.
        let _ = served.server().perform("expire", json!({"client": session["session"]}));
    }
    let output = process.output();
    assert!(output.status.success(), "{}", said(&output));
    assert!(served.znodes().iter().all(|path| !path.starts_with("/example")), "{:?}", served.znodes());
}

#[test]
fn an_ensemble_in_the_place_of_another_hands_out_none_of_its_sessions() {
    run(async {
        let mut served = Served::start(1, SHORT);
        let connect = served.connect_string();
        let open = async || Client::open(&connect, ClientOptions::new(SHORT * 5)).await.expect("it serves");
        let old = open().await;
        served.start_empty();
        let new = open().await;
        assert_ne!(old.session(), new.session());
        assert_eq!(over(&old).await, Over::Expired);
        assert_eq!(new.status().over(), None);
    });
}
