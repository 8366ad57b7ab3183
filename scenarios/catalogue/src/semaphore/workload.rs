//! Clients that take permits, one or several at a time, and change their number.
//!
//! Each round: acquire one to three permits (occasionally with a time limit, or only if they are free), hold them for a while,
//! release; or read the number of permits, or who holds some; or change it. A request for more than there are fails. A holder that must stop stops; a
//! client whose session ends opens another.

use crate::prelude::*;
use crate::recipe::Make;
use std::future::Future;
use std::time::Duration;
use zk_checker::history::Budget;
use zk_recipes::guard::Permits;
use zk_recipes::{Guard, PermitHolder, Semaphore, SemaphoreOptions};

/// Semaphores under load.
pub static WORKLOAD: Workload = Workload {
    about: "clients take permits, several at a time, and change their number",
    plan: |seed| Plan { rounds: 4, ..Plan::drawn(seed) },
    required: &[Sm1, Mx4, Mx5, Mx7, Mx8, Mx9, Mx10, Mx11, Mx12, Mx13, Mx14, Mx15],
    ..Workload::own("semaphore", objects, |task| client(task, Box::new(new)).boxed(), &STATED)
};

/// The same on real servers.
pub static REAL: RealWorkload = RealWorkload::new(&WORKLOAD, |task| client(task, Box::new(new)).boxed(), &[]);

/// What its runs must fulfil.
pub static STATED: Stated = Stated {
    finishes_within: Duration::from_secs(60),
    rules: None,
    sometimes: &[
        SESSIONS[0],
        SESSIONS[1],
        "permits are not free when they are tried",
        "the time limit of an acquire is over",
        "more permits are wanted than there are",
    ],
};

/// The semaphore's directory.
pub const DIRECTORY: &str = "/slots/batch";

/// The semaphore, among the objects of its run.
pub const SEMAPHORE: ObjectId = ObjectId(0);

/// The number of permits of a new semaphore.
pub const PERMITS: u32 = 2;

/// Four requests in two round trips. After each wake-up a waiter lists the line and the holders, and is granted or watches.
const BUDGET: Budget = Budget { free_acquire: 4, free_round_trips: 2, release: 1, per_wake_up: 4 };

/// The semaphore, as it is declared to the checker.
pub fn objects(names: &mut Names, setting: &Setting) -> Vec<Object> {
    vec![Object { budget: BUDGET, ..setting.held(Kind::Permits, names.intern(DIRECTORY)) }]
}

/// The semaphore on [`DIRECTORY`].
pub fn new<Z: ZooKeeper>(zk: &Z) -> Semaphore<Z> {
    Semaphore::new(zk, DIRECTORY, PERMITS, SemaphoreOptions::default()).expect("the directory is a good path")
}

/// The semaphore, or a mutant of it.
pub trait Permitting: Clone + Send + Sync + 'static {
    /// The guard's type.
    type Guard: Held;

    /// Waits for so many permits: for ever, for the limit of the call, or not at all. `None`: they were not free.
    fn take(
        &self,
        call: Call,
        permits: u32,
    ) -> impl Future<Output = Result<Option<Self::Guard>, Error>> + Send;

    /// Reads the number of permits.
    fn permits(&self) -> impl Future<Output = Result<u32, Error>> + Send;

    /// Changes the number of permits.
    fn set_permits(&self, permits: u32) -> impl Future<Output = Result<(), Error>> + Send;

    /// Lists the clients that hold permits.
    fn holders(&self) -> impl Future<Output = Result<Vec<PermitHolder>, Error>> + Send;
}

impl<Z: ZooKeeper> Permitting for Semaphore<Z> {
    type Guard = Guard<Z, Permits>;

    async fn take(
        &self,
        Call { verb, limit, .. }: Call,
        permits: u32,
    ) -> Result<Option<Guard<Z, Permits>>, Error> {
        match verb {
            Verb::TryAcquire => self.try_acquire(permits).await,
            _ => limited(self.acquire(permits), limit).await.map(Some),
        }
    }

    fn permits(&self) -> impl Future<Output = Result<u32, Error>> + Send {
        Semaphore::permits(self)
    }

    fn set_permits(&self, permits: u32) -> impl Future<Output = Result<(), Error>> + Send {
        Semaphore::set_permits(self, permits)
    }

