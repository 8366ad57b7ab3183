//! A client of the recipes of this project. Those with `-broken` behind their name are wrong on purpose: what judges
//! other people's programs must see them.

mod broken;
mod lasting;

use futures_util::future::{Either, select};
use hunt_driver::{Driver, PAUSE, WORK, pause};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::guard::Mode;
use zk_recipes::zk::ZooKeeper;
use zk_recipes::{
    Barrier, BarrierOptions, Counter, CounterOptions, Delivery, DoubleBarrier, DoubleBarrierOptions,
    Election, ElectionOptions, Error, Freshness, Group, GroupOptions, Guard, Idle, IfTaken, Leave, Lock,
    LockOptions, Queue, QueueOptions, Reuse, Semaphore, SemaphoreOptions, SharedLock, SharedLockOptions,
    Stop, WithData,
};

/// How long what waits for others may go on once those may rest.
const GRACE: Duration = Duration::from_millis(1500);

/// A hold or a term that lasts for longer than a session timeout.
const LONG: Duration = Duration::from_secs(4);

/// The number of permits of a semaphore, as in the scenarios of other programs.
const PERMITS: u32 = 2;

/// How long the wait for a session may take before the next try.
const AGAIN: Duration = Duration::from_millis(100);

/// The scenarios, each with the kind of object that is reported.
const SCENARIOS: [(&str, &str); 20] = [
    ("lock", "lock"),
    ("try-lock", "lock"),
    ("long-lock", "lock"),
    ("shared-lock", "shared_lock"),
    ("downgraded-lock", "shared_lock"),
    ("semaphore", "semaphore"),
    ("election", "election"),
    ("long-election", "election"),
    ("barrier", "barrier"),
    ("double-barrier", "double_barrier"),
    ("queue", "queue"),
    ("group", "group"),
    ("counter", "counter"),
    ("lasting-election", "election"),
    ("lasting-latch", "election"),
    ("lasting-node", "group"),
    ("lock-broken", "lock"),
    ("queue-broken", "queue"),
    ("group-broken", "group"),
    ("lasting-election-broken", "election"),
];

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            eprintln!("no runtime can be made: {why}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let (mut driver, scenario) = Driver::from_environment()?;
    let known = SCENARIOS.iter().find(|(name, _)| *name == scenario);
    let Some((_, kind)) = known else { anyhow::bail!("there is no scenario {scenario}") };
    driver.of_kind(kind);
    if scenario.starts_with("lasting-") {
        return lasting::client(driver, &scenario).await;
    }
    let ends = driver.clone();
    let client = pin!(client(driver, &scenario));
    // What still waits for others ends with the driver.
    match select(client, pin!(ends.ends())).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Ok(()),
    }
}

/// Session after session, until the client rests; then what it sees.
async fn client(mut driver: Driver, scenario: &str) -> anyhow::Result<()> {
    let mut state = State::default();
    let mut is_new = true;
    loop {
        let zk = match Client::open(&driver.connect, Options::new(driver.timeout)).await {
            Ok(zk) => zk,
            Err(why) => {
                driver.trouble(why);
                pause(AGAIN).await;
                continue;
            }
        };
        driver.say(format_args!("session {}", zk.session()));
        if is_new {
            driver.say("ready");
            driver.begins().await;
            is_new = false;
        }
        match session(&mut driver, scenario, &zk, &mut state).await {
            Ok(()) => {
                // An orderly end of the session is a courtesy.
                let _ = zk.close(driver.timeout).await;
                return Ok(());
            }
            Err(why) => driver.trouble(why),
        }
        // The session is over, or what it was used for was denied: the next one may do better.
        pause(AGAIN).await;
    }
}

/// What outlives a session.
#[derive(Default)]
struct State {
    items: u32,
    /// Whether the size of the object, or its limit, was reported.
    is_sized: bool,
    /// Barriers: whether this client may have raised it.
    may_be_raised: bool,
    /// Barriers: whether a call to lower it has begun, and has not returned.
    is_lowering: bool,
}

