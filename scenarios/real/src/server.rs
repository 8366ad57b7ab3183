//! One Apache ZooKeeper server of our own, on 127.0.0.1, in a folder that is removed with it: a standalone server, or a
//! member of an [`Ensemble`](super::Ensemble).
//!
//! 1. Find: the jars and Java.
//! 2. Settle: a new temporary folder, a reaper in case this process dies first, a free port, a configuration.
//! 3. Start: one process.
//! 4. Wait until it serves, or has died.
//! 5. Stop when dropped: ask, then kill, then remove the folder.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::folder::Folder;
use crate::install;
use crate::reaper::{self, Reaper};

/// The time limit for a server to serve. Java on a busy machine is slow.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The time limit for a server to stop when asked.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// The interval at which a starting, stopping or lagging server is polled.
const PAUSE: Duration = Duration::from_millis(20);

/// The first time limit for the reply of a starting server to one word; each timeout doubles it, up to [`WORD_LIMIT`].
/// A server that listens but does not serve yet may leave a connection without a reply for as long as it runs.
const FIRST_WORD_LIMIT: Duration = Duration::from_millis(125);

/// The time limit for the reply of a serving server to one word.
const WORD_LIMIT: Duration = Duration::from_secs(2);

/// The number of attempts to find a free port: another process may take one before the server does.
pub(super) const PORTS_TRIED: usize = 3;

/// How many ports are tried before the system is asked for a free one.
const PORTS_LOOKED_AT: u32 = 50;

/// The options of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// The port; `None`: any free port.
    pub port: Option<u16>,
    /// The length of a tick. Sessions last 2 to 20 ticks, and expire up to a tick late.
    pub tick: Duration,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// ZooKeeper is not installed.
    #[error(
        "no ZooKeeper found: install the package zookeeper, or set ZOOKEEPER_HOME to an unpacked release"
    )]
    NoZooKeeper,
    /// `ZOOKEEPER_HOME` names no release.
    #[error("no zookeeper-*.jar in {} or its lib, which ZOOKEEPER_HOME names", .0.display())]
    WrongHome(PathBuf),
    /// Java is not installed.
    #[error("no Java found at {}: install a Java runtime, or set JAVA_HOME", .0.display())]
    NoJava(PathBuf),
    /// Another process listens there.
    #[error("port {0} of 127.0.0.1 is in use")]
    PortInUse(u16),
    /// The process ended instead of serving.
    #[error("the server died while it started; its last line: {0}")]
    Died(String),
    /// The process lives but does not serve.
    #[error("the server does not serve after {} s; its last line: {last}", .after.as_secs())]
    Silent {
        /// How long the caller waited.
        after: Duration,
        /// The last line of its log.
        last: String,
    },
    /// The operating system refused something.
    #[error("cannot {doing}: {source}")]
    Io {
        /// The failed action.
        doing: &'static str,
        /// The reason.
        source: std::io::Error,
    },
}

impl StartError {
    /// Whether something is not installed on this machine, rather than broken.
    pub fn is_not_installed(&self) -> bool {
        matches!(self, Self::NoZooKeeper | Self::NoJava(_))
    }

    /// Whether another process took the port first.
    pub(super) fn is_port_taken(&self) -> bool {
        matches!(self, Self::Died(last) if last.contains("Address already in use"))
    }
}

/// Further settings of a server; empty by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings<'a> {
    /// Java system properties, each as `name=value`.
    pub properties: &'a [&'a str],
    /// Lines of its configuration, each as `name=value`, for settings that are no property.
    pub lines: &'a [&'a str],
}

/// Where and how a server's process runs; by default in a folder for temporary files, with a small heap and a simple compiler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host<'a> {
    /// The folder in which the server's own folder is made, such as one in memory.
    pub folder: Option<&'a Path>,
    /// Flags of the Java virtual machine. They come last, and the last of contradictory flags counts.
    pub flags: &'a [&'a str],
}

/// The place of a server in an ensemble.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    /// Its number, from 1.
    pub id: usize,
    /// The ports between members, of all members: its own, and those at which it reaches the others.
    pub peers: Arc<[Peer]>,
}

/// The ports at which a member listens to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    /// As leader, to its followers.
    pub quorum: u16,
    /// For votes.
    pub election: u16,
}

