//! Ensembles whose control does not answer, and faults of others.

use super::{ControlOfServed, LastingFault, MemberStatus, Served, Status, Trouble, cannot};
use crate::ensemble::case::{Meta, Scenario, parse};
use crate::ensemble::cluster::{Cluster, Member, PipelineStage};
use crate::ensemble::play::{Stuck, play};
use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// What was asked of it; it answers to so many questions.
#[derive(Default)]
struct Fake {
    asked: RefCell<Vec<String>>,
    answers: usize,
}

impl Fake {
    fn ask(&self, what: String) -> Result<(), Trouble> {
        self.asked.borrow_mut().push(what);
        match self.asked.borrow().len() > self.answers {
            true => Err(Trouble("no answer".to_owned())),
            false => Ok(()),
        }
    }
}

impl ControlOfServed for &Fake {
    fn status(&self) -> Result<Status, Trouble> {
        self.ask("status".to_owned())?;
        let member = MemberStatus { serves: true, applied: Some(1) };
        Ok(Status {
            leader: Some(Member(0)),
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
    // A wait in real time would be one of hours.
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
    assert_eq!((&served).serving(), [Member(0), Member(1)]);
    let played = play(&served, &scenario(&format!("[{READ}]")), &meta(), 0);
    assert_eq!(played, Err(Stuck::NotReady("a connect to the leader: refused".to_owned())));
}

#[test]
fn the_faults_that_a_scenario_began_are_ended_and_no_others() {
    let fake = Fake { answers: 5, ..Fake::default() };
    let served = Served::new(addresses(), &fake);
    let mut cluster = &served;
    cluster.resume(Member(0));
    cluster.kill(Member(1));
    cluster.stall(Member(0), PipelineStage::Disk);
    cluster.unstall(Member(0), PipelineStage::Apply);
    cluster.pause(Member(0));
    cluster.resume(Member(0));
    assert_eq!(served.tidy(&meta()), Err(Trouble("no answer".to_owned())));
    assert_eq!(
        *fake.asked.borrow(),
        [
            "begin Kill(Member(1))",
            "begin Stall(Member(0), Disk)",
            "begin Pause(Member(0))",
            "end Pause(Member(0))",
            "end Stall(Member(0), Disk)",
            "end Kill(Member(1))",
        ],
        "the one that cannot be ended does not keep the others"
    );
}

#[test]
fn a_scenario_that_loses_packets_is_left_out_wherever_it_does() {
    let cut = r#"{"fault": "drop", "frm": "L", "to": "F1"}"#;
    let held = r#"{"fault": "hold", "frm": "L", "to": "F1"}"#;
    let within = |fault: &str| format!(r#"[{READ}, {{"if_": "r", "equals": "OK", "then": [{fault}]}}]"#);
    assert!(cannot(&scenario(&within(cut))).is_some());
    assert!(cannot(&scenario(&format!("[{READ}, {cut}]"))).is_some());
    assert_eq!(cannot(&scenario(&within(held))), None);
}