async fn session(driver: &mut Driver, scenario: &str, zk: &Client, state: &mut State) -> Result<(), Error> {
    match scenario {
        "lock" => lock(driver, zk, false).await?,
        "try-lock" => try_lock(driver, zk).await?,
        "long-lock" => lock(driver, zk, true).await?,
        "lock-broken" => broken::lock(driver, zk).await?,
        "shared-lock" => shared_lock(driver, zk).await?,
        "downgraded-lock" => downgraded_lock(driver, zk).await?,
        "semaphore" => semaphore(driver, zk, state).await?,
        "election" => election(driver, zk, false).await?,
        "long-election" => election(driver, zk, true).await?,
        "barrier" => barrier(driver, zk, state).await?,
        "double-barrier" => double_barrier(driver, zk, state).await?,
        "queue" => queue(driver, zk, state).await?,
        "queue-broken" => broken::queue(driver, zk, &mut state.items).await?,
        "group" => return group(driver, zk).await,
        "counter" => return counter(driver, zk).await,
        _ => return broken::group(driver, zk).await,
    }
    driver.rests_to_the_end().await;
    Ok(())
}

/// Work, for longer than a session timeout or not.
async fn work(driver: &mut Driver, is_long: bool) {
    match is_long {
        true => pause(LONG).await,
        false => driver.while_random(WORK).await,
    }
}

/// Works under a lock or a permit, and releases it.
async fn hold<M>(driver: &mut Driver, held: Guard<Client, M>, is_long: bool) -> Result<(), Error>
where
    M: Mode<Interrupt = Stop>,
{
    driver.report("acquired");
    // The work is dropped as soon as the holder must stop.
    let _: Result<(), Stop> = held.run(work(driver, is_long)).await;
    driver.report("released");
    held.release().await.map(drop)
}

