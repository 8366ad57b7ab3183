//! Drawing of faults: at matching injection points, within the fault budget, and as a script orders them.

use crate::common::{LIMIT, TIMEOUT, Tape, calm, client, hostile_ensemble, ms, until_back, wait};
use sim_zk::choose::{Calm, Chooser, Point, Rates, Seeded};
use sim_zk::fault::{Fault, InjectionPoint};
use sim_zk::observer::SimEvent;
use sim_zk::{End, Sim};
use zk_recipes::zk::{CreateMode, ErrorKind, ZooKeeper};

const LOST: ErrorKind = ErrorKind::ConnectionLoss;
const INJECTION_POINTS: [InjectionPoint; 6] = [
    InjectionPoint::Request,
    InjectionPoint::Reply,
    InjectionPoint::Arrival,
    InjectionPoint::Notice,
    InjectionPoint::Packet,
    InjectionPoint::LeaderPacket,
];

#[test]
fn an_order_waits_for_a_place_where_it_fits_and_strikes_once() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        wait(&zk, ms(5_000)).await;
        assert_eq!(zk.status().connection, 1, "pings are no place");
        assert_eq!(zk.sync("/").await, Err(LOST.into()));
        until_back(&zk, 1).await;
        zk.sync("/").await.expect("the sync succeeds");
    });
    assert_eq!(tape.struck(Fault::RequestLost), 1);
}

#[test]
fn an_order_is_not_wasted_on_a_connection_that_is_cut_already() {
    let (_, tape) = calm(|sim| async move {
        let (process, zk) = client(&sim, "a").await;
        process.order(Fault::RequestLost);
        let first = zk.sync("/");
        process.order(Fault::RequestLost);
        assert_eq!(zk.sync("/").await, Err(LOST.into()));
        assert_eq!(first.await, Err(LOST.into()));
        until_back(&zk, 1).await;
        assert_eq!(zk.sync("/").await, Err(LOST.into()), "the second one strikes here");
    });
    assert_eq!(tape.struck(Fault::RequestLost), 2);
}

/// Three clients that write and read for a while.
async fn busy(sim: Sim) {
    let tasks: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|name| {
            let process = sim.process(name);
            let opening = process.open(TIMEOUT);
            process.spawn(async move {
                let zk = opening.await;
                for number in 0..20 {
                    let _ = zk.create(&format!("/{name}-{number}"), b"", CreateMode::Ephemeral).await;
                    let _ = zk.children_watch("/").await;
                    wait(&zk, ms(100)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        let _ = task.await;
    }
    sim.heal();
    sim.quiet().await;
}

#[test]
fn no_more_faults_strike_than_are_allowed_and_none_after_the_healing() {
    for faults in [0, 1, 3, 8] {
        for seed in 0..100 {
            let chooser = Seeded::new(seed, crate::common::everything(0.02));
            let run = Sim::run(hostile_ensemble(3, faults), LIMIT, chooser, Tape::default(), busy);
            assert_eq!(run.end, End::Done, "seed {seed}");
            let struck = run.observer.count(|h| matches!(h, SimEvent::Injected { .. }));
            assert!(struck <= faults as usize, "seed {seed}: {struck} of {faults}");
            let healed = run.observer.seen.iter().rposition(|(_, h)| matches!(h, SimEvent::Healed));
            let last = run.observer.seen.iter().rposition(|(_, h)| matches!(h, SimEvent::Injected { .. }));
            assert!(healed >= last, "seed {seed}");
        }
    }
}

#[test]
fn every_kind_strikes_where_it_is_drawn_and_only_there() {
    for fault in Fault::DRAWN.iter().copied() {
        let struck: usize = (0..20)
            .map(|seed| {
                let chooser = Seeded::new(seed, Rates::NONE.with(fault, 0.05));
                let run = Sim::run(hostile_ensemble(3, 3), LIMIT, chooser, Tape::default(), busy);
                assert_eq!(run.end, End::Done, "{fault:?}, seed {seed}");
                let all = run.observer.count(|h| matches!(h, SimEvent::Injected { .. }));
                assert_eq!(all, run.observer.struck(fault), "{fault:?}, seed {seed}");
                all
            })
            .sum();
        assert!(struck >= 10, "{fault:?} struck {struck} times");
    }
}

/// Draws one kind of fault at one injection point, at the third draw.
struct OnlyAt(InjectionPoint, Fault, u32);

impl Chooser for OnlyAt {
    fn choose(&mut self, point: Point, _: u32) -> u32 {
        let OnlyAt(place, fault, passed) = self;
        if point != Point::Fault(*place) {
            return 0;
        }
        *passed += 1;
        let at = place.faults().iter().position(|of| of == fault).expect("it fits");
        if *passed == 3 { at as u32 + 1 } else { 0 }
    }
}

#[test]
fn every_kind_strikes_at_each_of_its_places() {
    for place in INJECTION_POINTS {
        for fault in place.faults() {
            let chooser = OnlyAt(place, *fault, 0);
            let run = Sim::run(hostile_ensemble(3, 3), LIMIT, chooser, Tape::default(), busy);
            assert_eq!(run.end, End::Done, "{fault:?} at {place:?}");
            assert_eq!(run.observer.struck(*fault), 1, "{fault:?} at {place:?}");
            assert_eq!(run.observer.count(|h| matches!(h, SimEvent::Injected { .. })), 1);
        }
    }
}

#[test]
fn what_lasts_is_mended_once() {
    for seed in 0..100 {
        let chooser = Seeded::new(seed, crate::common::everything(0.02));
        let run = Sim::run(hostile_ensemble(3, 8), LIMIT, chooser, Tape::default(), busy);
        let mut lasting = Vec::new();
        for (at, event) in &run.observer.seen {
            match event {
                SimEvent::Injected { fault, victim, lasts } if *lasts > 0 => {
                    lasting.push((*fault, *victim, at + lasts));
                }
                SimEvent::Mended { fault, victim } => {
                    let ended = lasting.iter().position(|lasts| *lasts == (*fault, *victim, *at));
                    lasting.remove(ended.unwrap_or_else(|| panic!("seed {seed}: {event:?} at {at}")));
                }
                _ => {}
            }
        }
        assert!(lasting.is_empty(), "seed {seed}: {lasting:?}");
    }
}

#[test]
fn every_kind_has_a_name_and_a_place() {
    for fault in Fault::ALL {
        assert_eq!(Fault::from_name(fault.name()), Some(fault));
        let drawn = INJECTION_POINTS.iter().any(|place| place.faults().contains(&fault));
        assert_eq!(drawn, Fault::DRAWN.contains(&fault), "{fault:?}");
    }
    assert_eq!(Fault::ALL.len(), Fault::DRAWN.len() + 1, "packets are lost on command only");
    assert_eq!(Fault::from_name("bad luck"), None);
}

#[test]
fn nothing_strikes_where_nothing_is_allowed() {
    let run = crate::common::run_hostile(0, Seeded::new(1, crate::common::everything(0.2)), busy);
    assert_eq!(run.observer.count(|h| matches!(h, SimEvent::Injected { .. } | SimEvent::Lost { .. })), 0);
    let calm = crate::common::run_hostile(5, Calm, busy);
    assert_eq!(calm.observer.count(|h| matches!(h, SimEvent::Injected { .. })), 0, "0 is the calm choice");
}
