//! A service of three processes, to be copied. Each process stands for election, and the leader puts a job into a queue every
//! second. Each process does jobs, and writes them down in one file, under a lock. A process ends at ctrl-c, and here also
//! after three jobs; what it holds is given back.
//!
//! The supervisor opens the sessions. When one has ended, the process is a candidate and a consumer in the next one.
//!
//! ```console
//! $ cargo run -p zk-client --example service -- 127.0.0.1:2181
//! … leads under token …
//! … has done job 1 of …
//! … has done job 2 of …
//! … has done job 3 of …
//! ann has shut down
//! ben has shut down
//! cat has shut down
//! ```

mod common;

use futures_util::future::{FutureExt, try_join_all, try_join3};
use std::fs::{File, read_to_string, remove_file};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use zk_client::{Client, Connector, Options};
use zk_recipes::supervisor::{Ended, OnFailure, Policy, Supervisor};
use zk_recipes::{Delivery, ElectionOptions, LockOptions, Queue, QueueOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    common::run("service", async |ensemble| {
        let log = std::env::temp_dir().join(format!("example-service-{}", std::process::id()));
        try_join_all(["ann", "ben", "cat"].map(|name| process(ensemble.connect_string(), name, &log)))
            .await?;
        Ok::<_, Failure>(remove_file(&log)?)
    })
}

/// One process of the service.
async fn process(connect: String, name: &str, log: &Path) -> Result<(), Failure> {
    let supervisor = Supervisor::new(Connector::new(connect, Options::new(Duration::from_secs(10))));
    // A failure is retried, and meanwhile another process may lead or have the job.
    let retrying = supervisor.with_policy(Policy::default().with_on_failure(OnFailure::GiveBack));

    // The future is dropped as soon as the leader must stop, and begins anew with the next term.
    let lead = retrying.lead("/leader", ElectionOptions::default().with_data(name), async |term| {
        println!("{name} leads under token {:#x}", term.token());
        let mut producer = jobs(term.zk())?.producer();
        for number in 1.. {
            producer.put(format!("job {number} of {name}").as_bytes()).await?;
            common::work_for(Duration::from_secs(1)).await;
        }
        Ok::<_, Failure>(())
    });
    let consumer = |zk: &Client| Ok(jobs(zk)?.consumer());
    // A process that dies before it has confirmed its job leaves it to another one, which does it again.
    let consume = retrying.consume("jobs", consumer, async |claimed| {
        let job = String::from_utf8_lossy(&claimed.item().data);
        let written = supervisor.hold("/log", LockOptions::default(), async |held| {
            let mut log = File::options().create(true).append(true).open(log)?;
            writeln!(log, "{job} by {name} under token {:#x}", held.token())?;
            println!("{name} has done {job}");
            Ok::<_, std::io::Error>(())
        });
        Ok::<_, Failure>(written.await?)
    });
    let stop = async {
        common::ctrl_c_or(|| read_to_string(log).is_ok_and(|text| text.lines().count() >= 3)).await;
        Ok(supervisor.shutdown(Duration::from_secs(5)).await?)
    };
    // The calls are polled until the shutdown has ended them. If one of them fails, the process ends.
    try_join3(lead.map(ended), consume.map(ended), stop).await?;
    println!("{name} has shut down");
    Ok(())
}

/// A call that the shutdown has ended has not failed.
fn ended<T>(call: Result<T, Ended<Failure>>) -> Result<(), Failure> {
    Ok(call.map(drop).or_else(Ended::unless_shut_down)?)
}

fn jobs(zk: &Client) -> Result<Queue<Client>, zk_recipes::Error> {
    Queue::new(zk, "/jobs", QueueOptions::new(Delivery::AtLeastOnce))
}
