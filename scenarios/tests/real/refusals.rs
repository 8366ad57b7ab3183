//! What no well-behaved client sends: a real server and a served one answer the same, standalone and as members of an ensemble, with
//! a quorum and without.

use crate::common::{self, refusals};
use std::time::Duration;
use zk_serve::{Options, Server};

const TICK: Duration = Duration::from_millis(500);

fn served(servers: u8) -> Server {
    Server::start(&Options { servers, tick: TICK, ..Options::default() }).unwrap()
}

/// The addresses of a connect string.
fn each(addresses: &str) -> Vec<&str> {
    addresses.split(',').collect()
}

/// Every address answers as the table says.
fn answer_as_the_table_says(addresses: &str) {
    for address in each(addresses) {
        for (name, frames, answers) in refusals::table() {
            assert_eq!(refusals::answers(address, &frames), answers, "{name}, at {address}");
        }
    }
}

#[test]
fn authentication_is_refused_alike_by_one_server() {
    answer_as_the_table_says(&served(1).connect_string());
    let Some(real) = common::server(TICK) else { return };
    answer_as_the_table_says(&real.address());
}

#[test]
fn authentication_is_refused_alike_by_three_servers() {
    answer_as_the_table_says(&served(3).connect_string());
    let Some(real) = common::ensemble(3, TICK) else { return };
    answer_as_the_table_says(&real.address());
}

#[test]
fn a_member_without_a_quorum_hangs_up_on_every_client_also_on_one_that_only_reads() {
    let served = served(3);
    for address in each(&served.connect_string()) {
        assert_eq!(refusals::word(address, "isro"), "rw");
    }
    for server in [1, 2] {
        served.perform("crash", serde_json::json!({ "server": server })).unwrap();
    }
    until("null", || refusals::word(each(&served.connect_string())[0], "isro"));
    refusals::does_not_serve(each(&served.connect_string())[0]);

    let Some(mut real) = common::ensemble(3, TICK) else { return };
    for server in &mut real.servers_mut()[1..] {
        // A server that has just begun to serve may hang up instead.
        until("rw", || server.ask("isro").unwrap_or_default());
        server.kill().unwrap();
    }
    let survivor = &real.servers()[0];
    until("null", || survivor.ask("isro").unwrap_or_default());
    refusals::does_not_serve(&survivor.address());
}

#[expect(clippy::disallowed_methods, reason = "a server tells nobody that it has lost its quorum")]
fn until(answer: &str, isro: impl Fn() -> String) {
    let comes = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        isro() == answer
    });
    assert!(comes, "isro is answered with {answer}");
}

/// A line of a configuration, without the ports.
fn without_ports(config: &str) -> Vec<String> {
    let host_and_role = |line: &str| {
        let (participant, _client) = line.split_once(';').unwrap_or((line, ""));
        let words: Vec<&str> = participant.split(':').collect();
        match words[..] {
            [server, quorum, election, role] => {
                assert!([quorum, election].iter().all(|port| port.parse::<u16>().is_ok()), "{line}");
                format!("{server}:{role}")
            }
            _ => line.to_owned(),
        }
    };
    config.split('\n').map(host_and_role).collect()
}

#[test]
fn every_member_tells_the_configuration_alike() {
    let served = served(3);
    let Some(real) = common::ensemble(3, TICK) else { return };
    let (served, real) = (served.connect_string(), real.address());
    for (served, real) in each(&served).into_iter().zip(each(&real)) {
        let (of_served, stat) = refusals::data_and_stat(served, "/zookeeper/config");
        let (of_real, of_real_stat) = refusals::data_and_stat(real, "/zookeeper/config");
        assert_eq!(without_ports(&of_served), without_ports(&of_real));
        assert_eq!(usize::try_from(stat.data_length), Ok(of_served.len()));
        let length = stat.data_length;
        assert_eq!(stat, zk_recipes::zk::Stat { data_length: length, ..of_real_stat });
    }
}

#[test]
fn a_standalone_server_has_an_empty_configuration() {
    let empty = refusals::data_and_stat(&served(1).connect_string(), "/zookeeper/config");
    assert_eq!((empty.0.as_str(), empty.1.version, empty.1.aversion), ("", 0, -1));
    let Some(real) = common::server(TICK) else { return };
    assert_eq!(refusals::data_and_stat(&real.address(), "/zookeeper/config"), empty);
}
