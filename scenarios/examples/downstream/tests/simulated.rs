//! One story and one workload. Seeds and size: `ZKSIM_SEEDS=0..100000 cargo test --release`.

use downstream::{WRITER, Writer};
use sim_zk::fault::Fault;
use std::time::Duration;
use zk_harness::testing;
use zk_harness::testing::prelude::*;
use zk_recipes::{Error, Released, Stop, ZooKeeper};

// What the judge has to know of a hold.
struct Writes<Z>(Writer<Z>);

impl<Z: ZooKeeper> Held for Writes<Z> {
    fn token(&self) -> i64 {
        self.0.token
    }
    async fn lost(&self) -> Stop {
        self.0.must_stop().await
    }
    async fn release(self) -> Result<Released, Error> {
        Ok(Released::Clean) // Dropping it does the rest.
    }
}

/// What it promises: the store never takes an older writer's write after a newer one's; and as long as it is messages that are
/// lost, nobody believes to be the writer beside somebody else.
static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(120),
    rules: Some(&[RuleId::Mx1, RuleId::Mx3]),
    sometimes: &[],
};
static LOST: &[Fault] = &[Fault::RequestLost, Fault::ReplyLost, Fault::Disconnect, Fault::Cancel];
static WORKLOAD: Workload = Workload {
    faults: LOST,
    plan: |_| Plan::calm().with(LOST, 0.02),
    ..Workload::own(
        "writer",
        |names, setting| vec![setting.held(Kind::Lock, names.intern(WRITER))],
        |task| testing::turns(task, stand).boxed(),
        &STATED,
    )
};

async fn stand<Z: ZooKeeper>(zk: Z) -> Result<Writes<Z>, Error> {
    Writer::stand(&zk).await.map(Writes)
}

#[test]
fn one_writes_at_a_time_whatever_fails() {
    testing::holds(&WORKLOAD, testing::seeds(0..1000));
}

#[test]
fn a_writer_whose_create_was_lost_on_its_way_back_writes() {
    testing::tells(&Story {
        point: |told| vec![("it wrote", told.count(|what| matches!(what, What::Resource { .. })) > 0)],
        verdicts: &[(RuleId::Mx3, Verdict::Pass)],
        ..Story::own("lost-reply", |names| vec![Object::plain(Kind::Lock, names.intern(WRITER))], script)
    });
}

fn script(w: Stage) -> Script {
    Box::pin(async move {
        let a = w.client("a").await;
        w.step("a stands, and the reply to its create is lost");
        a.loses_its_next_reply();
        let writer = a.begins_to_acquire(ObjectId(0), stand).await.expect("it becomes the writer");
        assert!(a.writes(&writer), "the store takes its token");
        a.releases(writer).await;
    })
}
