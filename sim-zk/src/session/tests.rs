//! The session machine alone, driven by hand.

mod endings;

use super::*;
use crate::message::Code;
use zk_recipes::zk::{EventKind, SessionId, State, Status};

fn welcome(timeout: u64) -> Down {
    Down::Connected { session: SessionId(1), timeout, password: [0; 16] }
}

/// Returns a session on its first connection, with that negotiated timeout.
fn connected(timeout: u64) -> ClientSession {
    let mut session = ClientSession::new(10_000_000, Servers::new(1, 0, false), 0);
    session.timer(0, &mut Vec::new());
    session.attempt(0, ConnId(0), &mut Vec::new());
    receive(&mut session, 0, ConnId(0), welcome(timeout), &mut Vec::new());
    session
}

fn receive(session: &mut ClientSession, now: u64, conn: ConnId, packet: Down, out: &mut Vec<Out>) {
    session.receive(now, conn, packet.into(), |_| PATH_BYTES, out);
}

/// The length of every path.
const PATH_BYTES: usize = 80;

/// Returns the last zxid that the next connect request shows.
fn last_zxid(session: &mut ClientSession) -> i64 {
    let (out, conn) = (&mut Vec::new(), session.conn().expect("it is connected"));
    receive(session, 4_000_000, conn, Down::Fin, out);
    session.attempt(4_000_001, ConnId(conn.0 + 1), out);
    let said = out.iter().find_map(|out| match out {
        Out::Send(_, Outgoing::Connect { last_zxid, .. }) => Some(*last_zxid),
        _ => None,
    });
    said.expect("a connection begins with a connect")
}

fn again(session: &mut ClientSession, timeout: u64) {
    let out = &mut Vec::new();
    let Some(conn) = session.conn() else { panic!("it is connected") };
    receive(session, 1, conn, Down::Fin, out);
    let next = ConnId(conn.0 + 1);
    session.attempt(2, next, out);
    receive(session, 3, next, welcome(timeout), out);
}

#[test]
fn a_gap_in_the_answers_ends_the_connection() {
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    for ticket in [1, 2] {
        session.ask(1, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(ticket), None, out);
    }
    out.clear();
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 2, zxid: 5, result: Ok(Answer::Nothing) }, out);
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
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 53, result: Ok(Answer::Nothing) }, out);
    session.timer(3_000_000, out);
    receive(
        &mut session,
        3_000_001,
        ConnId(0),
        Down::Reply { xid: -2, zxid: 999, result: Ok(Answer::Nothing) },
        out,
    );
    let kind = EventKind::NodeCreated;
    receive(&mut session, 3_000_002, ConnId(0), Down::Notify { kind, path: PathId::ROOT }, out);
    assert_eq!(last_zxid(&mut session), 53);
}

#[test]
fn a_removal_waits_for_a_request_on_its_way_and_is_made_if_that_arms_nothing() {
    let mut session = connected(8_000_000);
    let (out, path) = (&mut Vec::new(), PathId(7));
    let exists = Ask::Exists { path, watch: true };
    session.ask(1, exists, Tag::default(), Some(1), Some(1), out);
    let absent = || Err(Code::NoNode.into());
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 5, result: absent() }, out);
    let get = Ask::Get { path, watch: true };
    session.ask(3, get, Tag::default(), Some(2), Some(2), out);
    out.clear();
    session.drop_watch(4, 1, Tag::default(), out);
    assert!(out.is_empty(), "the one on its way may need it");
    receive(&mut session, 5, ConnId(0), Down::Reply { xid: 2, zxid: 5, result: absent() }, out);
    let removed = |out: &Out| matches!(out, Out::Send(_, Outgoing::Request { ask: Ask::RemoveWatches { path: of, .. }, .. }) if *of == path);
    assert_eq!(out.iter().filter(|out| removed(out)).count(), 1, "it armed nothing: nobody is left");
}

