//! The client beside bare sockets, on a real server that this program starts.
//!
//! `cargo bench -p zk-scenarios --bench client`; with `-- 500` each round makes 500 cycles, with `-- 500 1000` a herd of a
//! thousand sessions reconnects, and its bytes are counted. Figures on a shared machine are noisy: the two take turns, and
//! the ratio of each pair counts.

use futures_util::future::{join_all, select};
use std::io::Write;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zk_client::{Client, Options};
use zk_protocol::wire::jute::{In, Out};
use zk_protocol::wire::{frame, number};
use zk_real::{Server, ServerOptions};
use zk_recipes::zk::{CreateMode, State, ZooKeeper};

const ROUNDS: usize = 15;
const SESSION: Duration = Duration::from_secs(10);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    // `cargo bench` and `cargo test` add options of their own.
    let mut numbers = std::env::args().filter_map(|word| word.parse::<usize>().ok());
    let (cycles, herd) = (numbers.next().unwrap_or(300), numbers.next().unwrap_or(300));
    let mut server = match Server::start(ServerOptions { port: None, tick: Duration::from_secs(1) }) {
        Ok(server) => server,
        Err(e) if e.is_not_installed() => {
            println!("left out: {e}");
            return Ok(());
        }
        Err(e) => return Err(e.into()),
    };
    in_turn(&server, cycles)?;
    reconnect(&mut server, herd)
}

/// A create, a listing and a delete, each after the answer to the one before.
fn in_turn(server: &Server, cycles: usize) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let client = runtime.block_on(Client::open(&server.address(), Options::new(SESSION)))?;
    runtime.block_on(client.create("/bench", b"", CreateMode::Persistent))?;
    let mut floor = Floor::open(&server.address())?;
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let bare = rate(cycles, || (0..cycles).try_for_each(|_| floor.cycle()))?;
        let own = rate(cycles, || runtime.block_on(async { cycle(&client, cycles).await }))?;
        // The first is to warm up.
        if round > 0 {
            ours.push(own);
            raw.push(bare);
        }
    }
    let ratios: Vec<f64> = ours.iter().zip(&raw).map(|(own, bare)| own / bare).collect();
    println!("three requests in turn, {ROUNDS} rounds of {cycles}: median (least to most)");
    println!("  bare sockets  {}", spread(raw, 0));
    println!("  client        {}", spread(ours, 0));
    println!("  ratio         {}", spread(ratios, 3));
    Ok(runtime.block_on(client.close(SESSION))?)
}

async fn cycle(client: &Client, cycles: usize) -> Outcome<()> {
    for _ in 0..cycles {
        let made = client.create("/bench/n-", b"", CreateMode::EphemeralSequential).await?;
        client.children("/bench").await?;
        client.delete(&made.path, None).await?;
    }
    Ok(())
}

/// A server goes and comes: all sessions, each with ten watches, are connected again.
fn reconnect(server: &mut Server, herd: usize) -> Outcome<()> {
    const WATCHES: usize = 10;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bytes = Arc::<Bytes>::default();
    let address = runtime.block_on(counting(server.address(), bytes.clone()))?;
    let mut sessions = Vec::new();
    for number in 0..herd {
        let client = runtime.block_on(Client::open(&address, Options::new(SESSION)))?;
        let paths: Vec<String> = (0..WATCHES).map(|at| format!("/session-{number}/watch-{at}")).collect();
        let watches =
            runtime.block_on(async { join_all(paths.iter().map(|path| client.exists_watch(path))).await });
        sessions.push((client, watches));
    }
    server.kill()?;
    bytes.take();
    server.start_again()?;
    let begun = now();
    runtime.block_on(join_all(sessions.iter().map(|(client, _)| connected(client))));
    let (passed, (sent, received)) = (begun.elapsed(), bytes.take());
    let figure = |name| server.figure(name).map_or_else(|| "?".to_owned(), |figure| figure.to_string());
    let kept = sessions.iter().filter(|(client, _)| client.status().over().is_none()).count();
    println!("{herd} sessions with {WATCHES} watches each, after a restart of their server:");
    println!("  connected again, and answered, within {passed:.1?}; sessions kept: {kept}");
    println!(
        "  packets the server had: {}, watches: {}",
        figure("zk_packets_received"),
        figure("zk_watch_count")
    );
    println!("  bytes that the clients sent: {sent}, and received: {received}");
    Ok(())
}

