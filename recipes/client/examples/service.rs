//! A service of three processes, to be copied. Each process stands for election, and the leader puts a job into a queue four
//! times a second. Each process does jobs, and writes them down in one file, under a lock. A process ends at ctrl-c; what it
//! holds is given back.
//!
//! The supervisor opens the sessions. When one has ended, the process is a candidate and a consumer in the next one.
//!
//! Without a name the three are one process, which ends after three jobs:
//!
//! ```console
//! $ cargo run -p zk-client --example service -- 127.0.0.1:2181
//! … leads under token …
//! … has put job 1 of …
//! … has done job 1 of …
//! … has done job 2 of …
//! … has done job 3 of …
//! ann has shut down
//! ben has shut down
//! cat has shut down
//! ```
//!
//! With a name and a file it is one of them, and logs its sessions on standard error:
//!
//! ```console
//! $ cargo run -p zk-client --example service -- 127.0.0.1:2181 ann /tmp/jobs
//! ```

mod common;

use futures_util::future::{FutureExt, try_join_all, try_join3};
use std::convert::Infallible;
use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use zk_client::{Client, Connector};
use zk_recipes::supervisor::{Ended, OnFailure, Policy, Supervisor};
use zk_recipes::{Delivery, ElectionOptions, LockOptions, Queue, QueueOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    common::run_service("service", async |place| {
        try_join_all(place.names.iter().map(|name| process(&place, name))).await.map(drop)
    })
}

/// One process of the service.
async fn process(place: &common::Place, name: &str) -> Result<(), Failure> {
    let supervisor = Supervisor::new(Connector::new(&place.servers, common::options()));
    // A failure is retried, and meanwhile another process may lead or have the job.
    let retrying = supervisor.with_policy(Policy::default().with_on_failure(OnFailure::GiveBack));
    let [leader, jobs, log] = ["leader", "jobs", "log"].map(|name| place.path(name));
    let jobs = |zk: &Client| Queue::new(zk, &jobs, QueueOptions::new(Delivery::AtLeastOnce));

    // A job whose put has failed may be in the queue, so its number is not used again.
    let numbers = AtomicU32::new(1);
    // The future is dropped as soon as the leader must stop, and begins anew with the next term.
    let options = ElectionOptions::default().with_data(name);
    let lead = retrying.lead(&leader, options, async |term| -> Result<Infallible, Failure> {
        println!("{name} leads under token {:#x}", term.token());
        let mut producer = jobs(term.zk())?.producer();
        loop {
            let job = format!("job {} of term {:#x}", numbers.fetch_add(1, Ordering::Relaxed), term.token());
            producer.put(job.as_bytes()).await?;
            println!("{name} has put {job}");
            common::work_for(Duration::from_millis(250)).await;
        }
    });
    // A process that dies before it has confirmed its job leaves it to another one, which does it again.
    let consume = retrying.consume(
        "jobs",
        |zk| Ok(jobs(zk)?.consumer()),
        async |claimed| {
            let job = String::from_utf8_lossy(&claimed.item().data);
            let written = supervisor.hold(&log, LockOptions::default(), async |held| {
                let line = format!("{job} by {name} under token {:#x}\n", held.token());
                File::options().create(true).append(true).open(&place.file)?.write_all(line.as_bytes())?;
                println!("{name} has done {job}");
                Ok::<_, std::io::Error>(())
            });
            Ok::<_, Failure>(written.await?)
        },
    );
    let stop = async {
        place.stops(3).await;
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
