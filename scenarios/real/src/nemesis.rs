//! The nemesis: injects the faults of a [`FaultSchedule`] for servers, and of another for clients, until the time is over.
//!
//! 1. Wait for the time of the fault, or until the time is over.
//! 2. Record the fault, then inject it.
//! 3. Wait for its duration, or until the time is over.
//! 4. Heal it, then record that. A killed server must serve again.
//! 5. When the time is over, all faults are healed, and all servers serve.

use crate::bell::Bell;
use crate::client_links::ClientLinks;
use crate::ensemble::Ensemble;
use crate::faults::{Decision, FaultSchedule, Injection, Scope, Whom};
use crate::process::Process;
use crate::proxy::{Loss, Way};
use crate::recorder::Recorder;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};

/// The time limit for a client to send the write whose request or reply is to be lost.
const WRITES_WITHIN: Duration = Duration::from_secs(1);

/// How long a member is down in a rolling restart, besides its starting time.
const RESTARTS_WITHIN: Duration = Duration::from_millis(50);

/// An ensemble of our own.
pub type Owned = Arc<Mutex<Ensemble>>;

/// The kinds of fault of a run, and the links of its clients.
#[derive(Clone, Debug)]
pub struct Harm {
    /// The kinds of fault.
    pub kinds: Vec<Injection>,
    /// The links of the clients, if they are ours.
    pub ways: Option<Arc<ClientLinks>>,
}

/// The background tasks of a run.
pub(super) struct Nemesis {
    tasks: Vec<JoinHandle<Result<(), String>>>,
    over: Arc<Bell>,
}

impl Nemesis {
    /// Begins to inject faults.
    pub(super) fn begin(
        harm: Option<&Harm>,
        servers: Option<&Owned>,
        (seed, scope): (u64, &Scope),
        processes: &Arc<[Process]>,
        tape: &Arc<Recorder>,
    ) -> Nemesis {
        let (over, mut tasks) = (Arc::<Bell>::default(), Vec::new());
        if let (Some(schedule), Some(servers)) = (FaultSchedule::for_servers(seed, scope), servers) {
            tasks.push(tokio::spawn(hurt_servers(schedule, servers.clone(), tape.clone(), over.clone())));
        }
        if let (Some(schedule), Some(harm)) = (FaultSchedule::for_clients(seed, scope), harm) {
            let clients = Clients {
                processes: processes.clone(),
                ways: harm.ways.clone(),
                tape: tape.clone(),
                over: over.clone(),
            };
            tasks.push(tokio::spawn(async move { clients.hurt(schedule).await }));
        }
        Nemesis { tasks, over }
    }

    /// Ends when the time is over, with all faults healed. `Err` reports what could not be healed.
    pub(super) async fn end(self) -> Result<(), String> {
        self.over.ring();
        for task in self.tasks {
            task.await.map_err(|panic| panic.to_string())??;
        }
        Ok(())
    }
}

fn begins(tape: &Recorder, kind: FaultKind, victim: Victim, lasts: Duration) {
    let lasts = lasts.as_micros() as u64;
    tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Fault { kind, victim, lasts }));
}

fn ends(tape: &Recorder, kind: FaultKind, victim: Victim) {
    tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Mended { kind, victim }));
}

async fn hurt_servers(
    schedule: FaultSchedule,
    servers: Owned,
    tape: Arc<Recorder>,
    over: Arc<Bell>,
) -> Result<(), String> {
    let servers = Servers { servers, tape, over };
    for Decision { after, hurt, whom, lasts } in schedule {
        if !servers.over.lets_pass(after).await {
            break;
        }
        match (hurt, whom) {
            (Injection::RollingRestart, Whom::Leader(first) | Whom::Server(first)) => {
                servers.restart_all(first, lasts).await?;
            }
            _ => servers.hurt(hurt, whom, lasts).await?,
        }
    }
    on(&servers.servers, |ensemble| ensemble.wait_until_all_serve().map_err(|e| e.to_string())).await
}

/// Servers under faults.
struct Servers {
    servers: Owned,
    tape: Arc<Recorder>,
    over: Arc<Bell>,
}

impl Servers {
    /// Steps 2 to 4.
    async fn hurt(&self, hurt: Injection, whom: Whom, lasts: Duration) -> Result<(), String> {
        let writes = self.tape.clone();
        let (kind, victim) = on(&self.servers, move |ensemble| {
            let (kind, victim) = aim(ensemble, hurt, whom);
            begins(&writes, kind, victim, lasts);
            strike(ensemble, hurt, victim).map(|()| (kind, victim))
        })
        .await?;
        self.over.lets_pass(lasts).await;
        on(&self.servers, move |ensemble| undo(ensemble, hurt, victim)).await?;
        ends(&self.tape, kind, victim);
        Ok(())
    }

    /// Restarts one member after the other, with a pause after each, until the time is over.
    async fn restart_all(&self, first: u8, pause: Duration) -> Result<(), String> {
        let members = on(&self.servers, |ensemble| Ok(ensemble.servers().len() as u8)).await?;
        for number in 0..members {
            let member = Whom::Server((first + number) % members);
            // It is started as soon as it has stopped.
            self.hurt(Injection::Restart, member, RESTARTS_WITHIN).await?;
            if !self.over.lets_pass(pause).await {
                break;
            }
        }
        Ok(())
    }
}