#[test]
fn a_removal_waits_for_the_last_of_several_requests_on_their_way() {
    let mut session = connected(8_000_000);
    let (out, path) = (&mut Vec::new(), PathId(7));
    let absent = |xid| Down::Reply { xid, zxid: 5, result: Err(Code::NoNode.into()) };
    session.ask(1, Ask::AddWatch { path, mode: 0 }, Tag::default(), Some(1), Some(1), out);
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 5, result: Ok(Answer::Nothing) }, out);
    session.ask(3, Ask::Exists { path, watch: true }, Tag::default(), Some(2), Some(2), out);
    receive(&mut session, 4, ConnId(0), absent(2), out);
    for ticket in [3, 4] {
        session.ask(5, Ask::Get { path, watch: true }, Tag::default(), Some(ticket), Some(ticket), out);
    }
    out.clear();
    for watch in [2, 1] {
        session.drop_watch(6, watch, Tag::default(), out);
    }
    receive(&mut session, 7, ConnId(0), absent(3), out);
    assert!(out.iter().all(|out| !matches!(out, Out::Send(..))), "the other may still need what is armed");
    receive(&mut session, 8, ConnId(0), absent(4), out);
    let asked = |out: &Out| match out {
        Out::Send(_, Outgoing::Request { ask: Ask::RemoveWatches { path: of, kind }, .. }) => {
            Some((*of, *kind))
        }
        _ => None,
    };
    // One request removes both: the persistent watch, and the one that waits for the znode.
    assert_eq!(out.iter().filter_map(asked).collect::<Vec<_>>(), [(path, 3)]);
}

#[test]
fn watches_are_registered_again_in_requests_of_limited_size() {
    const WATCHES: u32 = 100_000;
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    for watch in 0..WATCHES {
        let ask = Ask::Get { path: PathId(100 + watch), watch: true };
        session.ask(1, ask, Tag::default(), None, Some(watch), out);
        let result = Ok(Answer::Nothing);
        receive(&mut session, 2, ConnId(0), Down::Reply { xid: watch as i32 + 1, zxid: 7, result }, out);
    }
    out.clear();
    receive(&mut session, 3, ConnId(0), Down::Fin, out);
    session.attempt(4, ConnId(1), out);
    out.clear();
    receive(&mut session, 5, ConnId(1), welcome(8_000_000), out);
    let sizes: Vec<usize> = out.iter().filter_map(believed).map(|all| all.paths().count()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), WATCHES as usize);
    let most = sizes.iter().max().expect("there are watches") * PATH_BYTES;
    assert!(most <= 128 * 1024 + PATH_BYTES, "a request of {most} bytes");
    assert!(out.iter().filter_map(believed).all(|all| all.relative == 7));
}

#[test]
fn a_long_path_is_registered_again_in_a_request_of_its_own() {
    const LONG: usize = 1_000_000;
    let bytes = |path: &PathId| if *path == PathId(101) { LONG } else { PATH_BYTES };
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    for watch in 0..3 {
        let ask = Ask::Get { path: PathId(100 + watch), watch: true };
        session.ask(1, ask, Tag::default(), None, Some(watch), out);
        let result = Ok(Answer::Nothing);
        receive(&mut session, 2, ConnId(0), Down::Reply { xid: watch as i32 + 1, zxid: 7, result }, out);
    }
    receive(&mut session, 3, ConnId(0), Down::Fin, out);
    session.attempt(4, ConnId(1), out);
    out.clear();
    session.receive(5, ConnId(1), welcome(8_000_000).into(), bytes, out);
    let requests: Vec<Vec<PathId>> =
        out.iter().filter_map(believed).map(|all| all.paths().copied().collect()).collect();
    assert_eq!(requests.concat(), [100, 101, 102].map(PathId), "each of them once");
    let alone = requests.iter().filter(|paths| paths.contains(&PathId(101))).all(|paths| paths.len() == 1);
    assert!(alone, "with others a server would hang up: {requests:?}");
}

fn believed(out: &Out) -> Option<&Watching> {
    match out {
        Out::Send(_, Outgoing::Request { ask: Ask::SetWatches(watching), .. }) => Some(watching),
        _ => None,
    }
}

#[test]
fn a_server_that_refuses_to_register_watches_is_left() {
    let mut session = connected(8_000_000);
    let out = &mut Vec::new();
    session.ask(1, Ask::Get { path: PathId(7), watch: true }, Tag::default(), None, Some(1), out);
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 7, result: Ok(Answer::Nothing) }, out);
    again(&mut session, 8_000_000);
    let result = Err(Code::QuotaExceeded.into());
    receive(&mut session, 4, ConnId(1), Down::Reply { xid: 2, zxid: 7, result }, out);
    assert_eq!(session.conn(), None, "a connection without its watches is of no use");
    assert!(
        matches!(out.last(), Some(Out::Changed(Status { state: State::Suspended, .. }))),
        "{:?}",
        out.last()
    );
    // The next connection registers them again.
    out.clear();
    session.attempt(5, ConnId(2), out);
    receive(&mut session, 6, ConnId(2), welcome(8_000_000), out);
    let again: Vec<PathId> = out.iter().filter_map(believed).flat_map(|all| all.data.clone()).collect();
    assert_eq!(again, [PathId(7)]);
}
