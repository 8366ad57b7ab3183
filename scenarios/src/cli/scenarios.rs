//! `conformance` of scenarios: each under many seeds on simulated ensembles, or over sockets on a served ensemble.

use super::control::Http;
use super::interrupt::Interrupt;
use super::{Output, progress};
use crate::served::{ControlApi, Shape, Verbs};
use anyhow::{Context, bail};
use indicatif::ProgressBar;
use serde_json::json;
use std::cell::Cell;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;
use zk_fidelity::conformance::tcp::Restart;
use zk_fidelity::ensemble::case::{self, Placed, Suite};
use zk_fidelity::ensemble::cluster::MemberId;
use zk_fidelity::ensemble::report::Report;
use zk_fidelity::ensemble::run;
use zk_fidelity::ensemble::scenario::{Meta, Scenario};
use zk_fidelity::ensemble::served::{Served, Trouble};
use zk_fidelity::ensemble::sim::Simulated;
use zk_serve::{Options, Server};

/// The default number of seeds of each scenario in a simulation.
const SEEDS: u64 = 1000;

/// The ensemble that plays scenarios.
pub(super) enum Target<'a> {
    /// A simulated ensemble for each seed.
    Simulated,
    /// A served ensemble for each scenario.
    Served,
    /// A running served ensemble.
    Running(Running<'a>),
}

/// A running served ensemble.
pub(super) struct Running<'a> {
    /// Its connect string.
    pub addresses: &'a str,
    /// The address of its control API.
    pub control: &'a str,
}

/// The numbers of scenarios by result.
#[derive(Default)]
pub(super) struct Tally {
    pub pass: u32,
    pub fail: u32,
}

/// Plays the scenarios of a file that `wanted` selects, each under that many seeds from 0 on.
pub(super) fn play(
    file: &Path,
    target: &Target<'_>,
    seeds: Option<u64>,
    output: Output,
    interrupt: &Interrupt,
    wanted: impl Fn(&str) -> bool,
) -> anyhow::Result<Tally> {
    let Suite { meta, scenarios, bad } = case::read(file)?;
    if let Some(bad) = bad.into_iter().next() {
        return Err(bad.into());
    }
    let chosen = scenarios.iter().filter(|Placed { scenario, .. }| wanted(&scenario.id));
    let chosen: Vec<&Scenario> = chosen.map(|placed| &placed.scenario).collect();
    let bar = progress::bar_of(chosen.len() as u64, "conformance", "scenarios");
    let mut told = ScenarioOutput { tally: Tally::default(), bar, output };
    let played = match target {
        Target::Simulated => {
            let seeds = seeds.unwrap_or(SEEDS);
            in_turn(&chosen, &mut told, interrupt, |of| {
                Ok(run::run(of, &meta, until_interrupted(seeds, interrupt), Simulated::new))
            })
        }
        Target::Served => {
            let seeds = seeds.unwrap_or(1);
            in_turn(&chosen, &mut told, interrupt, |of| of_its_own(of, &meta, seeds, interrupt))
        }
        Target::Running(at) => running(&chosen, &meta, seeds.unwrap_or(1), at, &mut told, interrupt),
    };
    told.bar.finish_and_clear();
    played.map(|()| told.tally)
}

/// Plays scenarios one after the other. An interrupted scenario is not reported.
fn in_turn(
    chosen: &[&Scenario],
    told: &mut ScenarioOutput,
    interrupt: &Interrupt,
    play: impl Fn(&Scenario) -> anyhow::Result<Report>,
) -> anyhow::Result<()> {
    for scenario in chosen {
        let played = play(scenario);
        if interrupt.has_come() {
            break;
        }
        told.report(&played?);
    }
    Ok(())
}

/// Seeds from 0 on, up to an interruption.
fn until_interrupted(seeds: u64, interrupt: &Interrupt) -> impl Iterator<Item = u64> {
    (0..seeds).take_while(|_| !interrupt.has_come())
}

