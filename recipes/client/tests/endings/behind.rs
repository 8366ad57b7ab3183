//! Servers that are behind what the client has seen: they hang up on its request for the session, as those do that do not serve
//! yet. Only a probe, which hides what was seen, tells whether the session is known.

use super::script::{Hello, Peer, SESSION, ZXID, greets};
use super::{TIMEOUT, open, over, run, until};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, Over, State};
use zk_recipes::{Group, GroupOptions, Lock, LockOptions, WithData, ZooKeeper};

/// A request for the session as usual, and a probe.
const USUAL: Hello = Hello { last_zxid: ZXID, session: SESSION };
const PROBE: Hello = Hello { last_zxid: 0, session: SESSION };

/// A server that has answered a session, goes away, and comes back with less than it had. `later` does the rest from the first
/// connection on that asks for the session again; all requests for a session are reported from then on.
fn comes_back(mut later: impl FnMut(&mut Peer, Hello) + Send + 'static) -> (String, Receiver<Hello>) {
    let (heard, requests): (Sender<Hello>, _) = channel();
    let mut is_back = false;
    let address = greets(move |mut peer, hello| {
        is_back |= !hello.is_new();
        if is_back {
            let _ = heard.send(hello);
            return later(&mut peer, hello);
        }
        peer.grants(TIMEOUT);
        if let Some((xid, _)) = peer.request() {
            peer.answers(xid, 0, b"");
        }
    });
    (address, requests)
}

/// A session that has seen something.
async fn seen(address: &str) -> Client {
    let zk = open(address).await;
    assert_eq!(zk.sync("/").await, Ok(()));
    zk
}

#[test]
fn a_session_that_an_ensemble_has_forgotten_ends_and_every_wait_with_it() {
    let (address, requests) = comes_back(|peer, hello| {
        if hello == PROBE {
            peer.grants(0);
        }
    });
    run(async {
        let zk = seen(&address).await;
        let lock = Lock::new(&zk, "/lock", LockOptions::default()).unwrap();
        let mut views = Group::new(&zk, "/group", GroupOptions::default()).unwrap().follow(WithData::No);
        let (lock, view) = futures_util::join!(lock.acquire(), views.next());
        let expired = Error::from(ErrorKind::SessionOver(Over::Expired));
        assert_eq!((lock.err(), view.err()), (Some(expired.clone()), Some(expired.clone())));
        assert_eq!(over(&zk).await, Some(expired));
    });
    let asked: Vec<Hello> = requests.try_iter().collect();
    let (probe, usual) = asked.split_last().expect("it came back");
    assert_eq!(*probe, PROBE, "{asked:?}");
    assert!(
        usual.len() >= 2 && usual.iter().all(|hello| *hello == USUAL),
        "first others may serve it: {asked:?}"
    );
}

#[test]
fn a_session_that_lives_is_neither_told_to_be_over_nor_served_by_a_server_that_is_behind() {
    let mut probes = 0;
    let (address, requests) = comes_back(move |peer, hello| {
        match hello {
            PROBE => {
                probes += 1;
                peer.grants(TIMEOUT);
                assert_eq!(peer.request(), None, "nothing is asked of a server that is behind");
            }
            // It has caught up.
            _ if probes == 2 => {
                peer.grants(TIMEOUT);
                peer.goes_on();
            }
            _ => {}
        }
    });
    run(async {
        let zk = seen(&address).await;
        until(&zk, |status| status.state == State::Suspended).await;
        let lease = zk.safe_until();
        let status = until(&zk, |status| status.state != State::Suspended).await;
        assert_eq!((status.state, status.connection), (State::Connected, 2));
        assert!(zk.safe_until() > lease);
        assert_eq!(zk.sync("/").await, Ok(()));
    });
    let asked: Vec<Hello> = requests.try_iter().collect();
    assert_eq!(asked.iter().filter(|hello| **hello == PROBE).count(), 2, "{asked:?}");
}

#[test]
fn a_server_that_does_not_serve_yet_says_nothing_about_the_session() {
    let mut turned_away = 0;
    let (address, requests) = comes_back(move |peer, _| {
        turned_away += 1;
        if turned_away > 12 {
            peer.grants(TIMEOUT);
            peer.goes_on();
        }
    });
    run(async {
        let zk = seen(&address).await;
        until(&zk, |status| status.state == State::Suspended).await;
        // A probe may be the one that finds it alive.
        let status = until(&zk, |status| status.state != State::Suspended).await;
        assert_eq!((status.state, status.connection), (State::Connected, 2));
    });
    let asked: Vec<Hello> = requests.try_iter().collect();
    assert!(asked.contains(&PROBE) && asked.last() == Some(&USUAL), "{asked:?}");
}

#[test]
fn a_new_session_is_opened_where_the_old_one_is_forgotten() {
    let (address, _requests) = comes_back(|peer, hello| match hello {
        Hello { session: 0, .. } => {
            peer.grants(TIMEOUT);
            peer.goes_on();
        }
        PROBE => peer.grants(0),
        _ => {}
    });
    run(async {
        let zk = seen(&address).await;
        assert_eq!(over(&zk).await, Some(ErrorKind::SessionOver(Over::Expired).into()));
        let delete = Op::Delete { path: "/a".to_owned(), version: None };
        assert!(zk.multi(vec![delete]).await.is_err_and(|e| e.is_session_over()));
        assert!(zk.create("/a", b"", CreateMode::Ephemeral).await.is_err_and(|e| e.is_session_over()));
        let again = Client::open(&address, Options::new(Duration::from_secs(2))).await.unwrap();
        assert_eq!(again.sync("/").await, Ok(()));
    });
}
