//! The table of `CLIENTS.md` that says what each failure looks like: each is provoked on a real server, and what its caller and
//! its operator are told is written down. `ZKSIM_WRITE_QUOTES=1` writes the table anew; read the diff.

use crate::common::proxy::Proxy;
use crate::common::secure::{Authority, KnowsUser, SecurePort, USER};
use crate::common::{connection, ensemble, over, refusing, server, server_with};
use std::fmt;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Dispatch, Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use zk_client::{Acl, Client, Options, Sasl, Tls};
use zk_real::Settings;
use zk_recipes::zk::{CreateMode, Error, ZooKeeper};
use zk_recipes::{Group, GroupOptions, Lock, LockOptions};

const TICK: Duration = Duration::from_millis(200);

/// For sessions that can be had.
const BUSY: Options = Options::new(Duration::from_secs(4));

/// For those that cannot. A busy machine takes its time to shake hands.
const NONE: Options = BUSY.with_connect_timeout(Duration::from_secs(8));

/// For those of which nobody says anything.
const SHORT: Options = BUSY.with_connect_timeout(Duration::from_millis(1500));

/// For what waits for another client.
const SOON: Duration = Duration::from_millis(100);

/// The events of level INFO and above that one thread is told, each once.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    /// Why a connection breaks, and why another one fails, is not the same in each run, unless it is what is provoked.
    tells_causes: bool,
}

/// The message of an event, and what tells one from another.
#[derive(Default)]
struct Told {
    message: String,
    detail: Option<String>,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if matches!(field.name(), "error.type" | "reason") {
            self.detail = Some(value.to_owned());
        }
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let is_ours = event.metadata().target().starts_with("zk_");
        if *event.metadata().level() > Level::INFO || !is_ours {
            return;
        }
        let mut told = Told::default();
        event.record(&mut told);
        let is_steady = self.tells_causes || told.message == "lost" || told.message == "session refused";
        let detail =
            told.detail.filter(|_| is_steady).map_or_else(String::new, |detail| format!(" ({detail})"));
        let line = format!("{}{detail}", told.message);
        let mut lines = self.lines.lock().expect("no panic");
        if !lines.contains(&line) && !PASSED_OVER.contains(&told.message.as_str()) {
            lines.push(line);
        }
    }
}

/// Events of a calm session, of a busy machine, and what repeats the causes after a second.
const PASSED_OVER: [&str; 6] = [
    "session opened",
    "another timeout was granted",
    "session closed",
    "granted",
    "late ping",
    "no server can be used",
];

/// A line of the table.
struct Row {
    failure: &'static str,
    call: &'static str,
    error: Error,
    events: Vec<String>,
}

/// Provokes a failure on this thread, and hears what is told meanwhile.
fn row(failure: &'static str, call: &'static str, provoke: impl AsyncFnOnce() -> Error) -> Row {
    heard(Log::default(), failure, call, provoke)
}

/// A second subscriber. While a process has one, `tracing-core` asks the thread that meets an event first who is interested,
/// and keeps the answer for all threads (tokio-rs/tracing#3611): tests without a subscriber would silence events for this one.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));

fn heard(log: Log, failure: &'static str, call: &'static str, provoke: impl AsyncFnOnce() -> Error) -> Row {
    LazyLock::force(&SECOND);
    let subscriber = tracing_subscriber::registry().with(log.clone());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let limited = async { tokio::time::timeout(Duration::from_secs(60), provoke()).await };
    let error = tracing::subscriber::with_default(subscriber, || runtime.block_on(limited));
    let error = error.unwrap_or_else(|_| panic!("{failure}: {call} does not end"));
    let events = log.lines.lock().expect("no panic").clone();
    Row { failure, call, error, events }
}

/// An `open` that fails.
fn open(failure: &'static str, address: &str, options: Options) -> Row {
    let log = Log { tells_causes: true, ..Log::default() };
    heard(log, failure, "`Client::open`", async || Client::open(address, options).await.expect_err(failure))
}

async fn opened(address: &str, options: Options) -> Client {
    Client::open(address, options).await.expect("the server of this test accepts a session")
}

