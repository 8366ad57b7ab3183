//! What all examples share: sessions with the ensemble that is named on the command line, and the place of a service.

use futures_util::future::select;
use std::fmt::Display;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
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
    /// Opens a session.
    #[allow(dead_code, reason = "a supervisor opens the sessions of an example")]
    pub async fn session(&self) -> Result<Client, Error> {
        Client::open(&format!("{}{}", self.connect, self.root), options()).await
    }
}

/// Options of all sessions. A session lasts ten seconds without a connection, or `ZK_SESSION_TIMEOUT_MS` milliseconds.
pub fn options() -> Options {
    let asked = std::env::var("ZK_SESSION_TIMEOUT_MS").ok().and_then(|text| text.parse().ok());
    Options::new(Duration::from_millis(asked.unwrap_or(10_000)))
}

/// Runs an example on the ensemble of the first argument, `127.0.0.1:2181` if there is none, below a path of its own
/// that is removed in the end.
#[allow(dead_code, reason = "not of a service")]
pub fn run<F, E>(name: &str, example: impl FnOnce(Ensemble) -> F) -> ExitCode
where
    F: Future<Output = Result<(), E>>,
    E: From<Error> + Display,
{
    match arguments().as_deref() {
        Some([]) => run_on(name, DEFAULT, below_a_path(DEFAULT, name, example)),
        Some([connect]) => run_on(name, connect, below_a_path(connect, name, example)),
        _ => usage(&format!("{name} [HOST:PORT[,HOST:PORT…]]")),
    }
}

const DEFAULT: &str = "127.0.0.1:2181";

/// The arguments, none of which is an option.
fn arguments() -> Option<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    arguments.iter().all(|argument| !argument.starts_with('-')).then_some(arguments)
}

fn usage(usage: &str) -> ExitCode {
    eprintln!("usage: {usage}");
    ExitCode::from(2)
}

fn run_on<E: Display>(name: &str, connect: &str, example: impl Future<Output = Result<(), E>>) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    match runtime.block_on(example) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name} on {connect}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn below_a_path<F, E>(connect: &str, name: &str, example: impl FnOnce(Ensemble) -> F) -> Result<(), E>
where
    F: Future<Output = Result<(), E>>,
    E: From<Error>,
{
    let zk = Client::open(connect, options()).await?;
    let root = format!("/example-{name}-{}", zk.guid());
    zk.create(&root, &[], CreateMode::Persistent).await?;
    zk.close(Duration::from_secs(5)).await?;
    let result = example(Ensemble { connect: connect.to_owned(), root: root.clone() }).await;
    // In a session of its own: the first one might have ended meanwhile.
    loop {
        let zk = Client::open(connect, options()).await?;
        match remove(&zk, &root).await {
            Err(error) if error.is_connection_loss() || error.is_session_over() => {}
            removed => {
                removed?;
                zk.close(Duration::from_secs(5)).await?;
                return result;
            }
        }
    }
}

/// Where the processes of a service work.
#[allow(dead_code, reason = "of a service")]
#[derive(Clone)]
pub struct Place {
    /// The connect string.
    pub servers: String,
    /// The processes that this one stands for.
    pub names: Vec<String>,
    /// The file in which all of them write.
    pub file: PathBuf,
    root: String,
}

#[allow(dead_code, reason = "of a service")]
impl Place {
    /// A path of the service.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// Resolves at ctrl-c. Where this process stands for all of them also when they have written so many lines.
    pub async fn stops(&self, lines: usize) {
        let is_enough =
            || std::fs::read_to_string(&self.file).is_ok_and(|text| text.lines().count() >= lines);
        ctrl_c_or(|| self.names.len() > 1 && is_enough()).await;
    }
}

/// Runs a service: the process NAME of three, beside the others with the same ensemble and file, until ctrl-c, with a log on
/// standard error; or without a name all three, below a path and with a file that are removed in the end.
#[allow(dead_code, reason = "of a service")]
pub fn run_service<F, E>(name: &str, service: impl Fn(Place) -> F) -> ExitCode
where
    F: Future<Output = Result<(), E>>,
    E: From<Error> + Display,
{
    let together = async |Ensemble { connect, root }| {
        let names = ["ann", "ben", "cat"].map(str::to_owned).to_vec();
        let file = std::env::temp_dir().join(format!("example-{name}-{}", std::process::id()));
        let result = service(Place { servers: connect, names, file: file.clone(), root }).await;
        // It is missing if nothing was written.
        let _ = std::fs::remove_file(file);
        result
    };
    match arguments().as_deref() {
        Some([]) => run_on(name, DEFAULT, below_a_path(DEFAULT, name, together)),
        Some([connect]) => run_on(name, connect, below_a_path(connect, name, together)),
        Some([servers, process, file]) => {
            let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false);
            log.with_timer(NameAndTime(process.clone())).init();
            let (names, file) = (vec![process.clone()], Path::new(file).to_owned());
            let place = Place { servers: servers.clone(), names, file, root: format!("/example-{name}") };
            run_on(name, servers, service(place))
        }
        _ => usage(&format!("{name} [HOST:PORT[,HOST:PORT…] [NAME FILE]]")),
    }
}

/// What stands before an event in the log.
#[allow(dead_code, reason = "of a service")]
struct NameAndTime(String);

impl FormatTime for NameAndTime {
    fn format_time(&self, line: &mut Writer<'_>) -> std::fmt::Result {
        write!(line, "{} ", self.0)?;
        SystemTime.format_time(line)
    }
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
