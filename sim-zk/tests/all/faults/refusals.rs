//! Refusals by injected faults: nothing is applied, the connection stays open, and replies stay in order.

use crate::common::{calm, chosen, client};
use futures_util::future::join;
use sim_zk::choose::{Chooser, Point};
use sim_zk::fault::Fault;
use sim_zk::message::Code;
use sim_zk::observer::{Kind, SimEvent};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Op, ZooKeeper};

const REFUSALS: [Fault; 4] =
    [Fault::Throttled, Fault::QuotaExceeded, Fault::AccessDenied, Fault::ServerError];

#[test]
fn nothing_of_a_refused_write_is_applied_and_the_connection_stands() {
    for fault in REFUSALS {
        let ((created, found, connection), tape) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            process.order(fault);
            let created = zk.create("/a", b"", CreateMode::Persistent).await;
            (created, zk.exists("/a").await, zk.status().connection)
        });
        let code = fault.refusal().expect("it is a refusal");
        assert_eq!(created, Err(code.into()), "{fault:?}");
        assert_eq!((found, connection), (Ok(None), 1), "{fault:?}");
        assert_eq!(tape.struck(fault), 1);
        assert_eq!(tape.count(|event| matches!(event, SimEvent::Created { .. })), 0);
    }
}

#[test]
fn a_throttled_request_is_answered_in_its_turn_and_what_is_behind_it_is_done() {
    let (answers, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        let before = zk.create("/before", b"", CreateMode::Persistent);
        process.order(Fault::Throttled);
        let throttled = zk.create("/throttled", b"", CreateMode::Persistent);
        let behind = zk.children("/");
        (before.await.is_ok(), join(throttled, behind).await)
    });
    let (before, (throttled, listing)) = answers;
    assert!(before);
    assert_eq!(throttled.map(drop), Err(ErrorKind::Refused(Code::ThrottledOp).into()));
    assert!(listing.expect("it is answered").names.contains(&"before".to_owned()));
    let replied: Vec<_> = tape
        .seen
        .iter()
        .filter_map(|(_, event)| match event {
            SimEvent::Replied { outcome, .. } => Some(*outcome),
            _ => None,
        })
        .collect();
    assert_eq!(replied, [None, Some(Code::ThrottledOp), None]);
}

#[test]
fn a_throttled_write_takes_no_zxid_and_one_that_a_quota_forbids_takes_one() {
    for (fault, transactions) in [(Fault::Throttled, 0), (Fault::QuotaExceeded, 1)] {
        let ((), tape) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            process.order(fault);
            let refused = zk.create("/a", b"", CreateMode::Persistent).await;
            assert!(refused.is_err());
        });
        let create = |event: &SimEvent<'_>| matches!(event, SimEvent::Txn { kind: Kind::Create, .. });
        assert_eq!(tape.count(create), transactions, "{fault:?}");
    }
}

#[test]
fn a_transaction_is_throttled_as_a_whole_and_denied_by_an_operation() {
    let refused = |fault| {
        let (refused, _) = calm(move |sim| async move {
            let (process, zk) = client(&sim, "a").await;
            process.order(fault);
            zk.multi(vec![Op::Check { path: "/".to_owned(), version: None }]).await.map(drop)
        });
        refused.expect_err("it is refused")
    };
    assert_eq!(refused(Fault::Throttled), ErrorKind::Refused(Code::ThrottledOp));
    assert_eq!(refused(Fault::AccessDenied), Error::multi(0, ErrorKind::NoAuth));
}

/// Fault-free, except for the choice of the refused operation.
struct RefusedAt(u32);

impl Chooser for RefusedAt {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        if point == Point::Operation { self.0.min(n - 1) } else { 0 }
    }
}

/// Sends a transaction of a check of `/` and two creates, which that fault refuses at the refusable operation number
/// `at`. Returns the error, and the number of creations.
fn refused_at(fault: Fault, at: u32, version: Option<i32>) -> (Error, usize) {
    let (refused, tape) = chosen(RefusedAt(at), move |sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(fault);
        let create =
            |path: &str| Op::Create { path: path.to_owned(), data: Vec::new(), mode: CreateMode::Persistent };
        let check = Op::Check { path: "/".to_owned(), version };
        zk.multi(vec![check, create("/a"), create("/b")]).await.map(drop)
    });
    let created = tape.count(|event| matches!(event, SimEvent::Created { .. }));
    (refused.expect_err("it is refused"), created)
}

#[test]
fn a_transaction_is_refused_at_any_operation_that_can_be_and_nothing_of_it_is_applied() {
    for at in 0..3 {
        let refused = refused_at(Fault::AccessDenied, at, None);
        assert_eq!(refused, (Error::multi(at as usize, ErrorKind::NoAuth), 0));
    }
    // A quota refuses no check.
    for (at, index) in [(0, 1), (1, 2)] {
        let (refused, created) = refused_at(Fault::QuotaExceeded, at, None);
        assert!(refused.refused_operation().is_some_and(|(found, _)| found == index), "{refused}");
        assert_eq!(created, 0);
    }
}

#[test]
fn an_operation_that_is_wrong_by_itself_is_refused_before_a_later_one_is_denied() {
    let refused = refused_at(Fault::AccessDenied, 1, Some(77));
    assert_eq!(refused, (Error::multi(0, ErrorKind::BadVersion), 0));
}

#[test]
fn a_quota_forbids_only_what_adds_to_the_tree() {
    let (answers, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        zk.create("/a", b"", CreateMode::Persistent).await.expect("it is made");
        process.order(Fault::QuotaExceeded);
        (zk.children("/").await.is_ok(), zk.delete("/a", None).await)
    });
    assert_eq!(answers, (true, Ok(())));
    assert_eq!(tape.struck(Fault::QuotaExceeded), 0);
}