/// What no server can be used for, and why.
fn first_connects() -> Option<Vec<Row>> {
    let (_bound, free) = refusing();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().map(|address| (silent, address.to_string())).unwrap();
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    let good = SecurePort::start(TICK, &authority, authority.signs("server", &["127.0.0.1"]))?;
    let old = SecurePort::start(TICK, &authority, authority.signs_expired("server", &["127.0.0.1"]))?;
    let own = || authority.signs("client", &["127.0.0.1"]);
    let tls = |trusted: &Authority| {
        let (certificate, key) = own();
        NONE.with_tls(Tls::trusting(&trusted.certificate).with_identity(certificate, key))
    };
    let mut three = ensemble(3, TICK)?;
    let survivor = three.servers()[0].address();
    for server in &mut three.servers_mut()[1..] {
        server.kill().unwrap();
    }
    let knows = KnowsUser::start(TICK)?;
    let by_name = good.secure_address().replace("127.0.0.1", "localhost");
    let plain = good.server.address();
    let (old, good, knows) = (old.secure_address(), good.secure_address(), knows.server.address());
    // Each takes its whole time, so all go on at once.
    let tried = [
        ("a host that nobody knows", "nobody.invalid:2181".to_owned(), NONE),
        ("a port at which nobody listens", free.to_string(), NONE),
        ("a host that swallows everything", silent.1, SHORT),
        ("a port with TLS, and a client without", good.clone(), NONE),
        ("a port without TLS, and a client with", plain, tls(&authority)),
        ("a certificate of an authority that the client does not trust", good.clone(), tls(&stranger)),
        ("a certificate that has expired", old, tls(&authority)),
        ("a certificate for another name", by_name, tls(&authority)),
        ("a server without a majority behind it", survivor, NONE),
        ("a password that is wrong (SASL)", knows, NONE.with_sasl(Sasl::digest_md5(USER.0, "water"))),
    ];
    Some(thread::scope(|scope| {
        let opens =
            tried.map(|(failure, address, options)| scope.spawn(move || open(failure, &address, options)));
        opens.into_iter().map(|row| row.join().expect("no panic")).collect()
    }))
}

/// What goes wrong in a session.
fn in_a_session() -> Option<Vec<Row>> {
    let server = server(TICK)?;
    let wants_digest = ["zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=digest"];
    let wants_digest = server_with(TICK, Settings { properties: &wants_digest, lines: &[] })?;
    let address = server.address();
    Some(vec![
        row("no credentials, where the server wants some", "`exists`", async || {
            let zk = opened(&wants_digest.address(), BUSY).await;
            zk.exists("/a").await.expect_err("it is not served")
        }),
        row("a chroot that does not exist", "`create`", async || {
            let zk = opened(&format!("{address}/nowhere"), BUSY).await;
            zk.create("/a", b"", CreateMode::Persistent).await.expect_err("nothing is above it")
        }),
        row("an access list", "`get`", async || {
            let ann = opened(&address, BUSY.with_auth("digest", "ann:pw").with_acl(Acl::creator())).await;
            ann.create("/ann", b"", CreateMode::Persistent).await.expect("it is new");
            opened(&address, BUSY).await.get("/ann").await.expect_err("it is not for everybody")
        }),
        row("a path that is none", "`get`", async || {
            opened(&address, BUSY).await.get("a").await.expect_err("it is not absolute")
        }),
        row("data that no server takes", "`create`", async || {
            let zk = opened(&address, BUSY).await;
            zk.create("/large", &[0; 2 << 20], CreateMode::Persistent).await.expect_err("it is too large")
        }),
        row("more ephemerals than servers survive", "`create`", async || {
            let zk = opened(&address, BUSY.with_max_ephemeral_bytes(16)).await;
            let path = "/a-long-way-down";
            zk.create(path, b"", CreateMode::Ephemeral).await.expect_err("there is no room")
        }),
        row("a lock that another client holds", "`acquire().within`", async || {
            let (one, other) = (opened(&address, BUSY).await, opened(&address, BUSY).await);
            let lock = |zk: &Client| Lock::new(zk, "/lock", LockOptions::default()).expect("a good path");
            let held = lock(&one).acquire().await.expect("it is free");
            let late = lock(&other).acquire().within(SOON).await.expect_err("it is held");
            drop(held);
            late
        }),
        row("a name that another client has", "`join`", async || {
            let (one, other) = (opened(&address, BUSY).await, opened(&address, BUSY).await);
            let joined = group(&one).join(Some("a"), b"").await.expect("it is free");
            let taken = group(&other).join(Some("a"), b"").await.expect_err("it is taken");
            drop(joined);
            taken
        }),
        row("a connection that breaks behind the request", "`set`", async || {
            let proxy = Proxy::to(&address);
            let zk = opened(proxy.address(), BUSY).await;
            zk.create("/set", b"", CreateMode::Persistent).await.expect("it is new");
            let set = zk.set("/set", b"1", None);
            proxy.cut();
            let lost = set.await.expect_err("nobody says what became of it");
            connection(&zk, 2).await;
            lost
        }),
        row(
            "no server for longer than the session timeout, while nobody asks",
            "`get`, afterwards",
            async || {
                let proxy = Proxy::to(&address);
                let zk = opened(proxy.address(), Options::new(2 * Duration::from_secs(1))).await;
                let _member = group(&zk).join(Some("alone"), b"").await.expect("it is free");
                let other = opened(&address, BUSY).await;
                let (_, gone) = other.exists_watch("/group/alone").await.expect("it can be watched");
                proxy.refuse(true);
                proxy.cut();
                gone.await.expect("it goes with its session");
                proxy.refuse(false);
                over(&zk).await;
                zk.get("/").await.expect_err("its session is over")
            },
        ),
        row("a session that this client has closed", "`get`", async || {
            let zk = opened(&address, BUSY).await;
            zk.close(SOON).await.expect("it can be closed");
            zk.get("/").await.expect_err("it is closed")
        }),
    ])
}