/// A copy of a server's data.
#[derive(Debug)]
pub struct Backup(PathBuf);

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// A running server. Dropping it stops the process and removes its folder; if this process ends without a drop, in any
/// way, both are removed as well.
///
/// Its functions block: call them outside of async code.
#[derive(Debug)]
pub struct Server {
    // Dropped in this order, after `drop` has stopped the process: first the folder, then the reaper.
    process: Child,
    folder: Folder,
    reaper: Reaper,
    port: u16,
    /// The arguments of the Java virtual machine, for a restart.
    arguments: Vec<String>,
}

impl Server {
    /// Starts a server and waits until it serves.
    ///
    /// # Errors
    ///
    /// One sentence each: nothing installed, the port in use, the server's last word if it died.
    pub fn start(options: ServerOptions) -> Result<Server, StartError> {
        Self::start_with(options, Settings::default())
    }

    /// Starts a server with those settings, and waits until it serves.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_with(options: ServerOptions, settings: Settings<'_>) -> Result<Server, StartError> {
        Self::start_at(options, settings, Host::default())
    }

    /// Starts a server with those settings at that place, and waits until it serves.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_at(
        options: ServerOptions,
        settings: Settings<'_>,
        host: Host<'_>,
    ) -> Result<Server, StartError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let port = choose_port(options.port)?;
            match Self::start_on(port, options.tick, settings, host) {
                Err(error) if error.is_port_taken() => {
                    if options.port.is_some() || tried == PORTS_TRIED {
                        return Err(StartError::PortInUse(port));
                    }
                }
                other => return other,
            }
        }
    }

    fn start_on(
        port: u16,
        tick: Duration,
        settings: Settings<'_>,
        host: Host<'_>,
    ) -> Result<Server, StartError> {
        let mut server = Self::begin(port, tick, None, settings, host)?;
        server.wait_until_it_serves()?;
        Ok(server)
    }

    /// Steps 2 and 3. A member of an ensemble serves only when enough others have started as well.
    pub(super) fn begin(
        port: u16,
        tick: Duration,
        member: Option<&Seat>,
        settings: Settings<'_>,
        host: Host<'_>,
    ) -> Result<Server, StartError> {
        let mut reaper = Reaper::start().map_err(io("start a shell"))?;
        let folder = Folder::make(&mut reaper, host.folder).map_err(io("make a temporary folder"))?;
        write_configuration(&folder, port, tick, member, settings.lines)?;
        let properties = settings.properties.iter().map(|property| format!("-D{property}"));
        let flags = host.flags.iter().map(|flag| (*flag).to_owned());
        let arguments: Vec<String> = properties.chain(flags).collect();
        let process = launch(&folder, &mut reaper, &arguments)?;
        Ok(Server { process, folder, reaper, port, arguments })
    }

    /// Its address, as a client's connect string.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The answer to one of ZooKeeper's four-letter words, such as `srvr`, `cons` or `wchp`.
    ///
    /// # Errors
    ///
    /// Those of the socket: connection refused, or no answer within two seconds.
    pub fn ask(&self, word: &str) -> std::io::Result<String> {
        self.ask_within(word, WORD_LIMIT)
    }

    fn ask_within(&self, word: &str, limit: Duration) -> std::io::Result<String> {
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let mut stream = TcpStream::connect_timeout(&to, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.write_all(word.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// A figure of `mntr`, such as `zk_watch_count`.
    pub fn figure(&self, name: &str) -> Option<u64> {
        let told = self.ask("mntr").ok()?;
        let line = told.lines().find_map(|line| line.strip_prefix(name))?;
        // The counted figures have no fractions.
        line.trim().parse().ok()
    }

    /// Pauses its process: it neither replies nor closes connections, until [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// If the signal could not be sent.
    pub fn pause(&self) -> std::io::Result<()> {
        self.signal("STOP")
    }

    /// Ends a [`pause`](Self::pause).
    ///
    /// # Errors
    ///
    /// If the signal could not be sent.
    pub fn resume(&self) -> std::io::Result<()> {
        self.signal("CONT")
    }

    /// Kills it at once, like a crash. Its data stay for [`start_again`](Self::start_again).
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn kill(&mut self) -> std::io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }

    /// Asks it to stop, and waits for its end. Its data stay for [`start_again`](Self::start_again).
    pub fn shut_down(&mut self) {
        self.stop();
    }

    /// Starts it on the same port with the same data, and waits until it serves. A running server is killed first.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_again(&mut self) -> Result<(), StartError> {
        self.kill().map_err(io("kill the server"))?;
        self.process = launch(&self.folder, &mut self.reaper, &self.arguments)?;
        self.wait_until_it_serves()
    }

    /// Removes the data of a stopped server: after a restart it is empty.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn forget(&self) -> std::io::Result<()> {
        std::fs::remove_dir_all(self.data())
    }

    /// Copies the data of a stopped server, for [`restore`](Self::restore). The copy is removed with the server.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn back_up(&self) -> std::io::Result<Backup> {
        let to = self.folder.path().join("backup");
        copy(&self.data(), &to)?;
        Ok(Backup(to))
    }

    /// Replaces the data of a stopped server by its own backup.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn restore(&self, backup: &Backup) -> std::io::Result<()> {
        self.forget()?;
        copy(&backup.0, &self.data())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join(DATA).join("version-2")
    }

    /// Step 4. A member serves when it has a leader, or leads a quorum.
    pub(super) fn wait_until_it_serves(&mut self) -> Result<(), StartError> {
        let mut limit = FIRST_WORD_LIMIT;
        for _ in 0..START_LIMIT.as_millis() / PAUSE.as_millis() {
            match self.process.try_wait().map_err(io("look after the server"))?.map(|status| status.code()) {
                None => {}
                Some(Some(reaper::NO_COMMAND)) => return Err(StartError::NoJava(install::java())),
                Some(_) => return Err(StartError::Died(self.last_word())),
            }
            match self.ask_within("srvr", limit) {
                Ok(answer) if answer.contains("Mode:") && self.is_ours() => return Ok(()),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    limit = WORD_LIMIT.min(limit * 2);
                }
                _ => {}
            }
            pause();
        }
        Err(StartError::Silent { after: START_LIMIT, last: self.last_word() })
    }

    /// Whether the process that listens at the port is the started one. If another process took the port first, the
    /// started one is about to die.
    fn is_ours(&self) -> bool {
        let folder = self.folder.path().display().to_string();
        self.ask("conf").is_ok_and(|answer| answer.contains(&folder))
    }

    /// The most useful line of its log: the cause of an exception, else the last line.
    fn last_word(&self) -> String {
        let log = std::fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let mut lines =
            log.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("at "));
        let last = lines.clone().next().unwrap_or("nothing");
        lines.find(|line| line.contains("Exception") || line.starts_with("Error")).unwrap_or(last).to_owned()
    }

    /// Sends a signal to our own child. Its process id cannot have been reused, since no wait has collected it.
    fn signal(&self, name: &str) -> std::io::Result<()> {
        let status = Command::new("sh")
            .args(["-c", r#"kill -s "$1" "$2""#, "sh", name, &self.process.id().to_string()])
            .stderr(Stdio::null())
            .status()?;
        if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("kill -s {name} failed"))) }
    }

    /// Asks the process to end; returns whether that was possible.
    pub(super) fn ask_to_stop(&self) -> bool {
        // A paused server does not react to SIGTERM until it resumes.
        self.signal("TERM").is_ok() && self.signal("CONT").is_ok()
    }

    /// Asks the process to end, then kills it.
    fn stop(&mut self) {
        let ends = |process: &mut Child| matches!(process.try_wait(), Ok(Some(_)));
        if ends(&mut self.process) {
            return;
        }
        if self.ask_to_stop() {
            for _ in 0..STOP_LIMIT.as_millis() / PAUSE.as_millis() {
                if ends(&mut self.process) {
                    return;
                }
                pause();
            }
        }
        // A process that can be neither asked nor killed is left alone.
        let _ = self.kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

const CONFIGURATION: &str = "zoo.cfg";
const DATA: &str = "data";
const LOG: &str = "server.log";

fn choose_port(wanted: Option<u16>) -> Result<u16, StartError> {
    let listener = listen(wanted)?;
    Ok(listener.local_addr().map_err(io("find a free port"))?.port())
}

/// The range of free ports: below the ephemeral ports, which connecting clients use, and which come and go between our
/// check and the server's.
const PORTS: std::ops::Range<u16> = 16_000..32_000;

/// Holds a port until it is dropped: the wanted one, or any free port.
pub(super) fn listen(wanted: Option<u16>) -> Result<TcpListener, StartError> {
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let free = || {
        let mut any = [0; 2];
        getrandom::fill(&mut any).ok()?;
        listen(PORTS.start + u16::from_ne_bytes(any) % (PORTS.end - PORTS.start)).ok()
    };
    let listener = match wanted {
        Some(port) => listen(port),
        None => (0..PORTS_LOOKED_AT).find_map(|_| free()).map_or_else(|| listen(0), Ok),
    };
    match listener {
        Ok(listener) => Ok(listener),
        Err(e) if e.kind() == ErrorKind::AddrInUse => Err(StartError::PortInUse(wanted.unwrap_or(0))),
        Err(source) => Err(StartError::Io { doing: "listen on 127.0.0.1", source }),
    }
}

fn write_configuration(
    folder: &Folder,
    port: u16,
    tick: Duration,
    member: Option<&Seat>,
    lines: &[&str],
) -> Result<(), StartError> {
    let data = folder.path().join(DATA);
    let mut text = format!(
        "tickTime={tick}\ninitLimit=10\nsyncLimit=5\ndataDir={data}\nclientPort={port}\n\
         clientPortAddress=127.0.0.1\nmaxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*\n",
        tick = tick.as_millis().max(1),
        data = data.display(),
    );
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    std::fs::create_dir(&data).map_err(io("cannot create the server's data folder"))?;
    if let Some(Seat { id, peers }) = member {
        text.push_str("standaloneEnabled=false\nreconfigEnabled=false\n");
        for (number, Peer { quorum, election }) in (1..).zip(peers.iter()) {
            text.push_str(&format!("server.{number}=127.0.0.1:{quorum}:{election}\n"));
        }
        std::fs::write(data.join("myid"), id.to_string()).map_err(io("write the server's number"))?;
    }
    std::fs::write(folder.path().join(CONFIGURATION), text)
        // Releases that log through logback read this file; without it they log everything.
        .and_then(|()| std::fs::write(folder.path().join("logback.xml"), LOGBACK))
        .map_err(io("write the server's configuration"))
}

const LOGBACK: &str = r#"<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %p %m%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"#;

fn launch(folder: &Folder, reaper: &mut Reaper, arguments: &[String]) -> Result<Child, StartError> {
    let class_path = install::class_path()?;
    let log = std::fs::File::create(folder.path().join(LOG)).map_err(io("write the server's log"))?;
    let log_too = log.try_clone().map_err(io("write the server's log"))?;
    let mut process = reaper::gate(&install::java())
        .args(["-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .args([
            "-Dzookeeper.jmx.log4j.disable=true",
            "-Dzookeeper.forceSync=no",
            "-Dzookeeper.preAllocSize=4096",
        ])
        .arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
        .arg(format!("-Dlogback.configurationFile={}", folder.path().join("logback.xml").display()))
        .args(arguments)
        .arg("-cp")
        .arg(class_path)
        .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
        .arg(folder.path().join(CONFIGURATION))
        .stdout(log)
        .stderr(log_too)
        // A separate process group: on Ctrl-C this process stops the server itself.
        .process_group(0)
        .spawn()
        .map_err(io("start a shell"))?;
    // The gate opens only after the reaper knows the process.
    match reaper.server(process.id()).and_then(|()| reaper::open(&mut process)) {
        Ok(()) => Ok(process),
        Err(source) => {
            let _ = process.kill().and_then(|()| process.wait());
            Err(StartError::Io { doing: "watch over the server", source })
        }
    }
}

pub(super) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> StartError {
    move |source| StartError::Io { doing, source }
}

/// The pause between two polls of a server.
#[expect(
    clippy::disallowed_methods,
    reason = "a real process takes real time, and tells nobody when it is ready"
)]
pub fn pause() {
    std::thread::sleep(PAUSE);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Our check of the port comes before the other server starts, and our own server's check after that.
    #[test]
    fn a_server_that_was_quicker_is_not_taken_for_ours() {
        let tick = Duration::from_millis(200);
        let first = match Server::start(ServerOptions { port: None, tick }) {
            Err(e) if e.is_not_installed() && std::env::var_os("ZK_REQUIRE_REAL").is_none() => return,
            first => first.expect("a server can be started"),
        };
        let second = Server::start_on(first.port, tick, Settings::default(), Host::default())
            .expect_err("its port is taken");
        assert!(second.is_port_taken(), "{second}");
    }
}