/// Plays a scenario on its own served ensemble.
fn of_its_own(scenario: &Scenario, meta: &Meta, seeds: u64, interrupt: &Interrupt) -> anyhow::Result<Report> {
    let servers = u8::try_from(meta.members).unwrap_or(u8::MAX);
    let tick = Duration::from_millis(meta.tick_ms);
    let server = Server::start(&Options { servers, tick, ..Options::default() })?;
    let served = Served::new(server.addresses().to_vec(), Verbs(server.control().clone()));
    let served = served.interrupted_by(interrupt.stop().clone());
    play_on(&served, scenario, meta, seeds, interrupt)
}

/// Plays scenarios on a running ensemble, with its ticks.
fn running(
    chosen: &[&Scenario],
    meta: &Meta,
    seeds: u64,
    at: &Running<'_>,
    told: &mut ScenarioOutput,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let verbs = Verbs(Http::at(at.control)?);
    let shape = verbs.shape()?;
    let addresses = in_order(resolved(at.addresses)?, &shape);
    for (what, servers) in [("the ensemble has", shape.addresses.len()), ("--connect names", addresses.len())]
    {
        if servers != meta.members {
            bail!("the scenarios need {} servers, and {what} {servers}", meta.members);
        }
    }
    let meta = Meta { tick_ms: u64::try_from(shape.tick.as_millis())?.max(1), ..meta.clone() };
    let served = Served::new(addresses, verbs).interrupted_by(interrupt.stop().clone());
    served.prepare(&meta)?;
    in_turn(chosen, told, interrupt, |scenario| {
        let report = play_on(&served, scenario, &meta, seeds, interrupt)?;
        served.tidy(&meta)?;
        Ok(report)
    })
}

/// Plays a scenario on an ensemble, and cleans up between the seeds.
fn play_on<A: ControlApi>(
    served: &Served<Verbs<A>>,
    scenario: &Scenario,
    meta: &Meta,
    seeds: u64,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let is_first = Cell::new(true);
    let mut report = run::run(scenario, meta, until_interrupted(seeds, interrupt), |_, _| {
        if !is_first.replace(false) {
            // An error is reported at the end; until then no step takes time.
            let _ = served.tidy(meta);
        }
        served
    });
    if let Some(trouble) = served.trouble() {
        // Ends the faults.
        let _ = served.tidy(meta);
        return Err(trouble).with_context(|| format!("{} was not played to its end", scenario.id));
    }
    // A few runs in real time cannot reach all outcomes.
    report.unreached.clear();
    Ok(report)
}

/// A restart of one server of a served ensemble.
pub(super) fn restart(address: &str, control: &str) -> anyhow::Result<Restart> {
    let verbs = Verbs(Http::at(control)?);
    let [wanted] = resolved(address)?[..] else {
        bail!("cases are played on one server: name one in --connect")
    };
    let server = verbs.shape()?.addresses.iter().position(|of| *of == wanted).map(MemberId);
    let server = server.with_context(|| format!("the ensemble of {control} has no server at {address}"))?;
    Ok(Restart::by(move || verbs.restart(server).map_err(|Trouble(why)| why)))
}

/// The addresses of a connect string.
fn resolved(connect: &str) -> anyhow::Result<Vec<SocketAddr>> {
    let one = |address: &str| {
        let wrong = || format!("{address:?} is not the address of a server, such as 127.0.0.1:40001");
        address.to_socket_addrs().ok().and_then(|mut all| all.next()).with_context(wrong)
    };
    connect.split(',').map(|address| one(address.trim())).collect()
}

/// The addresses in the order of the servers' numbers, if known: addresses behind a proxy differ.
fn in_order(addresses: Vec<SocketAddr>, shape: &Shape) -> Vec<SocketAddr> {
    let is_same = addresses.len() == shape.addresses.len()
        && shape.addresses.iter().all(|address| addresses.contains(address));
    if is_same { shape.addresses.clone() } else { addresses }
}

/// The output about scenarios, and their numbers.
struct ScenarioOutput {
    tally: Tally,
    bar: ProgressBar,
    output: Output,
}

impl ScenarioOutput {
    fn report(&mut self, report: &Report) {
        if report.passes() {
            self.tally.pass += 1
        } else {
            self.tally.fail += 1
        }
        let text = if self.output.is_json() { json!(report).to_string() } else { report.to_string() };
        self.line(&text);
    }

    fn line(&self, text: &str) {
        self.bar.inc(1);
        self.bar.suspend(|| println!("{text}"));
    }
}