/// What went through a connection since the last look, to the server and from it.
#[derive(Default)]
struct Bytes {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Bytes {
    fn take(&self) -> (u64, u64) {
        (self.sent.swap(0, Ordering::Relaxed), self.received.swap(0, Ordering::Relaxed))
    }
}

/// A way to a server on which bytes are counted. Where the server is not there, a connection ends at once.
async fn counting(server: String, bytes: Arc<Bytes>) -> Outcome<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (server, bytes) = (server.clone(), bytes.clone());
            tokio::spawn(async move {
                let Ok(server) = tokio::net::TcpStream::connect(server).await else { return };
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                // The end of one direction is the end of both.
                let sending = pin!(carry(from_client, to_server, &bytes.sent));
                let receiving = pin!(carry(from_server, to_client, &bytes.received));
                select(sending, receiving).await;
            });
        }
    });
    Ok(address)
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    count: &AtomicU64,
) {
    let mut part = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut part).await {
        count.fetch_add(read as u64, Ordering::Relaxed);
        if to.write_all(&part[..read]).await.is_err() {
            return;
        }
    }
}

async fn connected(client: &Client) {
    while client.sync("/").await.is_err() {
        let status = client.status();
        if status.over().is_some() {
            return;
        }
        if status.state != State::Connected {
            client.changed(status).await;
        }
    }
}

fn rate(cycles: usize, work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let begun = now();
    work()?;
    Ok(cycles as f64 / begun.elapsed().as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}

fn spread(mut figures: Vec<f64>, digits: usize) -> String {
    figures.sort_by(f64::total_cmp);
    let (least, most) = (figures[0], figures[figures.len() - 1]);
    format!("{:.digits$} ({least:.digits$} to {most:.digits$})", figures[figures.len() / 2])
}

/// The same three requests without a library: one blocking socket.
struct Floor {
    stream: TcpStream,
    xid: i32,
}

impl Floor {
    fn open(address: &str) -> Outcome<Floor> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut floor = Floor { stream, xid: 0 };
        let mut out = Out::default();
        out.int(0).long(0).int(10_000).long(0).buffer(Some(&[0; 16])).bool(false);
        floor.exchange(out.as_bytes())?;
        Ok(floor)
    }

    fn cycle(&mut self) -> Outcome<()> {
        let made = self.ask(number::CREATE_2, |out| {
            out.text("/bench/n-").buffer(Some(b"")).int(1).int(31).text("world").text("anyone").int(3);
        })?;
        let path = In::new(&made).text().flatten().ok_or("no path")?.into_owned();
        self.ask(number::GET_CHILDREN_2, |out| _ = out.text("/bench").bool(false))?;
        self.ask(number::DELETE, |out| _ = out.text(&path).int(-1))?;
        Ok(())
    }

    fn ask(&mut self, op: i32, body: impl FnOnce(&mut Out)) -> Outcome<Vec<u8>> {
        self.xid += 1;
        let mut out = Out::default();
        out.int(self.xid).int(op);
        body(&mut out);
        let answer = self.exchange(out.as_bytes())?;
        let mut from = In::new(&answer);
        let header = (from.int(), from.long(), from.int());
        if header.2 != Some(0) {
            return Err(format!("the server answers {header:?}").into());
        }
        Ok(from.rest().to_vec())
    }

    fn exchange(&mut self, packet: &[u8]) -> Outcome<Vec<u8>> {
        self.stream.write_all(&frame::of(packet))?;
        Ok(frame::read(&mut self.stream)?)
    }
}
