//! Why no server could be used, as a caller is told.

use super::addresses::{closed, mute};
use super::run;
use super::script::{greets, serves, welcome};
use std::error::Error as _;
use std::io::Write;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::zk::{ConnectFailure, ConnectFailureKind as Kind};

const SHORT: Options = Options::new(Duration::from_millis(800));

/// A timeout that no test waits for.
const ENDLESS: Options = Options::new(Duration::from_secs(600));

async fn failures(address: &str, options: Options) -> Vec<ConnectFailure> {
    let refused = Client::open(address, options).await.expect_err("it cannot be used");
    let causes = refused.connect_failures();
    assert!(refused.is_unreachable(), "{refused}");
    let last = refused.source().map(ToString::to_string);
    assert_eq!(last, causes.last().map(ToString::to_string));
    for failure in causes {
        assert!(refused.to_string().contains(&failure.to_string()), "{refused}");
    }
    causes.to_vec()
}

fn says(answer: &'static [u8]) -> String {
    serves(move |mut peer| {
        peer.hears();
        let _ = peer.stream.write_all(answer);
    })
}

#[test]
fn each_failure_has_its_kind_and_its_sentence() {
    let (_bound, closed) = closed();
    let (_listener, mute) = mute();
    let hangs_up = serves(|mut peer| drop(peer.hears()));
    let only_reads = serves(|mut peer| {
        peer.hears();
        peer.says(&welcome(10_000, true));
    });
    let web = says(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    let short = says(&[0, 0, 0, 4, 1, 2, 3, 4]);
    let by_tls = says(&[0x15, 3, 3, 0, 2, 2, 80]);
    let grants = |millis: i32| serves(move |mut peer| peer.welcomes(millis));
    run(async {
        for (what, address, kind, sentence) in [
            ("an unknown host", "nobody.invalid:2181".to_owned(), Kind::UnknownHost, "lookup"),
            ("a closed port", closed, Kind::Refused, "connection refused"),
            ("a mute server", mute, Kind::TimedOut, "no answer to the request for a session within 800ms"),
            (
                "a server that does not serve yet",
                hangs_up,
                Kind::NotServing,
                "instead of accepting the session",
            ),
            ("a server that only reads", only_reads, Kind::ReadOnly, "only serves reads"),
            ("a web server", web, Kind::NotZooKeeper, "begins with \"HTTP\""),
            ("a short answer", short, Kind::NotZooKeeper, "none of ZooKeeper's"),
            ("a port with TLS", by_tls, Kind::Tls, "speaks TLS at this port"),
            ("a new session with a timeout of zero", grants(0), Kind::NotZooKeeper, "timeout of 0 ms"),
            ("a negative timeout", grants(-5), Kind::NotZooKeeper, "timeout of -5 ms"),
        ] {
            let failures = failures(&address, SHORT).await;
            let [failure] = &failures[..] else { panic!("{what}: {failures:?}") };
            assert_eq!((failure.kind, failure.server.as_str()), (kind, address.as_str()), "{what}");
            assert!(failure.message.contains(sentence), "{what}: {failure}");
            assert_eq!(
                failure.peer.is_some(),
                kind != Kind::UnknownHost,
                "{what}: the address that was tried"
            );
        }
    });
}

#[test]
fn causes_are_told_by_server() {
    let ((_bound, closed), web) = (closed(), says(b"HTTP/1.1 400"));
    run(async {
        let failures = failures(&format!("{closed},{web}"), SHORT).await;
        let mut kinds: Vec<_> =
            failures.iter().map(|failure| (failure.server.clone(), failure.kind)).collect();
        kinds.sort();
        let mut expected = [(closed, Kind::Refused), (web, Kind::NotZooKeeper)];
        expected.sort();
        assert_eq!(kinds, expected, "the latest of each server");
    });
}

/// The one that goes on when the time is over may have begun a moment ago.
#[test]
fn an_attempt_that_goes_on_does_not_hide_why_the_one_before_failed() {
    run(async {
        let mut refused = false;
        let address = greets(move |mut peer, _| match std::mem::replace(&mut refused, true) {
            false => drop(peer.stream.write_all(b"HTTP/1.1 400")),
            true => drop(std::thread::spawn(move || while peer.hears().is_some() {})),
        });
        let failures = failures(&address, Options::new(Duration::from_secs(3))).await;
        let kinds: Vec<_> = failures.iter().map(|failure| failure.kind).collect();
        assert_eq!(kinds, [Kind::NotZooKeeper], "{failures:?}");
    });
}

#[test]
fn what_no_waiting_mends_ends_a_first_connect_if_that_is_asked_for() {
    run(async {
        let (web, short) = (says(b"HTTP/1.1 400"), says(&[0, 0, 0, 4, 1, 2, 3, 4]));
        let failures = failures(&format!("{web},{short}"), ENDLESS.failing_fast()).await;
        assert!(failures.iter().all(|failure| failure.is_lasting), "{failures:?}");
        // A server that is down may come back.
        let (_bound, closed) = closed();
        let waits = ENDLESS.failing_fast().with_connect_timeout(Duration::from_millis(300));
        let begun = std::time::Duration::from_millis(300);
        let opening = tokio::time::timeout(begun / 2, Client::open(&format!("{web},{closed}"), waits)).await;
        assert!(opening.is_err(), "it goes on");
    });
}