/// The target of a fault, with the current leader resolved, and its name in the history.
fn aim(ensemble: &Ensemble, hurt: Injection, whom: Whom) -> (FaultKind, Victim) {
    let (server, leads) = match whom {
        Whom::Leader(otherwise) => {
            let leader = ensemble.leader();
            (leader.map_or(otherwise, |leader| leader as u8), leader.is_some())
        }
        Whom::Server(server) => (server, ensemble.leader() == Some(usize::from(server))),
        Whom::Link(from, to) => return (FaultKind::LinkHeld, Victim::Link { from, to }),
        Whom::Client(_) => unreachable!("a schedule for servers strikes no client"),
    };
    let kind = match hurt {
        Injection::Pause => FaultKind::ServerPause,
        Injection::Partition => FaultKind::ServerPartition,
        _ if leads => FaultKind::LeaderCrash,
        _ => FaultKind::ServerCrash,
    };
    (kind, Victim::Server { server })
}

/// Step 2.
fn strike(ensemble: &mut Ensemble, hurt: Injection, victim: Victim) -> Result<(), String> {
    match (victim, ensemble.between()) {
        (Victim::Link { from, to }, Some(between)) => between.hold(from.into(), to.into()),
        (Victim::Server { server }, Some(between)) if hurt == Injection::Partition => {
            between.isolate(server.into());
        }
        (Victim::Server { server }, _) => {
            let server = &mut ensemble.servers_mut()[usize::from(server)];
            match hurt {
                Injection::Kill => server.kill().map_err(|e| format!("a server cannot be killed: {e}"))?,
                Injection::Pause => server.pause().map_err(|e| format!("a server cannot be stopped: {e}"))?,
                _ => server.shut_down(),
            }
        }
        _ => return Err(format!("there is no target for {}", hurt.name())),
    }
    Ok(())
}

/// Step 4.
fn undo(ensemble: &mut Ensemble, hurt: Injection, victim: Victim) -> Result<(), String> {
    match (victim, hurt) {
        (_, Injection::Partition | Injection::LinkHeld) => {
            ensemble.between().into_iter().for_each(|between| between.heal());
            Ok(())
        }
        (Victim::Server { server }, Injection::Pause) => {
            let server = &ensemble.servers()[usize::from(server)];
            server.resume().map_err(|e| format!("a server cannot be resumed: {e}"))
        }
        (Victim::Server { server }, _) => {
            let again = ensemble.servers_mut()[usize::from(server)].start_again();
            again.map_err(|e| format!("a server cannot be restarted: {e}"))
        }
        _ => Ok(()),
    }
}

/// Runs a blocking action on an ensemble.
pub(super) async fn on<T: Send + 'static>(
    servers: &Owned,
    work: impl FnOnce(&mut Ensemble) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let servers = servers.clone();
    let done = spawn_blocking(move || work(&mut servers.lock().unwrap_or_else(PoisonError::into_inner)));
    done.await.map_err(|panic| panic.to_string())?
}

/// Clients under faults.
struct Clients {
    processes: Arc<[Process]>,
    ways: Option<Arc<ClientLinks>>,
    tape: Arc<Recorder>,
    over: Arc<Bell>,
}

impl Clients {
    async fn hurt(self, schedule: FaultSchedule) -> Result<(), String> {
        for Decision { after, hurt, whom, lasts } in schedule {
            if !self.over.lets_pass(after).await {
                break;
            }
            let Whom::Client(client) = whom else { unreachable!("a schedule for clients strikes no server") };
            self.strike(hurt, client, lasts).await?;
        }
        Ok(())
    }

    /// Steps 2 to 4.
    async fn strike(&self, hurt: Injection, client: u8, lasts: Duration) -> Result<(), String> {
        let victim = Victim::Process { client: client.into() };
        let line = self.ways.as_ref().map(|ways| ways.line(client.into()));
        match (hurt, line) {
            (Injection::ClientPause, _) => self.pause(client, victim, lasts).await,
            (Injection::ClientPartition | Injection::SessionExpiry, Some(line)) => {
                let expires = hurt == Injection::SessionExpiry;
                let kind = if expires { FaultKind::SessionExpiry } else { FaultKind::ClientPartition };
                begins(&self.tape, kind, victim, lasts);
                Way::BOTH.into_iter().for_each(|way| line.hold(way));
                self.over.lets_pass(lasts).await;
                line.heal();
                ends(&self.tape, kind, victim);
                Ok(())
            }
            (Injection::Disconnect, Some(line)) => {
                begins(&self.tape, FaultKind::Disconnect, victim, Duration::ZERO);
                line.hang_up();
                Ok(())
            }
            (Injection::RequestLost | Injection::ReplyLost, Some(line)) => {
                let (loss, kind) = match hurt {
                    Injection::RequestLost => (Loss::Request, FaultKind::RequestLost),
                    _ => (Loss::Reply, FaultKind::ReplyLost),
                };
                let (tell, told) = oneshot::channel();
                let tape = self.tape.clone();
                line.lose_next(loss, move || {
                    begins(&tape, kind, victim, Duration::ZERO);
                    // The receiver is gone if the write came too late.
                    let _ = tell.send(());
                });
                let _ = select(told, pin!(self.over.lets_pass(WRITES_WITHIN))).await;
                line.lose_nothing();
                Ok(())
            }
            _ => Err(format!("there is no target for {}", hurt.name())),
        }
    }

    async fn pause(&self, client: u8, victim: Victim, lasts: Duration) -> Result<(), String> {
        const KIND: FaultKind = FaultKind::ClientPause;
        let (go_on, held) = mpsc::channel();
        let (first, second) = (self.tape.clone(), self.tape.clone());
        let stands = self.processes[usize::from(client)].stand_still(
            lasts,
            held,
            move || begins(&first, KIND, victim, lasts),
            move || ends(&second, KIND, victim),
        );
        let stands = match select(stands, pin!(self.over.rings())).await {
            Either::Left((stood, _)) => return stood.map_err(|panic| panic.to_string()),
            Either::Right((_, stands)) => stands,
        };
        drop(go_on);
        stands.await.map_err(|panic| panic.to_string())
    }
}
