//! A round of attempts: all servers, and all addresses of their names, overlap (after RFC 8305, "Happy Eyeballs").
//!
//! 1. Begin with one server. The next one follows when one has failed, and at the latest after a short delay, which is such
//!    that all have begun within half of the round.
//! 2. Resolve its name, if it is one: each address is an attempt of its own.
//! 3. Open a TCP connection, and speak TLS.
//! 4. Ask for the session. A new one is asked of every server that is connected. One that exists is asked of one server at a
//!    time, and of the next one after its share of the round, since each server that hears of a session takes it over.
//! 5. The first server that accepts it wins. The other connections are closed; a new session that was asked for there is
//!    closed, too.
//! 6. As long as one is silent, all begin again after a third of the round, and after two thirds, beside what goes on: a server
//!    that refused may serve by now, and a connection that is silent may stay so for ever. A server that is connected to while
//!    it starts may keep the connection and never answer (seen with 3.8.0: `NIOServerCnxn.close` fails, since
//!    `ZooKeeperServer.removeCnxn` finds no database yet). Were the round to wait for that one, the session would be over.

use std::collections::VecDeque;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::clock::instant_in;
use super::core::{Hello, Shared};
use super::failed::{Failed, Stage};
use super::handshake::{Handshake, Opened};
use super::life::Life;
use super::stream::Stream;
use zk_recipes::zk::{ConnectFailureKind, SessionId};

/// The longest delay between the beginnings of two attempts (RFC 8305, "Connection Attempt Delay").
const MAX_DELAY: Duration = Duration::from_millis(250);

/// How often all servers begin in a round.
const TURNS: u32 = 3;

/// Why a round ends without a connection.
pub(super) enum Ended {
    /// Every attempt has failed, or taken too long.
    Failed,
    /// A server refused the credentials.
    Refused,
}

/// Runs a round that begins with the server of that number.
pub(super) async fn round(
    handshake: &Handshake,
    shared: &Shared,
    life: &Life,
    first: usize,
    limit: Duration,
) -> Result<Opened, Ended> {
    let hello = shared.lock().hello.take().ok_or(Ended::Failed)?;
    let now = instant_in(Duration::ZERO);
    let race = Race {
        handshake,
        shared,
        life,
        hello,
        limit,
        first,
        turns: 0,
        next_turn: now,
        queue: VecDeque::new(),
        begun: 0,
        line: VecDeque::new(),
        asking: 0,
        next_begin: now,
        next_ask: now,
        steps: FuturesUnordered::new(),
    };
    race.run().await
}

/// A server, or one of its addresses.
#[derive(Clone, Copy)]
struct Target {
    server: usize,
    peer: Option<SocketAddr>,
}

/// An attempt with a number.
#[derive(Clone, Copy)]
struct Attempt {
    id: u32,
    target: Target,
}

enum Step {
    Resolved(Attempt, Vec<SocketAddr>),
    Connected(Attempt, Box<dyn Stream>),
    Accepted(Attempt, Opened),
    /// The flag says whether it had asked for the session.
    Failed(Attempt, Failed, bool),
}

struct Race<'a> {
    handshake: &'a Handshake,
    shared: &'a Shared,
    life: &'a Life,
    hello: Hello,
    limit: Duration,
    first: usize,
    /// How often all servers have been queued.
    turns: u32,
    next_turn: Instant,
    /// Targets that have not begun.
    queue: VecDeque<Target>,
    begun: u32,
    /// Connections that have not asked for the session.
    line: VecDeque<(Attempt, Box<dyn Stream>)>,
    /// How many are asking for it.
    asking: u32,
    next_begin: Instant,
    next_ask: Instant,
    steps: FuturesUnordered<Pin<Box<dyn Future<Output = Step> + Send + 'a>>>,
}

