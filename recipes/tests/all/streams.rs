//! What is followed, as streams.

use crate::common::{TIMEOUT, play};
use futures_util::{Stream, StreamExt};
use std::pin::pin;
use zk_recipes::zk::{Error, ZooKeeper};
use zk_recipes::{
    Config, ConfigOptions, Election, ElectionOptions, Group, GroupOptions, Leader, Names, NamesOptions,
    Update, WithData,
};

async fn first<T>(stream: &mut (impl Stream<Item = Result<T, Error>> + Unpin)) -> T {
    stream.next().await.expect("it goes on").expect("the session lives")
}

/// The error is the last item.
async fn ends<T: std::fmt::Debug>(stream: &mut (impl Stream<Item = Result<T, Error>> + Unpin)) {
    assert!(stream.next().await.expect("it says why").expect_err("the session is over").is_session_over());
    assert!(stream.next().await.is_none());
}

#[test]
fn what_is_followed_is_a_stream_that_ends_with_the_session() {
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let config = Config::new(&a.zk, "/config", ConfigOptions::default()).expect("a good path");
        let names = Names::new(&a.zk, "/names", NamesOptions::default()).expect("a good path");
        let group = Group::new(&a.zk, "/workers", GroupOptions::default()).expect("a good path");
        let election = Election::new(&a.zk, "/office", ElectionOptions::default()).expect("a good path");
        let mut values = pin!(config.follow().into_stream());
        let mut named = pin!(names.follow("db").expect("a good name").into_stream());
        let mut views = pin!(group.follow(WithData::No).into_stream());
        let mut leaders = pin!(election.follow().into_stream());

        assert_eq!(first(&mut values).await, Update::Missing);
        assert_eq!(first(&mut named).await, Update::Missing);
        assert!(first(&mut views).await.members.is_empty());
        assert!(matches!(first(&mut leaders).await, Leader::Unacknowledged { .. }));

        Config::new(&b.zk, "/config", ConfigOptions::default())
            .expect("a good path")
            .put(b"1")
            .await
            .expect("it is written");
        let joined = Group::new(&b.zk, "/workers", GroupOptions::default()).expect("a good path");
        let _member = joined.join(Some("one"), b"").await.expect("it is new");
        assert!(matches!(first(&mut values).await, Update::Value(value) if value.data == b"1"));
        assert_eq!(first(&mut views).await.members.len(), 1);

        a.zk.close(TIMEOUT).await.expect("it is closed");
        ends(&mut values).await;
        ends(&mut named).await;
        ends(&mut views).await;
        ends(&mut leaders).await;
    });
}
