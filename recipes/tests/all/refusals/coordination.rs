//! Scenes of barriers and of the two-phase commit: participants that wait for each other, each with a limit.

use super::{Call, PATIENCE, Script};
use crate::common::Client;
use std::time::Duration;
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction, Vote};
use zk_recipes::{Barrier, BarrierOptions, DoubleBarrier, DoubleBarrierOptions, Leave, Released, Reuse};

pub async fn barrier(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| Barrier::new(&on.zk, "/gate", BarrierOptions::default()).expect("a good path");
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    script.danger.begins();
    script.tell(&a, "raise", of(&a).raise()).await;
    let waiter = of(&b);
    let waiting = b.process.spawn(async move { waiter.wait().within(PATIENCE).await });
    script.stage.pass(&a, Duration::from_millis(100)).await;
    script.tell(&a, "lower", of(&a).lower()).await;
    let waited = waiting.await.expect("its process lives");
    script.took("wait, limited", waited);
    script.danger.ends();
    of(&a).lower().await.expect("it is lowered");
    let late = script.stage.client("late").await;
    of(&late).wait().within(PATIENCE).await.expect("another client gets through");
    script.ends(&[&a, &b, &late], &[]).await
}

pub async fn double_barrier(mut script: Script) -> Vec<Call> {
    let of = |on: &Client| {
        let options = DoubleBarrierOptions::new(2, Reuse::Generations, Leave::Keeper);
        DoubleBarrier::new(&on.zk, "/step", options).expect("the input is good")
    };
    let (a, b) = (script.stage.client("a").await, script.stage.client("b").await);
    script.danger.begins();
    let enters = of(&a);
    let entering = a.process.spawn(async move { enters.enter().within(PATIENCE).await });
    script.stage.pass(&a, Duration::from_millis(100)).await;
    let second = script.tell(&b, "enter, limited", of(&b).enter().within(PATIENCE)).await;
    let first = entering.await.expect("its process lives");
    let first = script.took("enter, limited", first);
    let leaving = first.map(|inside| a.process.spawn(inside.leave().within(PATIENCE)));
    if let Some(inside) = second {
        script.tell(&b, "leave, limited", inside.leave().within(PATIENCE)).await;
    }
    if let Some(leaving) = leaving {
        let left = leaving.await.expect("its process lives");
        script.took("leave, limited", left);
    }
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let (late, later) = (script.stage.client("late").await, script.stage.client("later").await);
    let (one, two) = (of(&late), of(&later));
    let both = futures_util::future::join(one.enter().within(PATIENCE), two.enter().within(PATIENCE)).await;
    let (one, two) = (both.0.expect("others get through"), both.1.expect("others get through"));
    let both = futures_util::future::join(one.leave(), two.leave()).await;
    assert_eq!(both, (Ok(Released::Clean), Ok(Released::Clean)));
    // A generation is a container, made when the one before it opens.
    let stays = ["/step", "/step/0", "/step/1", "/step/2"];
    script.ends(&[&a, &b, &late, &later], &stays).await
}

pub async fn two_phase_commit(mut script: Script) -> Vec<Call> {
    const TX: &str = "/app/tx";
    let transaction = || {
        let sites = vec!["s0".to_owned(), "s1".to_owned()];
        Transaction { sites, payload: vec![], form: Form::SiteEphemerals }
    };
    let (c, a, b) =
        (script.stage.client("c").await, script.stage.client("a").await, script.stage.client("b").await);
    c.makes("/app").await;
    script.danger.begins();
    let coordinator = script.tell(&c, "begin", Coordinator::begin(&c.zk, TX, transaction())).await;
    if let Some(coordinator) = coordinator {
        let deciding = c.process.spawn(async move {
            let decided = coordinator.decision().within(PATIENCE).await;
            (coordinator, decided)
        });
        let mut voted = Vec::new();
        for (on, site) in [(&a, "s0"), (&b, "s1")] {
            if let Some(opened) = script.tell(on, "open", Site::open(&on.zk, TX, site)).await
                && let Some(vote) = script.tell(on, "vote", opened.vote(Vote::Commit)).await
            {
                voted.push((on, vote));
            }
        }
        let (coordinator, decided) = deciding.await.expect("its process lives");
        script.took("decision, limited", decided);
        for (on, voted) in voted {
            if script.tell(on, "decision, limited", voted.decision().within(PATIENCE)).await.is_some() {
                script.tell(on, "finish", voted.finish()).await;
            }
        }
        script.tell(&c, "forget", coordinator.forget()).await;
    }
    script.stage.pass(&a, PATIENCE).await;
    script.danger.ends();
    let late = script.stage.client("late").await;
    let begun = Coordinator::begin(&late.zk, "/app/late", transaction()).await.expect("others get through");
    begun.forget().await.expect("it is forgotten");
    // A participant whose call failed has not finished, and would open the transaction again.
    let stays: &[&str] = if script.all_is_well() { &["/app"] } else { &["/app", "/app/tx*"] };
    script.ends(&[&a, &b, &c, &late], stays).await
}
