//! Answers about the session, and probes: see `zk_protocol::session`.

use super::*;
use crate::message::{Found, Refusal};
use zk_recipes::zk::Over;

const SECOND: u64 = 1_000_000;
const TIMEOUT: u64 = 8 * SECOND;

/// The results of the requests, in order.
fn results(out: &[Out]) -> Vec<Failure> {
    let failure = |out: &Out| match out {
        Out::Answered(Answered { result, .. }) => result.as_ref().err().cloned(),
        _ => None,
    };
    out.iter().filter_map(failure).collect()
}

#[test]
fn every_answer_about_the_session_ends_it_or_leaves_the_server() {
    const OVER: Failure = Failure::Over(Over::Expired);
    let (expired, moved) = (Code::SessionExpired, Code::SessionMoved);
    let found = || Ok(Answer::Many(vec![Err(Code::NoNode), Err(Code::SessionExpired)]));
    let answers: [(i32, Result<Answer, Refusal>, Failure); 7] = [
        (1, Err(expired.into()), OVER),
        (1, Err(Refusal::Multi { index: 0, of: 2, code: expired }), OVER),
        (1, found(), OVER),
        // A server that is about to hang up ignores the order of requests; and a ping is a request.
        (2, Err(expired.into()), OVER),
        (-2, Err(expired.into()), OVER),
        (1, Err(moved.into()), Failure::ConnectionLoss),
        (1, Err(Refusal::Multi { index: 0, of: 2, code: moved }), Failure::ConnectionLoss),
    ];
    for (xid, result, failure) in answers {
        let mut session = connected(TIMEOUT);
        let out = &mut Vec::new();
        for ticket in [1, 2] {
            session.ask(1, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(ticket), None, out);
        }
        session.timer(3 * SECOND, out);
        out.clear();
        let said = format!("{xid} {result:?}");
        receive(&mut session, 4 * SECOND, ConnId(0), Down::Reply { xid, zxid: 5, result }, out);
        assert_eq!(results(out), [failure, failure], "{said}");
        assert!(matches!(out[0], Out::Close(ConnId(0))), "{said}");
        assert_eq!(session.safe_from(), 0, "{said}: no server has confirmed the session");
        match failure {
            Failure::Over(why) => assert_eq!(session.status().state, State::Over(why), "{said}"),
            _ => assert_eq!(session.status().state, State::Suspended, "{said}"),
        }
    }
}

/// The error of one znode in a read of several says nothing about the session.
#[test]
fn an_absent_znode_in_a_read_of_several_is_an_answer() {
    let mut session = connected(TIMEOUT);
    let out = &mut Vec::new();
    session.ask(1, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(1), None, out);
    let found: Vec<Result<Found, Code>> = vec![Err(Code::NoNode), Err(Code::NoAuth)];
    let result = Ok(Answer::Many(found));
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 5, result }, out);
    assert_eq!((session.status().state, results(out).len()), (State::Connected, 0));
}

/// Returns a session that has seen zxid 53, and whose connection ended at `at`.
fn cut(at: u64) -> (ClientSession, u32) {
    let mut session = connected(TIMEOUT);
    let out = &mut Vec::new();
    session.ask(1, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(1), None, out);
    receive(&mut session, 2, ConnId(0), Down::Reply { xid: 1, zxid: 53, result: Ok(Answer::Nothing) }, out);
    receive(&mut session, at, ConnId(0), Down::Fin, out);
    (session, 0)
}

/// Makes the next attempt: returns the zxid that its connect request shows, and its connection.
fn attempt(session: &mut ClientSession, conn: &mut u32, at: u64) -> (i64, ConnId) {
    let out = &mut Vec::new();
    session.retry_at(at);
    session.timer(at, out);
    *conn += 1;
    session.attempt(at, ConnId(*conn), out);
    let shown = out.iter().find_map(|out| match out {
        Out::Send(_, Outgoing::Connect { last_zxid, .. }) => Some(*last_zxid),
        _ => None,
    });
    (shown.expect("an attempt begins with a connect"), ConnId(*conn))
}

/// Makes an attempt that the server turns away, and returns the zxid that its connect request shows.
fn turned_away(session: &mut ClientSession, conn: &mut u32, at: u64) -> i64 {
    let (shown, id) = attempt(session, conn, at);
    receive(session, at + 1, id, Down::Fin, &mut Vec::new());
    shown
}