    fn holders(&self) -> impl Future<Output = Result<Vec<PermitHolder>, Error>> + Send {
        Semaphore::holders(self)
    }
}

/// Records the arguments of a call that takes permits: no data, and their number.
pub fn tell(journal: &mut Journal, at: u64, client: u16, op: OpId, permits: u32) {
    journal.given(at, client, op, "", permits.into());
}

/// One client's part.
pub async fn client<C: Client, S: Permitting>(task: Task<C>, make: Make<C::Zk, S>) {
    let (client, pace, make) = (&task.client, task.setting.pace, &make);
    let round = |zk: C::Zk, _| async move {
        let semaphore = make(&zk);
        match client.choose(10) {
            8 if client.choose(2) == 1 => lists(client, &semaphore).await,
            8 => reads(client, &semaphore).await,
            9 => resizes(client, &semaphore, 1 + client.choose(4)).await,
            choice => {
                let call = match choice {
                    6 => Call::new(SEMAPHORE, Verb::Acquire).within(pace.limit),
                    7 => Call::new(SEMAPHORE, Verb::TryAcquire),
                    _ => Call::new(SEMAPHORE, Verb::Acquire),
                };
                // Two clients that both want all of them exclude each other.
                let permits = [PERMITS, 1, 1, PERMITS + 1][client.choose(4) as usize];
                take_turn(client, &zk, &semaphore, call, permits, pace).await
            }
        }
    };
    rounds(&task, round).await;
}

/// The end of a round after an operation.
fn over<T>(ended: &Ended<T>) -> Round {
    if ended.is_session_over() { Round::Again } else { Round::Over }
}

/// One acquire, and the hold that follows.
async fn take_turn<C: Client, S: Permitting>(
    client: &C,
    zk: &C::Zk,
    semaphore: &S,
    call: Call,
    permits: u32,
    pace: Pace,
) -> Round {
    let given = |journal: &mut Journal, at, op| tell(journal, at, client.number(), op, permits);
    let (op, guard) = match attempt(client, call, given, || semaphore.take(call, permits)).await {
        (op, Ended::Done(Some(guard))) => (op, guard),
        (_, ended) => {
            let is_too_many = matches!(&ended, Ended::Failed(error) if error.is_bad_input());
            sometimes!(
                client,
                "permits are not free when they are tried",
                matches!(ended, Ended::Done(None))
            );
            sometimes!(client, "the time limit of an acquire is over", ended.is_timed_out());
            sometimes!(client, "more permits are wanted than there are", is_too_many);
            return over(&ended);
        }
    };
    let belief = Belief::begin(client, zk.session(), &guard, SEMAPHORE, op);
    let held = belief.unless_lost(client.sleep(pace.work * (1 + client.choose(8)))).await;
    belief.end(held.unwrap_or(Why::Released));
    give_back(client, SEMAPHORE, guard).await;
    Round::Over
}

/// Reads the number of permits.
pub(crate) async fn reads<C: Client, S: Permitting>(client: &C, semaphore: &S) -> Round {
    let (_, ended) = observed_operation(
        client,
        Call::new(SEMAPHORE, Verb::Get),
        nothing,
        || semaphore.permits(),
        |journal, at, op, permits| {
            journal.observed(at, client.number(), op, SEMAPHORE, Seen::Value, &permits.to_string(), 0);
        },
    )
    .await;
    over(&ended)
}

/// Lists the clients that hold permits.
pub(crate) async fn lists<C: Client, S: Permitting>(client: &C, semaphore: &S) -> Round {
    let (_, ended) = observed_operation(
        client,
        Call::new(SEMAPHORE, Verb::Contenders),
        nothing,
        || semaphore.holders(),
        |journal, at, op, holders| {
            let paths: Vec<&str> = holders.iter().map(|holder| holder.path.as_str()).collect();
            journal.observed(at, client.number(), op, SEMAPHORE, Seen::Line, &paths.join(","), 0);
        },
    )
    .await;
    over(&ended)
}

/// Changes the number of permits.
pub(crate) async fn resizes<C: Client, S: Permitting>(client: &C, semaphore: &S, permits: u32) -> Round {
    let (_, ended) = operation(
        client,
        Call::new(SEMAPHORE, Verb::Resize),
        |journal, at, op| journal.given(at, client.number(), op, &permits.to_string(), 0),
        || semaphore.set_permits(permits),
    )
    .await;
    over(&ended)
}
