//! The events of a session's life, as a subscriber sees them.

use super::addresses::closed;
use super::script::{answer, greets, serves};
use super::{open, run};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Dispatch, Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use zk_client::{Client, Connector, Options};
use zk_protocol::wire::number;
use zk_recipes::supervisor::Connect;
use zk_recipes::zk::ZooKeeper;

/// What was told: level, message and fields of each event, and the fields of spans.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Level, String)>>>);

impl Log {
    fn line(&self, level: Level, line: String) {
        self.0.lock().expect("no panic").push((level, line));
    }

    /// The lines of that level, and of more important ones.
    fn lines(&self, least: Level) -> Vec<String> {
        let all = self.0.lock().expect("no panic");
        all.iter().filter(|(level, _)| *level <= least).map(|(_, line)| line.clone()).collect()
    }

    /// Waits for a line; its number.
    async fn comes(&self, part: &str) -> String {
        loop {
            let found = self.lines(Level::TRACE).into_iter().find(|line| line.contains(part));
            match found {
                Some(line) => return line,
                None => tokio::task::yield_now().await,
            }
        }
    }
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        _: &tracing::span::Id,
        _: Context<'_, S>,
    ) {
        let mut line = Line(format!("span {}", attributes.metadata().name()));
        attributes.record(&mut line);
        self.line(Level::TRACE, line.0);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.line(*event.metadata().level(), line.0);
    }
}

/// A second subscriber. While a process has one, `tracing-core` asks the thread that meets an event first who is interested,
/// and keeps the answer for all threads (tokio-rs/tracing#3611): tests without a subscriber would silence events for the others.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

/// Runs with a log of everything that this thread is told.
fn logged<T>(work: impl AsyncFnOnce(Log) -> T) -> T {
    LazyLock::force(&SECOND);
    let log = Log::default();
    let subscriber = tracing_subscriber::registry().with(log.clone());
    tracing::subscriber::with_default(subscriber, || run(work(log)))
}

