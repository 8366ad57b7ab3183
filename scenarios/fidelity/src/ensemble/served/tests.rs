//! Ensembles whose control does not reply, and faults of other clients.

use super::{ControlOfServed, LastingFault, MemberStatus, Served, Status, Trouble};
use crate::ensemble::case::parse;
use crate::ensemble::cluster::{Cluster, Link, MemberId, PipelineStage};
use crate::ensemble::play::{Stuck, play};
use crate::ensemble::scenario::{Meta, Scenario};
use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// The questions to it; it answers only so many.
#[derive(Default)]
struct Fake {
    asked: RefCell<Vec<String>>,
    answers: usize,
}

impl Fake {
    fn ask(&self, what: String) -> Result<(), Trouble> {
        self.asked.borrow_mut().push(what);
        if self.asked.borrow().len() > self.answers { Err(Trouble("no answer".to_owned())) } else { Ok(()) }
    }
}

impl ControlOfServed for &Fake {
    fn status(&self) -> Result<Status, Trouble> {
        self.ask("status".to_owned())?;
        let member = MemberStatus { serves: true, applied: Some(1) };
        Ok(Status {
            leader: Some(MemberId(0)),
            members: vec![MemberStatus { serves: false, ..member }, member],
        })
    }

    fn begin(&self, fault: LastingFault) -> Result<(), Trouble> {
        self.ask(format!("begin {fault:?}"))
    }

    fn end(&self, fault: LastingFault) -> Result<(), Trouble> {
        self.ask(format!("end {fault:?}"))
    }

    fn end_session(&self, session: i64) -> Result<(), Trouble> {
        self.ask(format!("end session {session}"))
    }
}

fn meta() -> Meta {
    let note = String::new();
    // A wait in real time would take hours.
    Meta { meta: 1, members: 2, tick_ms: 100_000, init_limit: 10, sync_limit: 5, note }
}

fn scenario(steps: &str) -> Scenario {
    let text = format!(r#"{{"id": "x", "steps": {steps}, "allowed": [{{"r": "OK"}}]}}"#);
    parse(&text, &meta()).unwrap()
}

fn addresses() -> Vec<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    vec![listener.local_addr().unwrap(); 2]
}

const READ: &str =
    r#"{"s": "a", "connect": "L", "T": 16}, {"s": "a", "op": "exists", "path": "/", "as_": "r"}"#;

#[test]
fn without_an_answer_of_the_control_nothing_is_waited_for() {
    let fake = Fake::default();
    let served = Served::new(addresses(), &fake);
    let played = play(&served, &scenario(&format!("[{READ}]")), &meta(), 0);
    assert_eq!(played, Err(Stuck::NotReady("not all members serve".to_owned())));
    assert_eq!(served.trouble(), Some(Trouble("no answer".to_owned())));
    assert_eq!(*fake.asked.borrow(), ["status"], "it is asked once");
    assert_eq!(served.tidy(&meta()), Err(Trouble("no answer".to_owned())));
}

#[test]
fn a_paused_leader_is_one_of_those_that_serve_and_a_refused_connect_is_told() {
    let fake = Fake { answers: 9, ..Fake::default() };
    let served = Served::new(addresses(), &fake);
    assert_eq!((&served).serving(), [MemberId(0), MemberId(1)]);
    let played = play(&served, &scenario(&format!("[{READ}]")), &meta(), 0);
    assert_eq!(played, Err(Stuck::NotReady("a connect to the leader: refused".to_owned())));
}

#[test]
fn the_faults_that_a_scenario_began_are_ended_and_no_others() {
    let fake = Fake { answers: 5, ..Fake::default() };
    let served = Served::new(addresses(), &fake);
    let mut cluster = &served;
    cluster.resume(MemberId(0));
    cluster.kill(MemberId(1));
    cluster.stall(MemberId(0), PipelineStage::Disk);
    cluster.unstall(MemberId(0), PipelineStage::Apply);
    cluster.pause(MemberId(0));
    cluster.resume(MemberId(0));
    assert_eq!(served.tidy(&meta()), Err(Trouble("no answer".to_owned())));
    assert_eq!(
        *fake.asked.borrow(),
        [
            "begin Kill(MemberId(1))",
            "begin Stall(MemberId(0), Disk)",
            "begin Pause(MemberId(0))",
            "end Pause(MemberId(0))",
            "end Stall(MemberId(0), Disk)",
            "end Kill(MemberId(1))",
        ],
        "the one that cannot be ended does not keep the others"
    );
}

#[test]
fn packets_of_a_link_are_lost_until_it_heals() {
    let fake = Fake { answers: 9, ..Fake::default() };
    let served = Served::new(addresses(), &fake);
    let (mut cluster, link) = (&served, Link { from: MemberId(0), to: MemberId(1) });
    cluster.lose(link);
    cluster.release(link);
    cluster.heal(link);
    let asked = [
        "begin Lose(Link { from: MemberId(0), to: MemberId(1) })",
        "end Lose(Link { from: MemberId(0), to: MemberId(1) })",
    ];
    assert_eq!(*fake.asked.borrow(), asked, "a release ends no loss");
    assert_eq!(served.trouble(), None);
}

#[test]
fn a_link_does_not_hold_packets_and_lose_them_at_a_time() {
    let link = Link { from: MemberId(0), to: MemberId(1) };
    for is_held_first in [true, false] {
        let fake = Fake { answers: 9, ..Fake::default() };
        let served = Served::new(addresses(), &fake);
        let mut cluster = &served;
        for is_hold in [is_held_first, !is_held_first] {
            if is_hold { cluster.hold(link) } else { cluster.lose(link) }
        }
        let why = "a link of a served ensemble holds packets or loses them, and not both at a time";
        assert_eq!(served.trouble(), Some(Trouble(why.to_owned())));
        assert_eq!(fake.asked.borrow().len(), 1);
    }
}
