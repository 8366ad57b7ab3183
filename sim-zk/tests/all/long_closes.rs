//! Sessions whose ephemerals make their end too long to be read again from a server's log (ZOOKEEPER-4306):
//! `scenarios/tests/real/ephemerals.rs` shows the same on a real 3.8.0 server.

use sim_zk::choose::Calm;
use sim_zk::message::{Ask, Creation, Down, Password, Tag, Up};
use sim_zk::raw::Raw;
use sim_zk::{Config, ConnId, Settings};
use zk_recipes::zk::{CreateMode, SessionId};

/// The most bytes of paths, each with a length of 4, that a real server survives: twice `jute.maxbuffer`, minus 48 for
/// the rest.
const SURVIVED: usize = 2 * 0xfffff - 48;

/// The length of most paths.
const PATH: usize = 1020;

fn ensemble(servers: u8, dies_of_long_closes: bool) -> Raw {
    let settings = Settings { dies_of_long_closes, ..Settings::default() };
    Raw::new(Config { settings, ..Config::default().with_servers(servers) }, Calm)
}

fn pass(raw: &mut Raw, seconds: u64) {
    let until = raw.now() + seconds * 1_000_000;
    while raw.advance(until) {}
}

/// Opens a session, creates ephemerals of that many bytes, and closes the session.
fn closes_a_session_of(raw: &mut Raw, bytes: usize) {
    let hello = Up::Connect {
        session: SessionId(0),
        last_zxid: 0,
        timeout: 30_000_000,
        password: Password::default(),
    };
    let conn = raw.connect(0, hello);
    pass(raw, 1);
    let ask = |raw: &mut Raw, xid: i32, ask: Ask| {
        raw.send(conn, vec![Up::Request { xid, ask, tag: Tag::default() }])
    };
    let mut left = bytes;
    for xid in 1.. {
        let length = if left > 2 * PATH { PATH } else { left - 4 };
        let path = raw.paths().intern(&format!("/{xid:0width$}", width = length - 1));
        ask(raw, xid, Ask::Create(Box::new(Creation::new(path, None, CreateMode::Ephemeral))));
        left -= length + 4;
        if left == 0 {
            break;
        }
    }
    pass(raw, 5);
    takes_all(raw, conn);
    ask(raw, i32::MAX, Ask::CloseSession);
    pass(raw, 5);
}

fn takes_all(raw: &mut Raw, conn: ConnId) {
    while let Some(told) = raw.receive(conn) {
        let is_good =
            matches!(told, Down::Connected { timeout: 1.., .. } | Down::Reply { result: Ok(_), .. });
        assert!(is_good, "everything was created: {told:?}");
    }
}

#[test]
fn a_server_that_cannot_read_its_log_does_not_start_again() {
    for (bytes, dies, starts) in
        [(SURVIVED, true, true), (SURVIVED + 1, true, false), (SURVIVED + 1, false, true)]
    {
        let mut raw = ensemble(1, dies);
        closes_a_session_of(&mut raw, bytes);
        assert_eq!(raw.world().serving(), [0], "it goes on until it is started again");
        raw.restart(0);
        pass(&mut raw, 60);
        assert_eq!(raw.world().is_running(0), starts, "{bytes} bytes");
    }
}

#[test]
fn an_ensemble_whose_leader_has_logged_what_nobody_can_read_serves_nobody_any_more() {
    for (bytes, serves) in [(SURVIVED, true), (SURVIVED + 1, false)] {
        let mut raw = ensemble(3, true);
        closes_a_session_of(&mut raw, bytes);
        for _ in 0..3 {
            (0..3).for_each(|server| raw.start(server));
            pass(&mut raw, 60);
        }
        assert_eq!(raw.world().leader_of_quorum().is_some(), serves, "{bytes} bytes");
    }
}
