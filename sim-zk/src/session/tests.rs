//! The machine by itself, driven by hand.

use super::*;
use crate::message::Code;

fn welcome(timeout: u64) -> Down {
    Down::Connected { session: SessionId(1), timeout, password: [0; 16] }
}

/// A session over its first connection, with the timeout that it was given.
fn connected(timeout: u64) -> ClientSession {
    let mut session = ClientSession::new(10_000_000, Servers::new(1, 0, false), 0);
    session.timer(0, &mut Vec::new());
    session.attempt(0, ConnId(0), &mut Vec::new());
    session.receive(0, ConnId(0), welcome(timeout), &mut Vec::new());
    session
}

fn again(session: &mut ClientSession, timeout: u64) {
    let out = &mut Vec::new();
    let Phase::Up { conn } = session.phase else { panic!("it is connected") };
    session.receive(1, conn, Down::Fin, out);
    let next = ConnId(conn.0 + 1);
    session.attempt(2, next, out);
    session.receive(3, next, welcome(timeout), out);
}

#[test]
fn a_client_goes_round_its_servers_and_rests_after_each_round_without_success() {
    let mut servers = Servers::new(3, 1, false);
    let mut tried = Vec::new();
    for _ in 0..5 {
        tried.push((servers.pause() > 0, servers.take()));
    }
    assert_eq!(tried, [(false, 1), (false, 2), (false, 0), (true, 1), (false, 2)]);
    servers.connected(2);
    assert_eq!(
        (servers.pause(), servers.take()),
        (0, 0),
        "it begins with the one after the last that served it"
    );
    assert_eq!(servers.take(), 1);
    assert_eq!(servers.pause(), 1_000_000);
    assert_eq!([1, 0, 2].map(|_| Servers::new(3, 0, true).take()), [0; 3]);
}

#[test]
fn a_gap_in_the_answers_ends_the_connection() {
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    for ticket in [1, 2] {
        session.ask(1, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(ticket), None, out);
    }
    out.clear();
    session.receive(2, ConnId(0), Down::Reply { xid: 2, zxid: 5, result: Ok(Answer::Nothing) }, out);
    assert!(matches!(out[0], Out::Close(ConnId(0))));
    let lost =
        |out: &&Out| matches!(out, Out::Answered(Answered { result: Err(Failure::ConnectionLoss), .. }));
    assert_eq!(out.iter().filter(lost).count(), 2, "whatever was asked may have been done");
}

#[test]
fn the_timeout_to_reckon_with_is_the_least_that_was_given() {
    let mut session = connected(8_000_000);
    assert_eq!(session.sound_timeout(), 8_000_000);
    again(&mut session, 6_000_000);
    assert_eq!(session.sound_timeout(), 6_000_000);
    again(&mut session, 9_000_000);
    assert_eq!(session.sound_timeout(), 6_000_000);
    assert_eq!(session.next_timer(), Some(2 + 3_000_000), "pings go by the last one");
}

#[test]
fn only_answers_to_requests_move_the_last_zxid() {
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    let sync = Ask::Sync { path: PathId::ROOT };
    session.ask(1, sync, Tag::default(), Some(1), None, out);
    session.receive(2, ConnId(0), Down::Reply { xid: 1, zxid: 53, result: Ok(Answer::Nothing) }, out);
    session.timer(3_000_000, out);
    session.receive(
        3_000_001,
        ConnId(0),
        Down::Reply { xid: -2, zxid: 999, result: Ok(Answer::Nothing) },
        out,
    );
    let kind = EventKind::NodeCreated;
    session.receive(3_000_002, ConnId(0), Down::Notify { kind, path: PathId::ROOT }, out);
    assert_eq!(session.last_zxid, 53);
}

#[test]
fn a_removal_waits_for_a_request_on_its_way_and_is_made_if_that_arms_nothing() {
    let mut session = connected(8_000_000);
    let (out, path) = (&mut Vec::new(), PathId(7));
    let exists = Ask::Exists { path, watch: true };
    session.ask(1, exists, Tag::default(), Some(1), Some(1), out);
    let absent = || Err(Code::NoNode.into());
    session.receive(2, ConnId(0), Down::Reply { xid: 1, zxid: 5, result: absent() }, out);
    let get = Ask::Get { path, watch: true };
    session.ask(3, get, Tag::default(), Some(2), Some(2), out);
    out.clear();
    session.drop_watch(4, 1, Tag::default(), out);
    assert!(out.is_empty(), "the one on its way may need it");
    session.receive(5, ConnId(0), Down::Reply { xid: 2, zxid: 5, result: absent() }, out);
    let removed = |out: &Out| matches!(out, Out::Send(_, Up::Request { ask: Ask::RemoveWatches { path: of, .. }, .. }) if *of == path);
    assert_eq!(out.iter().filter(|out| removed(out)).count(), 1, "it armed nothing: nobody is left");
}

#[test]
fn a_removal_waits_for_the_last_of_several_requests_on_their_way() {
    let mut session = connected(8_000_000);
    let (out, path) = (&mut Vec::new(), PathId(7));
    let absent = |xid| Down::Reply { xid, zxid: 5, result: Err(Code::NoNode.into()) };
    session.ask(1, Ask::AddWatch { path, mode: 0 }, Tag::default(), Some(1), Some(1), out);
    session.receive(2, ConnId(0), Down::Reply { xid: 1, zxid: 5, result: Ok(Answer::Nothing) }, out);
    session.ask(3, Ask::Exists { path, watch: true }, Tag::default(), Some(2), Some(2), out);
    session.receive(4, ConnId(0), absent(2), out);
    for ticket in [3, 4] {
        session.ask(5, Ask::Get { path, watch: true }, Tag::default(), Some(ticket), Some(ticket), out);
    }
    out.clear();
    for watch in [2, 1] {
        session.drop_watch(6, watch, Tag::default(), out);
    }
    session.receive(7, ConnId(0), absent(3), out);
    assert!(out.iter().all(|out| !matches!(out, Out::Send(..))), "the other may still need what is armed");
    session.receive(8, ConnId(0), absent(4), out);
    let asked = |out: &Out| match out {
        Out::Send(_, Up::Request { ask: Ask::RemoveWatches { path: of, kind }, .. }) => Some((*of, *kind)),
        _ => None,
    };
    // One request takes both along: the one that stays, and the one that waits for the znode.
    assert_eq!(out.iter().filter_map(asked).collect::<Vec<_>>(), [(path, 3)]);
}