fn hang_up(connections: &Mutex<Vec<TcpStream>>) {
    for stream in connections.lock().expect("no panic").drain(..) {
        // The client may have left one that it did not need.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

#[test]
fn a_life_is_told_at_info_and_a_calm_session_says_nothing() {
    logged(async |log| {
        // Connected, lost, resumed, lost, expired.
        let connections = Arc::new(Mutex::new(Vec::new()));
        let is_forgotten = Arc::new(AtomicBool::new(false));
        let (kept, forgotten) = (connections.clone(), is_forgotten.clone());
        let flaky = greets(move |mut peer, hello| {
            let is_known = hello.is_new() || !forgotten.load(SeqCst);
            peer.grants(if is_known { 4_000 } else { 0 });
            if hello.is_new() {
                // One request, and then nothing more.
                peer.request();
            } else {
                kept.lock().expect("no panic").push(peer.stream);
            }
        });
        let ((_bound, closed), options) = (closed(), Options::new(Duration::from_secs(2)));
        let zk = open(&format!("{closed},{flaky}"), options).await;
        let opened = log.comes("session opened").await;
        for part in ["session=0x1234", "server.address=\"127.0.0.1\"", "server.port=", "timeout=4s", "took="]
        {
            assert!(opened.contains(part), "{part} in {opened}");
        }
        log.comes("another timeout was granted session=0x1234 asked=2s granted=4s").await;
        let calm = log.lines(Level::INFO).len();
        drop(zk.get("/").await);
        let suspect = log.comes("session suspect").await;
        for part in [
            "error.type=\"closed_by_server\"",
            "error.message=\"the server closed the connection\"",
            "in_flight=1",
            "safe_for=",
            "connected=",
        ] {
            assert!(suspect.contains(part), "{part} in {suspect}");
        }
        assert!(log.lines(Level::INFO)[calm].contains("session suspect"), "nothing before it");
        log.comes("session resumed session=0x1234").await;
        is_forgotten.store(true, SeqCst);
        hang_up(&connections);
        log.comes("session expired session=0x1234").await;
        let failed = log.comes("attempt failed").await;
        assert!(failed.contains("error.type=\"connection_refused\""), "{failed}");
        let attempts = log.lines(Level::TRACE).iter().filter(|line| line.starts_with("attempt ")).count();
        assert!(attempts >= 3, "{attempts} attempts at level DEBUG");
    });
}

#[test]
fn another_server_and_a_close_are_told() {
    logged(async |log| {
        let connections = Arc::new(Mutex::new(Vec::new()));
        let serves = || {
            let connections = connections.clone();
            serves(move |mut peer| {
                let stream = peer.stream.try_clone().expect("it is open");
                connections.lock().expect("no panic").push(stream);
                thread::spawn(move || {
                    peer.welcomes(10_000);
                    peer.goes_on();
                });
            })
        };
        let zk = open(&format!("{},{}", serves(), serves()), Options::new(Duration::from_secs(10))).await;
        hang_up(&connections);
        log.comes("session moved").await;
        zk.close(Duration::from_secs(5)).await.expect("it is closed");
        log.comes("session closed").await;
    });
}

#[test]
fn an_outage_is_told_again_and_again_at_growing_intervals() {
    logged(async |log| {
        let ((_one, first), (_other, second)) = (closed(), closed());
        let options = Options::new(Duration::from_secs(4));
        Client::open(&format!("{first},{second}"), options).await.expect_err("nobody listens");
        let told = log.lines(Level::INFO);
        let failed = told.iter().filter(|line| line.starts_with("attempt failed")).count();
        assert_eq!(failed, 2, "each server once: {told:?}");
        let outage: Vec<_> = told.iter().filter(|line| line.starts_with("no server can be used")).collect();
        assert!((1..=3).contains(&outage.len()), "{outage:?}");
        for part in ["disconnected=", "rounds=", &first, &second, "connection refused"] {
            assert!(outage[0].contains(part), "{part} in {outage:?}");
        }
    });
}

/// A supervisor opens one session after the other until a server is there.
#[test]
fn an_outage_over_many_attempts_for_a_session_is_one() {
    logged(async |log| {
        let ((_one, first), (_other, second)) = (closed(), closed());
        let options = Options::new(Duration::from_secs(4)).with_connect_timeout(Duration::from_millis(300));
        let connector = Connector::new(format!("{first},{second}"), options);
        for _ in 0..8 {
            connector.open().await.expect_err("nobody listens");
        }
        let told = log.lines(Level::INFO);
        let of = |event: &str| told.iter().filter(|line| line.starts_with(event)).count();
        assert_eq!((of("attempt failed"), of("no session opened")), (2, 1), "each once: {told:?}");
        assert!((1..=2).contains(&of("no server can be used")), "after 1 and 2 s: {told:?}");
    });
}

#[test]
fn a_close_without_a_connection_is_no_confirmed_one() {
    logged(async |log| {
        let connections = Arc::new(Mutex::new(Vec::new()));
        let accepted = connections.clone();
        let server = serves(move |mut peer| {
            let mut accepted = accepted.lock().expect("no panic");
            accepted.push(peer.stream.try_clone().expect("it is open"));
            // The first connection alone.
            if accepted.len() == 1 {
                drop(accepted);
                thread::spawn(move || {
                    peer.welcomes(10_000);
                    peer.goes_on();
                });
            }
        });
        let zk = open(&server, Options::new(Duration::from_secs(10))).await;
        hang_up(&connections);
        log.comes("session suspect").await;
        zk.close(Duration::from_millis(100)).await.expect_err("nobody confirms it");
        log.comes("session left").await;
        assert!(log.lines(Level::INFO).iter().all(|line| !line.starts_with("session closed")));
    });
}

#[test]
fn a_port_with_tls_is_told_from_a_server_that_does_not_serve() {
    logged(async |log| {
        let by_tls = serves(|mut peer| {
            let mut head = [0; 2];
            if peer.stream.read_exact(&mut head).is_ok() && head == [0x16, 3] {
                let _ = peer.stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]);
            }
        });
        let not_yet = serves(|mut peer| _ = peer.stream.read(&mut [0; 100]));
        let short = Options::new(Duration::from_secs(1));
        for (address, kind) in [(by_tls, "tls"), (not_yet, "not_serving")] {
            Client::open(&address, short.clone()).await.expect_err("it hangs up");
            let port = address.rsplit_once(':').expect("it has a port").1.to_owned();
            let failed =
                log.comes(&format!("server.port={port} network.peer.address=127.0.0.1 error.type")).await;
            assert!(failed.contains(&format!("error.type={kind:?}")), "{failed}");
        }
    });
}

#[test]
fn no_secret_is_told_at_any_level() {
    const SECRET: &str = "hunter2-is-secret";
    logged(async |log| {
        let refuses = serves(|mut peer| {
            const AUTH_FAILED: i32 = -115;
            peer.welcomes(10_000);
            peer.request();
            peer.says(&answer(number::AUTH_XID, 0, AUTH_FAILED, &[]));
        });
        let options = || Options::new(Duration::from_secs(5)).with_auth("digest", format!("ann:{SECRET}"));
        let refused = Client::open(&refuses, options()).await.expect_err("it is refused");
        assert!(refused.is_auth_failed());
        log.comes("session refused").await;
        let failed = log.comes("attempt failed").await;
        assert!(failed.contains("error.type=\"auth_failed\""), "{failed}");
        let (_bound, closed) = closed();
        let short = options().with_connect_timeout(Duration::from_millis(200));
        #[cfg(feature = "sasl")]
        let short = short.with_sasl(zk_client::Sasl::digest_md5("ann", SECRET));
        let unreachable = Client::open(&closed, short).await.expect_err("nobody listens");
        let all = log.lines(Level::TRACE);
        assert!(all.len() > 5, "{all:?}");
        for line in all.iter().chain([&unreachable.to_string(), &format!("{unreachable:?}")]) {
            assert!(!line.contains(SECRET) && !line.contains("hunter"), "{line}");
        }
        // The password that proves a session, sixteen bytes of one.
        assert!(all.iter().all(|line| !line.contains("[1, 1, 1")), "{all:?}");
    });
}

#[test]
fn an_event_that_another_thread_met_first_is_told() {
    fn event() {
        tracing::info!("an event");
    }
    logged(async |log| {
        thread::spawn(event).join().expect("no panic");
        event();
        log.comes("an event").await;
    });
}
