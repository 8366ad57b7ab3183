//! What goes wrong with the servers of a run, if it is asked for: they are killed and started again, in turn with whoever
//! leads.
//!
//! 1. For a while nothing happens.
//! 2. A server is killed at once, as by `kill -9`; clients that were connected to it go elsewhere.
//! 3. After a while it is started again with its data, and is waited for.

use super::client::sleep;
use super::ensemble::Ensemble;
use super::tape::Tape;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::spawn_blocking;
use zk_checker::history::{FaultKind, OpId, Victim, What, Who};

/// How long the servers are left alone in between, and how long one is down.
const CALM: Duration = Duration::from_secs(2);
const DOWN: Duration = Duration::from_secs(1);

/// An ensemble whose servers are to be killed.
pub type Doomed = Arc<Mutex<Ensemble>>;

/// Kills one server after the other until `over`; by then all of them serve again. Says what kept it from going on.
pub(super) async fn kill_in_turn(
    doomed: Doomed,
    tape: Arc<Tape>,
    over: Arc<AtomicBool>,
) -> Result<(), String> {
    for turn in 0.. {
        sleep(CALM).await;
        if over.load(SeqCst) {
            break;
        }
        let (kind, server) = on(&doomed, move |ensemble| kill(ensemble, turn)).await?;
        let victim = Victim::Server { server: server as u8 };
        let lasts = DOWN.as_micros() as u64;
        tape.write(|journal, at| {
            journal.note(at, Who::World, OpId(0), What::Fault { kind, victim, lasts });
        });
        sleep(DOWN).await;
        on(&doomed, move |ensemble| ensemble.servers_mut()[server].start_again().map_err(|e| e.to_string()))
            .await?;
        tape.write(|journal, at| journal.note(at, Who::World, OpId(0), What::Mended { kind, victim }));
    }
    Ok(())
}

/// Step 2: every other time the one that leads.
fn kill(ensemble: &mut Ensemble, turn: usize) -> Result<(FaultKind, usize), String> {
    let leader = ensemble.leader();
    let (kind, server) = match leader {
        Some(leader) if turn.is_multiple_of(2) => (FaultKind::LeaderCrash, leader),
        Some(leader) => (FaultKind::ServerCrash, (leader + 1) % ensemble.servers().len()),
        None => (FaultKind::ServerCrash, turn % ensemble.servers().len()),
    };
    ensemble.servers_mut()[server].kill().map_err(|error| format!("a server cannot be killed: {error}"))?;
    Ok((kind, server))
}

/// Does something to an ensemble that takes its time.
async fn on<T: Send + 'static>(
    doomed: &Doomed,
    work: impl FnOnce(&mut Ensemble) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let doomed = doomed.clone();
    let done = spawn_blocking(move || work(&mut doomed.lock().unwrap_or_else(PoisonError::into_inner)));
    done.await.map_err(|panic| panic.to_string())?
}