#[test]
fn a_session_that_is_unconfirmed_for_its_timeout_is_probed_where_it_is_turned_away() {
    let (mut session, mut conn) = cut(SECOND);
    for at in [2, 5, 8] {
        assert_eq!(turned_away(&mut session, &mut conn, at * SECOND), 53, "at {at} s the session may live");
    }
    assert_eq!(turned_away(&mut session, &mut conn, 9 * SECOND), 0, "a probe");
    assert_eq!(turned_away(&mut session, &mut conn, 10 * SECOND), 53, "its end says nothing");
    let (shown, id) = attempt(&mut session, &mut conn, 11 * SECOND);
    assert_eq!(shown, 0);
    receive(&mut session, 11 * SECOND + 1, id, welcome(0), &mut Vec::new());
    assert_eq!(session.status().state, State::Over(Over::Expired));
}

#[test]
fn a_probe_that_finds_the_session_alive_serves_nothing_and_lets_it_expire() {
    let (mut session, mut conn) = cut(SECOND);
    turned_away(&mut session, &mut conn, 9 * SECOND);
    let (shown, id) = attempt(&mut session, &mut conn, 10 * SECOND);
    let out = &mut Vec::new();
    session.ask(10 * SECOND, Ask::Sync { path: PathId::ROOT }, Tag::default(), Some(2), None, out);
    receive(&mut session, 10 * SECOND + 1, id, welcome(TIMEOUT), out);
    assert_eq!((shown, session.conn(), session.status().state), (0, None, State::Suspended));
    assert_eq!(
        (session.safe_from(), results(out)),
        (1, vec![Failure::ConnectionLoss]),
        "no lease, no request"
    );
    assert!(out.iter().any(|out| matches!(out, Out::Close(conn) if *conn == id)), "{out:?}");
    for at in [11, 18, 25] {
        assert_eq!(
            turned_away(&mut session, &mut conn, at * SECOND),
            53,
            "at {at} s a probe would keep it alive"
        );
    }
    assert_eq!(attempt(&mut session, &mut conn, 27 * SECOND).0, 0);
}

#[test]
fn a_server_that_cannot_be_reached_is_not_probed() {
    let (mut session, mut conn) = cut(SECOND);
    for at in 9..12 {
        let (shown, id) = attempt(&mut session, &mut conn, at * SECOND);
        let bytes = |_: &PathId| PATH_BYTES;
        session.receive(at * SECOND + 1, id, Incoming::Unreachable, bytes, &mut Vec::new());
        assert_eq!(shown, 53);
    }
    let mut fresh = ClientSession::new(TIMEOUT, Servers::new(1, 0, false), 0);
    for at in 9..12 {
        assert_eq!(turned_away(&mut fresh, &mut conn, at * SECOND), 0, "there is no session to ask about");
    }
    assert_eq!(fresh.status().state, State::Suspended);
}

#[test]
fn the_other_servers_are_tried_before_the_one_that_is_behind_is_probed() {
    let mut session = ClientSession::new(TIMEOUT, Servers::new(3, 0, false), 0);
    let (out, mut conn) = (&mut Vec::new(), 0);
    session.timer(0, out);
    session.attempt(0, ConnId(0), out);
    receive(&mut session, 0, ConnId(0), welcome(TIMEOUT), out);
    receive(&mut session, SECOND, ConnId(0), Down::Fin, out);
    let mut tried = Vec::new();
    for at in 10..18 {
        out.clear();
        session.retry_at(at * SECOND);
        session.timer(at * SECOND, out);
        let server =
            out.iter().find_map(|out| if let Out::Attempt { server } = out { Some(*server) } else { None });
        let server = server.expect("a timer begins an attempt");
        conn += 1;
        session.attempt(at * SECOND, ConnId(conn), out);
        let shown = out.iter().find_map(|out| match out {
            Out::Send(_, Outgoing::Connect { session, .. }) => Some(session.0),
            _ => None,
        });
        assert_eq!(shown, Some(1));
        tried.push(server);
        // Server 1 is behind; the others are unreachable.
        let end = if server == 1 { Incoming::Fin } else { Incoming::Unreachable };
        session.receive(at * SECOND + 1, ConnId(conn), end, |_| PATH_BYTES, out);
    }
    assert_eq!(
        tried,
        [1, 2, 1, 0, 1, 2, 1, 0],
        "a round ends where the session was: then it is asked once more"
    );
}
