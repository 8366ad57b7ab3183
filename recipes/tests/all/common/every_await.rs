//! Scenes that are dropped at every await, on a calm network and under one fault at every place.

use super::{Danger, Drops, Stage, play, play_struck};
use sim_zk::fault::Fault;
use std::future::Future;

/// What strikes besides.
pub const FAULTS: [Option<Fault>; 5] =
    [None, Some(Fault::RequestLost), Some(Fault::ReplyLost), Some(Fault::Disconnect), Some(Fault::Throttled)];

/// Plays `scene` until it is no longer dropped before its end, for every way to drop it, under every fault at every place.
/// It says whether it came to its end.
pub fn at_every_await<F>(scene: impl Fn(Stage, Danger, Drops) -> F)
where
    F: Future<Output = bool> + Send + 'static,
{
    in_every_way(&[Drops::AfterPolls, Drops::Awake, |ms| Drops::Later(ms as u64 * 5)], scene);
}

/// The same without the drops between two polls: scenes whose calls wait for their own replies only.
pub fn at_every_request<F>(scene: impl Fn(Stage, Danger, Drops) -> F)
where
    F: Future<Output = bool> + Send + 'static,
{
    in_every_way(&[Drops::AfterPolls, Drops::Awake], scene);
}

/// When the future of a moment is dropped.
type Way = fn(usize) -> Drops;

fn in_every_way<F>(ways: &[Way], scene: impl Fn(Stage, Danger, Drops) -> F)
where
    F: Future<Output = bool> + Send + 'static,
{
    for fault in FAULTS {
        for way in ways {
            for nth in 0.. {
                let mut struck = false;
                for moment in 0.. {
                    let drops = way(moment);
                    let (ended, strikes) = match fault {
                        None => (play(|stage| scene(stage, Danger::default(), drops)), false),
                        Some(fault) => play_struck(fault, nth, |stage, danger| scene(stage, danger, drops)),
                    };
                    struck |= strikes;
                    if ended {
                        break;
                    }
                    assert!(moment < 500, "it ends one day");
                }
                if !struck {
                    let is_struck = fault.is_none() || nth > 0;
                    assert!(is_struck, "{fault:?} strikes somewhere: faults end where a scene settles");
                    break;
                }
            }
        }
    }
}