impl Race<'_> {
    async fn run(mut self) -> Result<Opened, Ended> {
        loop {
            self.begin_what_is_due();
            let due = self.next_due();
            let alarm = pin!(async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            });
            let step = match select(self.steps.next(), alarm).await {
                Either::Left((Some(step), _)) => step,
                // Nothing runs, and nothing was due to begin: all have failed.
                Either::Left((None, _)) => return Err(Ended::Failed),
                Either::Right(((), _)) => continue,
            };
            match step {
                Step::Resolved(attempt, addresses) => self.resolved(attempt, addresses),
                Step::Connected(attempt, stream) => self.line.push_back((attempt, stream)),
                Step::Accepted(attempt, opened) => {
                    self.shared.attempts().end(attempt.id);
                    return Ok(opened);
                }
                Step::Failed(attempt, why, had_asked) => {
                    let is_refusal = why.kind == ConnectFailureKind::AuthFailed;
                    if had_asked && why.kind == ConnectFailureKind::NotServing {
                        self.shared.act(|core, _, _| core.machine.turned_away());
                    }
                    self.failed(attempt, why, had_asked);
                    if is_refusal {
                        return Err(Ended::Refused);
                    }
                }
            }
        }
    }

    fn begin_what_is_due(&mut self) {
        let now = instant_in(Duration::ZERO);
        if self.turns < TURNS && now >= self.next_turn {
            self.next_turn = now + self.limit / TURNS;
            self.queue_all(now);
        }
        while !self.queue.is_empty() && (now >= self.next_begin || self.is_idle()) {
            self.next_begin = now + self.delay();
            self.begin();
        }
        while !self.line.is_empty() && (now >= self.next_ask || self.asking == 0 || self.is_new()) {
            self.next_ask = now + self.share();
            self.ask();
        }
    }

    /// Step 6. Who waits for its turn already does not wait for another one.
    fn queue_all(&mut self, now: Instant) {
        self.turns += 1;
        let count = self.handshake.servers.len();
        for server in (0..count).map(|at| (self.first + at) % count) {
            if !self.queue.iter().any(|target| target.server == server) {
                self.queue.push_back(Target { server, peer: None });
            }
        }
        (self.next_begin, self.next_ask) = (now, now);
    }

    fn is_idle(&self) -> bool {
        self.steps.is_empty() && self.line.is_empty()
    }

    fn next_due(&self) -> Option<Instant> {
        let begin = (!self.queue.is_empty()).then_some(self.next_begin);
        let ask = (!self.line.is_empty()).then_some(self.next_ask);
        let all = (self.turns < TURNS).then_some(self.next_turn);
        begin.into_iter().chain(ask).chain(all).min()
    }

    fn is_new(&self) -> bool {
        self.hello.session == SessionId(0)
    }

    /// The part of each target in the round.
    fn share(&self) -> Duration {
        let all = self.begun + u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        self.limit / all.max(1)
    }

    fn delay(&self) -> Duration {
        (self.share() / 2).min(MAX_DELAY)
    }

    /// Step 1.
    fn begin(&mut self) {
        let Some(mut target) = self.queue.pop_front() else { return };
        self.begun += 1;
        let server = &self.handshake.servers[target.server];
        if let (None, Ok(ip)) = (target.peer, server.host.parse::<IpAddr>()) {
            target.peer = Some((ip, server.port).into());
        }
        let stage = if target.peer.is_some() { Stage::Dial } else { Stage::Resolve };
        let id = self.shared.attempts().begin(server.name(), target.peer, stage);
        self.life.attempt_begins(target.server, target.peer);
        let (handshake, shared, attempt) = (self.handshake, self.shared, Attempt { id, target });
        self.steps.push(match target.peer {
            None => Box::pin(async move {
                match handshake.resolve(server).await {
                    Ok(addresses) => Step::Resolved(attempt, addresses),
                    Err(why) => Step::Failed(attempt, why, false),
                }
            }),
            Some(peer) => Box::pin(async move {
                let at = |stage| shared.attempts().at(id, stage);
                match handshake.connect(server, peer, at).await {
                    Ok(stream) => Step::Connected(attempt, stream),
                    Err(why) => Step::Failed(attempt, why, false),
                }
            }),
        });
    }

    /// Step 2: the addresses come before other servers, the first one at once.
    fn resolved(&mut self, attempt: Attempt, addresses: Vec<SocketAddr>) {
        self.shared.attempts().end(attempt.id);
        self.begun -= 1;
        let server = attempt.target.server;
        for peer in addresses.into_iter().rev() {
            self.queue.push_front(Target { server, peer: Some(peer) });
        }
        self.next_begin = instant_in(Duration::ZERO);
    }

    /// Step 4.
    fn ask(&mut self) {
        let Some((attempt, stream)) = self.line.pop_front() else { return };
        self.asking += 1;
        self.shared.attempts().at(attempt.id, Stage::Ask);
        let (handshake, hello, clock) = (self.handshake, self.hello, self.shared.clock);
        self.steps.push(Box::pin(async move {
            let asked_at = clock.now();
            let Target { server, peer } = attempt.target;
            match handshake.greet(stream, &hello).await {
                Ok((stream, welcome)) => {
                    Step::Accepted(attempt, Opened { stream, welcome, asked_at, server, peer })
                }
                Err(why) => {
                    let why = handshake.explain(why, &handshake.servers[server], peer, &hello).await;
                    Step::Failed(attempt, why, true)
                }
            }
        }));
    }

    /// The next ones follow at once.
    fn failed(&mut self, attempt: Attempt, why: Failed, had_asked: bool) {
        let now = instant_in(Duration::ZERO);
        self.next_begin = now;
        if had_asked {
            self.asking -= 1;
            self.next_ask = now;
        }
        let failure = self.shared.attempts().fail(attempt.id, why);
        if let Some(failure) = failure {
            self.life.attempt_failed(&failure);
        }
    }
}
