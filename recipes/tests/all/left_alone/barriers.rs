//! Barriers: those who wait, and those who are inside.

use crate::common::left_alone::{Call, Calling, Part, Scene, call, none_holds_up_another};
use crate::common::{Client, Stage};
use sim_zk::SimClient;
use std::time::Duration;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{Barrier, BarrierOptions, DoubleBarrier, DoubleBarrierOptions, Inside, Leave, Reuse};

const SHORT: Duration = Duration::from_secs(10);

struct Raised {
    a: Client,
    b: Client,
    barrier: Part<Barrier<SimClient>>,
}

impl Raised {
    fn lowered(&self) -> Calling {
        let zk = self.b.zk.clone();
        Box::pin(async move { drop(zk.delete("/x", None).await) })
    }
}

impl Scene for Raised {
    const CALLS: &'static [Call<Self>] = &[
        call!(share barrier.raise()),
        call!(share barrier.lower()),
        call!(share barrier.wait(), while lowered),
        call!(share barrier.wait() within SHORT),
        call!(share barrier.wait_until_down(), while lowered),
        call!(share barrier.wait_until_down() within SHORT),
    ];

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let barrier = Barrier::new(&a.zk, "/x", BarrierOptions::default()).expect("the path is good");
        barrier.raise().await.expect("it can be raised");
        Raised { a, b, barrier: Part::new(barrier) }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

fn double_barrier(of: &Client) -> DoubleBarrier<SimClient> {
    let options = DoubleBarrierOptions::new(2, Reuse::Generations, Leave::Keeper);
    DoubleBarrier::new(&of.zk, "/x", options).expect("the path is good")
}

/// Two are inside, and the next generation is open for joining.
struct Met {
    a: Client,
    b: Client,
    path: String,
    barrier: Part<DoubleBarrier<SimClient>>,
    inside: Part<Inside<SimClient>>,
    other: Part<Inside<SimClient>>,
}

impl Met {
    fn joined(&self) -> Calling {
        let (process, barrier) = (self.b.process.clone(), double_barrier(&self.b));
        Box::pin(async move { drop(process.spawn(async move { barrier.enter().await.map(drop) })) })
    }

    fn left(&self) -> Calling {
        let other = self.other.take();
        let process = self.b.process.clone();
        Box::pin(async move {
            if let Some(other) = other {
                drop(process.spawn(async move { other.leave().await }));
            }
        })
    }

    fn freed(&self) -> Calling {
        let (zk, path) = (self.b.zk.clone(), self.path.clone());
        Box::pin(async move { drop(zk.delete(&path, None).await) })
    }
}

impl Scene for Met {
    const CALLS: &'static [Call<Self>] = &[
        call!(share barrier.enter(), while joined),
        call!(share barrier.enter() within SHORT),
        call!(share inside.lost(), while freed),
        call!(share inside.resumed()),
        call!(take inside.leave(), while left),
        call!(take inside.leave() within SHORT),
    ];

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let (barrier, other) = (double_barrier(&a), double_barrier(&b));
        let (inside, other) = futures_util::future::join(barrier.enter(), other.enter()).await;
        let (inside, other) = (inside.expect("both are there"), other.expect("both are there"));
        let path = inside.path().to_owned();
        let (inside, other) = (Part::new(inside), Part::new(other));
        Met { a, b, path, barrier: Part::new(barrier), inside, other }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

#[test]
fn none_of_a_barrier() {
    none_holds_up_another::<Raised>();
}

#[test]
fn none_of_a_double_barrier() {
    none_holds_up_another::<Met>();
}