fn group(zk: &Client) -> Group<Client> {
    Group::new(zk, "/group", GroupOptions::default()).expect("a good path")
}

type Question = (&'static str, fn(&Error) -> bool);

const QUESTIONS: [Question; 11] = [
    ("is_unreachable", Error::is_unreachable),
    ("is_auth_failed", Error::is_auth_failed),
    ("is_session_over", Error::is_session_over),
    ("is_connection_loss", Error::is_connection_loss),
    ("is_outcome_unknown", Error::is_outcome_unknown),
    ("is_bad_input", Error::is_bad_input),
    ("is_session_full", Error::is_session_full),
    ("is_denied", Error::is_denied),
    ("is_no_node", Error::is_no_node),
    ("is_taken", Error::is_taken),
    ("is_timed_out", Error::is_timed_out),
];

/// A sentence without what differs from run to run, and from machine to machine: ports, long numbers, the words of a resolver.
fn steady(sentence: &str) -> String {
    const RESOLVER: &str = "failed to lookup address information";
    let mut steady = String::new();
    let (mut rest, end) = match sentence.find(RESOLVER) {
        Some(at) => (&sentence[..at + RESOLVER.len()], ": …"),
        None => (sentence, ""),
    };
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        steady.push_str(before);
        let is_port = steady.ends_with("127.0.0.1:") || steady.ends_with("localhost:");
        steady.push_str(if is_port {
            "2181"
        } else if number.len() > 7 {
            "…"
        } else {
            number
        });
        rest = after;
    }
    steady + rest + end
}

fn written(row: &Row) -> String {
    let Row { failure, call, error, events } = row;
    let asked = QUESTIONS.iter().filter(|(_, is)| is(error)).map(|(name, _)| format!("`{name}`"));
    let asked: Vec<_> = asked.collect();
    assert!(!asked.is_empty(), "{failure}: a caller can ask for it: {error}");
    let events = if events.is_empty() { "nothing".to_owned() } else { events.join("; ") };
    format!("| {failure} | {call} | {} | {} | {events} |\n", steady(&error.to_string()), asked.join(", "))
}

const HEAD: &str = "| failure | call | the error says | it answers yes to | events at INFO and above |\n|---|---|---|---|---|\n";

#[test]
fn the_page_says_what_each_failure_looks_like() {
    let Some(mut rows) = first_connects() else { return };
    let Some(later) = in_a_session() else { return };
    rows.extend(later);
    let table = rows.iter().map(written).fold(HEAD.to_owned(), |table, row| table + &row);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recipes/CLIENTS.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let begin = page.find(HEAD).expect("it has the table");
    let end = page[begin..].find("\n\n").map_or(page.len(), |end| begin + end + 1);
    if std::env::var_os("ZKSIM_WRITE_QUOTES").is_some() {
        let page = format!("{}{table}{}", &page[..begin], &page[end..]);
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert_eq!(page[begin..end], table, "ZKSIM_WRITE_QUOTES=1 writes the table anew");
}
