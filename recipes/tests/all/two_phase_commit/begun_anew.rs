//! Transactions that were forgotten and begun anew on the same path, where versions are the same: handles of the one before
//! know it by the czxid.

use super::*;

const PATH: &str = "/anew";

fn transaction(form: Form) -> Transaction {
    Transaction { sites: vec!["x".to_owned(), "y".to_owned()], payload: vec![], form }
}

/// The operator forgets it, and somebody begins another one.
async fn begins_anew(stage: &Stage, by: &Client, form: Form) {
    let old = Coordinator::resume(&by.zk, PATH).await.expect("it is there");
    old.forget().await.expect("it can be forgotten");
    drop(Coordinator::begin(&by.zk, PATH, transaction(form)).await.expect("the path is free"));
    stage.settle().await;
}

#[test]
fn a_vote_that_another_transaction_got_is_told() {
    for form in [Form::Decentralised { follow_votes: false }, Form::Coordinator] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            drop(Coordinator::begin(&b.zk, PATH, transaction(form)).await.expect("it is the first"));
            let site = Site::open(&a.zk, PATH, "x").await.expect("it takes part");
            begins_anew(&stage, &b, form).await;
            assert!(site.vote(Vote::Commit).await.is_err_and(|e| e.is_mismatch()), "{form:?}");
        });
    }
}

#[test]
fn a_vote_that_counts_anew_is_not_cast_in_another_transaction() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let form = Form::Decentralised { follow_votes: false };
        drop(Coordinator::begin(&b.zk, PATH, transaction(form)).await.expect("it is the first"));
        let bent = Bent::straight(&a.zk);
        let site = Site::open(&bent, PATH, "x").await.expect("it takes part");
        // The other site votes, so that this one counts the votes; by then another transaction is there.
        let other = Site::open(&b.zk, PATH, "y").await.expect("it takes part");
        drop(other.vote(Vote::Commit).await.expect("it has not voted"));
        let (by, on) = (b.clone(), stage.clone());
        bent.waits_before(Kind::Exists, async move { begins_anew(&on, &by, form).await });
        assert!(site.vote(Vote::Commit).await.is_err_and(|e| e.is_mismatch()));
        let own = b.zk.exists(&format!("{PATH}/s_x")).await.expect("it is connected");
        assert_eq!(own.map(|own| own.version), Some(0), "nobody has voted");
    });
}

#[test]
fn another_transaction_is_neither_decided_nor_forgotten() {
    for form in [Form::Decentralised { follow_votes: false }, Form::Coordinator] {
        play(move |stage| async move {
            let (a, b) = (stage.client("a").await, stage.client("b").await);
            let begin = || Coordinator::begin(&a.zk, PATH, transaction(form));
            let old = begin().await.expect("it is the first");
            begins_anew(&stage, &b, form).await;
            assert!(old.decision().within(LIMIT).await.is_err_and(|e| e.is_mismatch()), "{form:?}");
            assert!(old.forget().await.is_err_and(|e| e.is_mismatch()), "{form:?}");
            assert_eq!(b.zk.exists(&format!("{PATH}/decision")).await, Ok(None), "{form:?}");
            assert!(b.zk.exists(PATH).await.is_ok_and(|stat| stat.is_some()), "{form:?}");
        });
    }
}

#[test]
fn a_vote_is_told_once_also_if_a_call_was_left_unpolled() {
    play(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let form = Form::Decentralised { follow_votes: true };
        drop(Coordinator::begin(&a.zk, PATH, transaction(form)).await.expect("it is the first"));
        let y = Site::open(&a.zk, PATH, "y").await.expect("it takes part");
        let y = y.vote(Vote::Commit).await.expect("it has not voted");
        let mut left = Box::pin(y.next_vote());
        assert!((&mut left).now_or_never().is_none(), "it has asked");
        stage.settle().await;
        let x = Site::open(&b.zk, PATH, "x").await.expect("it takes part");
        let x = x.vote(Vote::Commit).await.expect("it has not voted");
        assert!(matches!(y.next_vote().await, Ok(Some((site, Vote::Commit))) if site == "x"));
        assert_eq!(left.await, Ok(None), "it was told");
        drop(x);
    });
}
