//! What all examples share: sessions with the ensemble that is named on the command line.

use futures_util::future::select;
use std::fmt::Display;
use std::future::Future;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;
use zk_client::{Client, Options};
use zk_recipes::Error;
use zk_recipes::zk::{CreateMode, Runtime, ZooKeeper};

/// Where an example plays.
#[derive(Clone)]
pub struct Ensemble {
    connect: String,
    root: String,
}

impl Ensemble {
    /// Returns the connect string of all its sessions.
    pub fn connect_string(&self) -> String {
        format!("{}{}", self.connect, self.root)
    }

    /// Opens a session.
    #[allow(dead_code, reason = "a supervisor opens the sessions of an example")]
    pub async fn session(&self) -> Result<Client, Error> {
        Client::open(&self.connect_string(), Options::new(Duration::from_secs(10))).await
    }
}

/// Runs an example on the ensemble of the first argument, `127.0.0.1:2181` if there is none, below a path of its own
/// that is removed in the end.
pub fn run<F, E>(name: &str, example: impl FnOnce(Ensemble) -> F) -> ExitCode
where
    F: Future<Output = Result<(), E>>,
    E: From<Error> + Display,
{
    let connect = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:2181".to_owned());
    if connect.starts_with('-') {
        eprintln!("usage: {name} [HOST:PORT[,HOST:PORT…]]");
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    match runtime.block_on(below_a_path(connect.clone(), name, example)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name} on {connect}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn below_a_path<F, E>(connect: String, name: &str, example: impl FnOnce(Ensemble) -> F) -> Result<(), E>
where
    F: Future<Output = Result<(), E>>,
    E: From<Error>,
{
    let zk = Client::open(&connect, Options::new(Duration::from_secs(10))).await?;
    let root = format!("/example-{name}-{}", zk.guid());
    zk.create(&root, &[], CreateMode::Persistent).await?;
    let result = example(Ensemble { connect, root: root.clone() }).await;
    remove(&zk, &root).await?;
    zk.close(Duration::from_secs(5)).await?;
    result
}

/// What an example does in place of its work.
#[allow(dead_code, reason = "not every example works for a while")]
pub async fn work_for(time: Duration) {
    let _ = tokio::time::timeout(time, std::future::pending::<()>()).await;
}

/// Resolves at ctrl-c, or when an example has shown enough.
#[allow(dead_code, reason = "most examples end by themselves")]
pub async fn ctrl_c_or(is_enough: impl Fn() -> bool) {
    let enough = async {
        while !is_enough() {
            work_for(Duration::from_millis(50)).await;
        }
    };
    select(pin!(tokio::signal::ctrl_c()), pin!(enough)).await;
}

/// Removes a znode and everything below it.
async fn remove(zk: &Client, path: &str) -> Result<(), Error> {
    // Sessions that were just dropped may take their ephemerals away meanwhile.
    loop {
        let names = match zk.children(path).await {
            Ok(list) => list.names,
            Err(e) if e.is_no_node() => return Ok(()),
            Err(error) => return Err(error),
        };
        for name in names {
            Box::pin(remove(zk, &format!("{path}/{name}"))).await?;
        }
        match zk.delete(path, None).await {
            Ok(()) => return Ok(()),
            Err(e) if e.is_no_node() => return Ok(()),
            Err(e) if e.is_not_empty() => {}
            Err(error) => return Err(error),
        }
    }
}
