//! Clients that hold for many session timeouts, and clients that wait for as long.
//!
//! Each round: take a lock and keep it for up to ten session timeouts, without requests or with an occasional one; or
//! be a member of a group for as long; or follow its members. A client makes all its rounds through one session as long
//! as that lives. So for most of the time only pings keep the session alive, and its holds: a holder that must stop
//! without a fault was stopped for no reason.

mod deadline_too_early;
mod without_pings;

use crate::group::workload::{self as group, Gathering, follow};
use crate::lock::workload::{self as lock, Exclusive};
use crate::prelude::*;
use crate::variations::many_holds;
use std::time::Duration;
use zk_recipes::Runtime;

/// Long holds.
pub static WORKLOAD: Workload = Workload {
    about: "clients hold a lock, and are members of a group, for many session timeouts",
    required: &[Mx2, Mx4, Mx8, Mx14, Mx16, Gm4],
    ..Workload::own("long-holds", objects, |task| client(task, Box::new(lock::new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload = RealWorkload {
    workload: &WORKLOAD,
    part: |task| many_holds::client(task).boxed(),
    required: &[Mx16, Le10, Gm8],
    is_long: true,
};

/// Long holds, as the catalogue lists them.
pub static RECIPE: Recipe = Recipe {
    real: Some(&REAL),
    mutants: &[&without_pings::WORKLOAD, &deadline_too_early::WORKLOAD],
    ..Recipe::of(&WORKLOAD)
};

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    // A holder, a waiter behind it, and the rest of a follower's time.
    finishes_within: Duration::from_secs(300),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "a member learns that it is out",
        "a join times out",
        "a lock is held for ten session timeouts without a request",
        "a lock is waited for longer than a session timeout",
    ],
};

/// The lock, among the objects of its run. The group is the first.
const LOCK: ObjectId = ObjectId(1);

/// The group and the lock, as they are declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    if setting.pace.is_real() {
        return many_holds::objects(names, setting);
    }
    let lock = setting.held(Kind::Lock, names.intern(lock::DIRECTORY));
    group::objects(names, setting).into_iter().chain([lock]).collect()
}

/// One client's part.
pub async fn client<C: Client, L: Exclusive>(task: Task<C>, make: Make<C::Zk, L>) {
    let (client, make) = (&task.client, &make);
    let Setting { pace, timeout, .. } = task.setting;
    let mut present = OfSession::default();
    let round = |zk: C::Zk, _| {
        // One object a session, since one session joins a group through one object.
        let group = present.of(&zk, || group::new(&zk));
        async move {
            let part = client.choose(4);
            let timeouts = [1, 3, 10][client.choose(3) as usize];
            match part {
                2 => take_part(client, &group, pace, timeout * timeouts).await,
                3 => follow(client, &group, timeout * timeouts).await,
                _ => {
                    let lock = make(&zk);
                    take_turn(client, &zk, &lock, timeout, timeouts).await
                }
            }
        }
    };
    rounds(&task, round).await;
}

/// Takes the lock, keeps it for so many session timeouts, and releases it.
async fn take_turn<C: Client, L: Exclusive>(
    client: &C,
    zk: &C::Zk,
    lock: &L,
    timeout: Duration,
    timeouts: u32,
) -> Round {
    let asked = zk.now();
    let call = Call::new(LOCK, Verb::Acquire);
    let (op, guard) = match attempt(client, call, nothing, || lock.take(call)).await {
        (op, Ended::Done(Some(guard))) => (op, guard),
        (_, ended) if ended.is_session_over() => return Round::Again,
        _ => return Round::Over,
    };
    sometimes!(client, "a lock is waited for longer than a session timeout", zk.now().since(asked) > timeout);
    let asks = client.choose(2) == 1;
    let belief = Belief::begin(client, zk.session(), &guard, LOCK, op);
    let mut lost = None;
    for _ in 0..timeouts {
        lost = belief.unless_lost(client.sleep(timeout)).await;
        if lost.is_some() {
            break;
        }
        if asks {
            belief.use_resource();
            // The reply is not awaited; it only has to arrive.
            drop(zk.exists(lock::DIRECTORY));
        }
    }
    let idle = lost.is_none() && !asks && timeouts == 10;
    sometimes!(client, "a lock is held for ten session timeouts without a request", idle);
    belief.end(lost.unwrap_or(Why::Released));
    give_back(client, LOCK, guard).await;
    Round::Over
}

/// Is a member of the group for that time.
async fn take_part<C: Client, G: Gathering>(client: &C, group: &G, pace: Pace, time: Duration) -> Round {
    let (op, member) = match group::join(client, group, pace).await {
        Ok(joined) => joined,
        Err(round) => return round,
    };
    group::stay(client, op, &member, time).await;
    group::leave(client, member).await;
    Round::Over
}