async fn lock(driver: &mut Driver, zk: &Client, is_long: bool) -> Result<(), Error> {
    let lock = Lock::new(zk, &driver.object, LockOptions::default())?;
    while !driver.rests() {
        driver.report("asks");
        let held = lock.acquire().await.inspect_err(|_| driver.report("refused"))?;
        hold(driver, held, is_long).await?;
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

/// The first client does not wait, the others do.
async fn try_lock(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    if driver.name != "a" {
        return lock(driver, zk, false).await;
    }
    let lock = Lock::new(zk, &driver.object, LockOptions::default())?;
    while !driver.rests() {
        driver.report("asks");
        match lock.try_acquire().await.inspect_err(|_| driver.report("refused"))? {
            Some(held) => hold(driver, held, false).await?,
            None => driver.report("refused"),
        }
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

/// A writer that becomes a reader.
async fn downgraded_lock(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let lock = SharedLock::new(zk, &driver.object, SharedLockOptions::default())?;
    while !driver.rests() {
        driver.report_item("asks", "write");
        let writes = lock.write().await.inspect_err(|_| driver.report_item("refused", "write"))?;
        driver.report_item("acquired", "write");
        let _: Result<(), Stop> = writes.run(driver.while_random(WORK)).await;
        driver.report_item("released", "write");
        driver.report_item("asks", "read");
        let reads = writes.downgrade().await.inspect_err(|_| driver.report_item("refused", "read"))?;
        driver.report_item("acquired", "read");
        let _: Result<(), Stop> = reads.run(driver.while_random(WORK)).await;
        driver.report_item("released", "read");
        reads.release().await?;
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

async fn shared_lock(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let lock = SharedLock::new(zk, &driver.object, SharedLockOptions::default())?;
    while !driver.rests() {
        if driver.either() {
            driver.report_item("asks", "read");
            let held = lock.read().await.inspect_err(|_| driver.report_item("refused", "read"))?;
            driver.report_item("acquired", "read");
            let _: Result<(), Stop> = held.run(driver.while_random(WORK)).await;
            driver.report_item("released", "read");
            held.release().await?;
        } else {
            driver.report_item("asks", "write");
            let held = lock.write().await.inspect_err(|_| driver.report_item("refused", "write"))?;
            driver.report_item("acquired", "write");
            let _: Result<(), Stop> = held.run(driver.while_random(WORK)).await;
            driver.report_item("released", "write");
            held.release().await?;
        }
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

/// Each client holds one permit at a time.
async fn semaphore(driver: &mut Driver, zk: &Client, state: &mut State) -> Result<(), Error> {
    let semaphore = Semaphore::new(zk, &driver.object, PERMITS, SemaphoreOptions::default())?;
    if !state.is_sized {
        driver.report_item("limit", PERMITS);
        state.is_sized = true;
    }
    while !driver.rests() {
        driver.report("asks");
        let held = semaphore.acquire(1).await.inspect_err(|_| driver.report("refused"))?;
        hold(driver, held, false).await?;
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

async fn election(driver: &mut Driver, zk: &Client, is_long: bool) -> Result<(), Error> {
    let election = Election::new(zk, &driver.object, ElectionOptions::default())?;
    while !driver.rests() {
        driver.report("asks");
        let term = election.stand().await.inspect_err(|_| driver.report("refused"))?;
        driver.report("leader");
        let led = term.run(async {
            term.acknowledge(driver.name.as_bytes()).await?;
            work(driver, is_long).await;
            Ok::<_, Error>(())
        });
        let led = led.await;
        driver.report("deposed");
        term.resign().await?;
        if let Ok(acknowledged) = led {
            acknowledged?;
        }
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

/// The first client owns the barrier, the others wait.
async fn barrier(driver: &mut Driver, zk: &Client, state: &mut State) -> Result<(), Error> {
    let barrier = Barrier::new(zk, &driver.object, BarrierOptions::default())?;
    if driver.name != "a" {
        while !driver.rests() {
            driver.report("waits");
            barrier.wait().await.inspect_err(|_| driver.report("refused"))?;
            driver.report("passed");
            driver.while_random(PAUSE).await;
        }
        return Ok(());
    }
    loop {
        if state.may_be_raised {
            if !state.is_lowering {
                driver.report("lowers");
                state.is_lowering = true;
            }
            barrier.lower().await?;
            (state.may_be_raised, state.is_lowering) = (false, false);
            driver.report("lowered");
            driver.while_random(PAUSE).await;
        }
        if driver.rests() {
            return Ok(());
        }
        state.may_be_raised = true;
        barrier.raise().await?;
        driver.report("raised");
        driver.while_random(WORK).await;
    }
}

async fn double_barrier(driver: &mut Driver, zk: &Client, state: &mut State) -> Result<(), Error> {
    let options = DoubleBarrierOptions::new(driver.clients, Reuse::Generations, Leave::Keeper)
        .with_id(driver.name.as_str());
    let barrier = DoubleBarrier::new(zk, &driver.object, options)?;
    if !state.is_sized {
        driver.report_item("size", driver.clients);
        state.is_sized = true;
    }
    while !driver.rests() {
        driver.report("enters");
        // Once one rests, the others would wait for it for ever.
        let Some(entered) = driver.unless_rested(GRACE, barrier.enter()).await else {
            driver.report("refused");
            return Ok(());
        };
        let inside = entered.inspect_err(|_| driver.report("refused"))?;
        driver.report("entered");
        driver.while_random(WORK).await;
        driver.report("leaves");
        inside.leave().await.inspect_err(|_| driver.report("refused"))?;
        driver.report("left");
        driver.while_random(PAUSE).await;
    }
    Ok(())
}

/// Each client adds one, again and again, and reads the count in the end.
async fn counter(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let counter = Counter::new(zk, &driver.object, CounterOptions::default())?;
    while !driver.rests() {
        driver.report_item("adds", 1);
        let added = counter.add(1).await;
        let outcome = match &added {
            Ok(_) => "added",
            Err(error) if error.is_outcome_unknown() || error.is_session_over() => "unknown",
            Err(_) => "refused",
        };
        driver.report_item(outcome, 1);
        added?;
        driver.while_random(PAUSE).await;
    }
    driver.say("resting");
    while driver.audit().await.is_some() {
        let count = counter.get(Freshness::Latest).await;
        if let Ok(count) = &count {
            driver.report_item("counts", count);
        }
        driver.say("audited");
        count?;
    }
    Ok(())
}

/// Each client puts an item and takes one.
async fn queue(driver: &mut Driver, zk: &Client, state: &mut State) -> Result<(), Error> {
    let options = QueueOptions::new(Delivery::AtMostOnce).with_idle(Idle::HerdFree);
    let queue = Queue::new(zk, &driver.object, options)?;
    let mut producer = queue.producer();
    let mut consumer = queue.consumer();
    while !driver.rests() {
        state.items += 1;
        let item = format!("{}-{}-{}", driver.name, std::process::id(), state.items);
        driver.report_item("puts", &item);
        producer.put(item.as_bytes()).await.inspect_err(|_| driver.report_item("unknown", &item))?;
        driver.report_item("put", &item);
        driver.while_random(PAUSE).await;
        driver.report("takes");
        let Some(taken) = driver.unless_rested(GRACE, consumer.take()).await else {
            // Nothing was there; what is in hand all the same, the next call gives.
            driver.report("empty");
            break;
        };
        let taken = taken.inspect_err(|_| driver.report("failed"))?;
        driver.report_item("took", String::from_utf8_lossy(&taken.data));
    }
    loop {
        driver.report("takes");
        match consumer.try_take().await {
            Ok(Some(taken)) => driver.report_item("took", String::from_utf8_lossy(&taken.data)),
            Ok(None) => {
                driver.report("empty");
                return Ok(());
            }
            // The next call gives what may have been taken.
            Err(e) if e.is_connection_loss() => driver.report("empty"),
            Err(error) => {
                driver.report("failed");
                return Err(error);
            }
        }
    }
}

/// A member that comes and goes, and an observer.
async fn group(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let group = Group::new(zk, &driver.object, GroupOptions::default().with_if_taken(IfTaken::Wait))?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let mut views = group.follow(WithData::No);
    let watches = async move {
        loop {
            let view = views.next().await?;
            *sees.lock().unwrap_or_else(PoisonError::into_inner) = view.members;
        }
    };
    let belongs = async {
        let mut is_at_rest = false;
        loop {
            driver.report_item("joins", &driver.name);
            let member = group.join(Some(&driver.name), b"").await;
            let member = member.inspect_err(|_| driver.report_item("refused", &driver.name))?;
            driver.report_item("joined", &driver.name);
            driver.while_random(WORK).await;
            if !driver.rests() {
                driver.report_item("leaves", &driver.name);
                member.leave().await?;
                driver.while_random(PAUSE).await;
                continue;
            }
            if !is_at_rest {
                driver.say("resting");
                is_at_rest = true;
            }
            loop {
                let asked = match select(pin!(driver.audit()), pin!(member.lost())).await {
                    Either::Left((asked, _)) => asked,
                    Either::Right((stop, _)) => {
                        driver.trouble(format_args!("membership lost: {stop:?}"));
                        break;
                    }
                };
                if asked.is_none() {
                    return Ok(());
                }
                // The views of the last changes are on their way.
                pause(10 * PAUSE).await;
                let mut names: Vec<String> = seen
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .iter()
                    .map(|one| one.id.clone())
                    .collect();
                names.sort();
                let names = if names.is_empty() { "-".to_owned() } else { names.join(",") };
                driver.report_item("members", names);
                driver.say("audited");
            }
            driver.report_item("leaves", &driver.name);
            member.leave().await?;
        }
    };
    match select(pin!(belongs), pin!(watches)).await {
        Either::Left((ended, _)) => ended,
        Either::Right((ended, _)) => ended,
    }
}
