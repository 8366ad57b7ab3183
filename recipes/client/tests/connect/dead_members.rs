//! Connect strings of which only some servers live.

use super::addresses::{BlackHole, closed, lives, mute};
use super::script::{greets, serves};
use super::{open, run};
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::zk::{ErrorKind, Runtime, ZooKeeper};

const TEN_SECONDS: Options = Options::new(Duration::from_secs(10));

#[test]
fn one_server_of_fifty_is_found_whatever_the_others_do() {
    run(async {
        let live = lives();
        let mutes: Vec<_> = (0..49).map(|_| mute()).collect();
        let holes: Vec<_> = (0..49).map(|_| BlackHole::new()).collect();
        let (_bound, closed): (Vec<_>, Vec<_>) = (0..49).map(|_| closed()).unzip();
        let mutes = mutes.iter().map(|(_, address)| address.clone()).collect();
        let holes = holes.iter().map(|hole| hole.address.clone()).collect();
        let all: Vec<String> = [mutes, holes, closed]
            .map(|dead: Vec<String>| format!("{},{live}", dead.join(",")))
            .into_iter()
            .collect();
        // The order is drawn for each session.
        let opened = join_all(all.iter().cycle().take(30).map(|all| Client::open(all, TEN_SECONDS))).await;
        let failed: Vec<_> = opened.iter().filter_map(|zk| zk.as_ref().err()).collect();
        assert!(failed.is_empty(), "{} of 30: {:?}", failed.len(), failed[0]);
    });
}

#[test]
fn a_session_finds_the_server_that_lives_again() {
    run(async {
        // Hangs up on the connection that opens the session.
        let live = greets(|mut peer, hello| {
            peer.grants(2_000);
            if !hello.is_new() {
                thread::spawn(move || peer.goes_on());
            }
        });
        let mutes: Vec<_> = (0..7).map(|_| mute()).collect();
        let dead: Vec<_> = mutes.iter().map(|(_, address)| address.as_str()).collect();
        let zk = open(&format!("{},{live}", dead.join(",")), Options::new(Duration::from_secs(2))).await;
        let mut status = zk.status();
        while status.connection < 2 {
            status = zk.changed(status).await;
        }
        assert!(zk.safe_until() > zk.now(), "the lease counts from the connect that was answered");
    });
}

/// A server that starts may keep a connection and never answer; one that has refused may serve a moment later.
#[test]
fn no_silent_connection_costs_a_session_its_timeout() {
    const TIMEOUT: i32 = 3_000;
    run(async {
        let starts = |silent: bool| {
            let mut turned_away = 0;
            greets(move |mut peer, hello| {
                if hello.is_new() {
                    peer.grants(TIMEOUT);
                    return;
                }
                turned_away += 1;
                match turned_away {
                    // For as long as the client likes, or not at all.
                    1 if silent => drop(thread::spawn(move || while peer.hears().is_some() {})),
                    1 => (),
                    _ => drop(thread::spawn(move || {
                        peer.grants(TIMEOUT);
                        peer.goes_on();
                    })),
                }
            })
        };
        let (_listener, mute) = mute();
        for servers in [starts(true), format!("{},{mute}", starts(false))] {
            let zk = open(&servers, Options::new(Duration::from_secs(3))).await;
            // The first connection is lost at once.
            let begun = zk.now();
            let mut status = zk.status();
            while status.connection < 2 {
                status = zk.changed(status).await;
            }
            let away = zk.now().since(begun);
            assert!(away < zk.timeout() * 5 / 6, "its session lives: {away:?} with {servers}");
        }
    });
}

/// Each server that hears of a session takes it over: the next one is asked after the one before had its time.
#[test]
fn a_session_that_exists_is_asked_of_one_server_at_a_time() {
    run(async {
        let asked = Arc::new(AtomicUsize::new(0));
        let slow = || {
            let asked = asked.clone();
            serves(move |mut peer| {
                let asked = asked.clone();
                thread::spawn(move || {
                    if peer.hears().is_none() {
                        return;
                    }
                    // The first connection is short.
                    if asked.fetch_add(1, Ordering::SeqCst) > 0 {
                        // Slower than the delay between two attempts.
                        let _ = peer.stream.set_read_timeout(Some(Duration::from_millis(700)));
                        assert!(peer.hears().is_none());
                        let _ = peer.stream.set_read_timeout(None);
                        peer.grants(6_000);
                        peer.goes_on();
                    }
                    peer.grants(6_000);
                });
            })
        };
        let all = format!("{},{},{}", slow(), slow(), slow());
        let zk = open(&all, Options::new(Duration::from_secs(6))).await;
        let mut status = zk.status();
        while status.connection < 2 {
            status = zk.changed(status).await;
        }
        assert_eq!(asked.load(Ordering::SeqCst), 2, "of three servers one was asked, and later another one");
    });
}

#[test]
fn a_new_session_that_was_not_taken_is_closed() {
    run(async {
        let (told, hears) = std::sync::mpsc::channel();
        let slow = greets(move |mut peer, _| {
            let _ = told.send(peer.request());
        });
        let live = lives();
        // Unless the other one was asked first.
        for _ in 0..20 {
            let zk = open(&format!("{slow},{live}"), TEN_SECONDS).await;
            drop(zk);
            if let Ok(close) = hears.recv_timeout(Duration::from_millis(100)) {
                assert_eq!(close, Some((1, -11)), "closeSession");
                return;
            }
        }
        panic!("the order of two servers is drawn");
    });
}

#[test]
fn the_time_for_a_connect_is_an_option() {
    run(async {
        let (_listener, mute) = mute();
        let short = Options::new(Duration::from_secs(600)).with_connect_timeout(Duration::from_millis(300));
        let opened = tokio::time::timeout(Duration::from_secs(30), Client::open(&mute, short)).await;
        assert_eq!(opened.expect("it ends by itself").err(), Some(ErrorKind::Unreachable.into()));
    });
}
