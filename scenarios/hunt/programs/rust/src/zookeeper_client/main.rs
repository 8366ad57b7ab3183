//! A client of the crate zookeeper-client: its lock, with a limit too, and its lock under the names of Curator's latch.

use futures_util::future::{Either, select};
use hunt_driver::{Driver, PAUSE, WORK, pause};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;
use zookeeper_client::{
    Acls, Client, CreateMode, Error, LockClient, LockOptions, LockPrefix, SessionState, StateWatcher,
};

/// How long the first client waits for its lock in the scenario with a limit.
const LIMIT: Duration = Duration::from_millis(200);

/// The pause before the next session.
const AGAIN: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            eprintln!("no runtime can be made: {why}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(run());
    // Background tasks of the library may still wait for an answer.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why:#}");
            ExitCode::FAILURE
        }
    }
}

/// What a scenario does with the lock.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    kind: &'static str,
    begins: &'static str,
    ends: &'static str,
    /// The names of the lock's znodes.
    znodes: Znodes,
    /// Whether the first client waits for a limited time.
    is_limited: bool,
}

#[derive(Clone, Copy)]
enum Znodes {
    Curator(&'static str),
    Shared,
}

const SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "lock",
        kind: "lock",
        begins: "acquired",
        ends: "released",
        znodes: Znodes::Curator("lock-"),
        is_limited: false,
    },
    Scenario {
        name: "limited-lock",
        kind: "lock",
        begins: "acquired",
        ends: "released",
        znodes: Znodes::Curator("lock-"),
        is_limited: true,
    },
    Scenario {
        name: "shared-prefix-lock",
        kind: "lock",
        begins: "acquired",
        ends: "released",
        znodes: Znodes::Shared,
        is_limited: false,
    },
    Scenario {
        name: "latch",
        kind: "election",
        begins: "leader",
        ends: "deposed",
        znodes: Znodes::Curator("latch-"),
        is_limited: false,
    },
];

async fn run() -> anyhow::Result<()> {
    let (mut driver, name) = Driver::from_environment()?;
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let Some(scenario) = scenario else { anyhow::bail!("there is no scenario {name}") };
    driver.of_kind(scenario.kind);
    let ends = driver.clone();
    let client = pin!(client(driver, *scenario));
    match select(client, pin!(ends.ends())).await {
        Either::Left(((), _)) | Either::Right(((), _)) => Ok(()),
    }
}

/// Session after session, until the client rests.
async fn client(mut driver: Driver, scenario: Scenario) {
    let mut is_new = true;
    loop {
        let zk = match Client::connector().with_session_timeout(driver.timeout).connect(&driver.connect).await
        {
            Ok(zk) => zk,
            Err(why) => {
                driver.trouble(why);
                pause(AGAIN).await;
                continue;
            }
        };
        driver.say(format_args!("session {}", zk.session_id()));
        if is_new {
            driver.say("ready");
            driver.begins().await;
            is_new = false;
        }
        match rounds(&mut driver, scenario, &zk).await {
            // The session lasts until the end: with it everything would go that the library has left behind.
            Ok(()) => return driver.rests_to_the_end().await,
            Err(why) => driver.trouble(why),
        }
        pause(AGAIN).await;
    }
}

async fn rounds(driver: &mut Driver, scenario: Scenario, zk: &Client) -> Result<(), Error> {
    let directory = driver.object.clone();
    while !driver.rests() {
        driver.report("asks");
        let mut states = zk.state_watcher();
        let lock = acquire(scenario, zk, &directory);
        let acquired = if scenario.is_limited && driver.name == "a" {
            match select(pin!(lock), pin!(pause(LIMIT))).await {
                Either::Left((acquired, _)) => acquired,
                // The call is dropped, which gives up: so its documentation says.
                Either::Right(_) => {
                    driver.report("refused");
                    continue;
                }
            }
        } else {
            lock.await
        };
        let held = match acquired {
            Ok(held) => held,
            Err(error) => {
                driver.report("refused");
                if is_over(zk) {
                    return Err(error);
                }
                driver.trouble(error);
                pause(AGAIN).await;
                continue;
            }
        };
        driver.report(scenario.begins);
        select(pin!(driver.while_random(WORK)), pin!(disconnected(&mut states))).await;
        driver.report(scenario.ends);
        drop(held);
        driver.while_random(PAUSE).await;
        if is_over(zk) {
            return Err(Error::SessionExpired);
        }
    }
    Ok(())
}

async fn acquire<'a>(
    scenario: Scenario,
    zk: &'a Client,
    directory: &'a str,
) -> Result<LockClient<'a>, Error> {
    let options = LockOptions::new(Acls::anyone_all())
        .with_ancestor_options(CreateMode::Persistent.with_acls(Acls::anyone_all()))?;
    match scenario.znodes {
        Znodes::Curator(name) => zk.lock(LockPrefix::new_curator(directory, name)?, b"", options).await,
        Znodes::Shared => {
            let prefix = format!("{directory}/n-");
            zk.lock(LockPrefix::new_shared(&prefix)?, b"", options).await
        }
    }
}

/// Waits until the connection or the session is lost.
async fn disconnected(states: &mut StateWatcher) {
    let mut state = states.state();
    while state == SessionState::SyncConnected {
        state = states.changed().await;
    }
}

fn is_over(zk: &Client) -> bool {
    matches!(zk.state(), SessionState::Expired | SessionState::Closed | SessionState::AuthFailed)
}
