//! `real`: the same workloads and rules on Apache ZooKeeper servers.

mod summary;

use super::failure::RESULTS;
use super::interrupt::Interrupt;
use super::single::workload;
use super::{Output, no_such};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zk_checker::Verdict;
use zk_real::client_links::ClientLinks;
use zk_real::faults::Injection;
use zk_real::leak_check::resident_kib;
use zk_real::nemesis::{Harm, Owned};
use zk_real::proxy::{Network, Speech};
use zk_real::run::{self, Outcome, RunRequest};
use zk_real::schedule::{Leg, Total, legs, worth_it};
use zk_real::server::pause;
use zk_real::{Ensemble, EnsembleOptions, RealWorkload};
use zk_report::trace;
use zk_report::whole_file::{self, WholeFile};
use zk_serve::parse_duration;

/// The tick of servers that this program starts.
const TICK: Duration = Duration::from_millis(500);

/// The tick of other servers: ZooKeeper's default.
const TICK_OF_OTHERS: Duration = Duration::from_secs(2);

/// The session timeout that clients request: every server with one of these ticks grants it.
const SESSION: Duration = Duration::from_secs(6);

/// The session timeout under faults, so that sessions expire, and for long holds. A server that is partitioned from its
/// leader serves its clients for up to `syncLimit` more ticks, and stops before the leader may expire their sessions.
const SHORT_SESSION: Duration = Duration::from_secs(4);

/// The time limit for a lagging server to catch up.
const CAUGHT_UP_WITHIN: Duration = Duration::from_secs(10);

/// The smallest ensemble that keeps a quorum without one server.
const MAJORITY: u8 = 3;

/// The value of `--faults` for every kind.
const EVERY_FAULT: &str = "all";

#[derive(Args)]
pub(super) struct Real {
    /// Workloads, each for its share of the time; all workloads if none is given
    names: Vec<String>,
    /// Length of the run, such as 20s or 5m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, default_value = "20s")]
    length: Duration,
    /// Number of clients, each with its own session
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=64))]
    clients: u8,
    /// Seed of the random choices: hold times, cancellations and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of servers to start; more than one form an ensemble
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9), conflicts_with = "connect")]
    servers: u8,
    /// Client port of the first server, the next ones for the others; default: free ports
    #[arg(long, conflicts_with = "connect")]
    port: Option<u16>,
    /// Kinds of fault, separated by commas: for servers kill, restart, rolling-restart, pause, partition and link-held; for
    /// clients client-pause, client-partition, session-expiry, disconnect, request-lost and reply-lost; or all
    #[arg(long, value_delimiter = ',', value_name = "KINDS")]
    faults: Vec<String>,
    /// Session timeout that clients ask for, such as 4s, from 2 to 20 ticks; servers started here have a tick of 500 ms. Default:
    /// 4 s under faults and for long holds, else 6 s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    session_timeout: Option<Duration>,
    /// Running servers to use, instead of starting some
    #[arg(long, value_name = "HOST:PORT[,HOST:PORT]")]
    connect: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// The environment that all runs of a call share.
struct Site {
    address: String,
    owned: Option<Owned>,
    harm: Option<Harm>,
    stop: Arc<AtomicBool>,
    /// Owns the links between servers.
    _network: Option<Network>,
}

impl Real {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let workloads = self.workloads()?;
        if self.length.is_zero() {
            bail!("--for must be at least a second");
        }
        if let Some(timeout) = self.session_timeout
            && self.connect.is_none()
            && !(2 * TICK..=20 * TICK).contains(&timeout)
        {
            bail!(
                "--session-timeout must lie between {:?} and {:?}, the range that these servers grant",
                2 * TICK,
                20 * TICK
            );
        }
        let kinds = self.kinds()?;
        let legs = legs(&workloads, self.length, self.seed);
        let (bar, interrupt) = (bar(), Interrupt::listen()?);
        let start = || self.prepare(&kinds, &bar, &interrupt);
        let site = interrupt.or_nothing("the start of the servers", self.output, start)?;
        let znodes = site.znodes();
        let mut total = Total::default();
        let mut statuses = Vec::new();
        total.memory.start_kib = resident_kib();
        let tenth = Cell::new(None);
        let begun = now();
        if legs.len() > 1 {
            bar.suspend(|| summary::heading(self.output));
        }
        for (number, leg) in legs.iter().enumerate() {
            if interrupt.has_come() {
                break;
            }
            let order = self.order(leg, &site);
            bar.set_prefix(leg.workload.name());
            let of =
                if legs.len() > 1 { format!(", {} of {}", number + 1, legs.len()) } else { String::new() };
            let outcome = run::run(&order, &|rounds| {
                let (clients, address) = (order.clients, &order.address);
                bar.set_message(format!("{rounds} rounds of {clients} clients on {address}{of}"));
                if tenth.get().is_none() && now().duration_since(begun) * 10 >= self.length {
                    tenth.set(resident_kib());
                }
            });
            let outcome = outcome.inspect_err(|_| bar.finish_and_clear())?;
            let verdict = verdict(&outcome);
            total.add(&outcome, verdict);
            let status = exit_status(&outcome, verdict);
            statuses.push(status);
            let kept = match status {
                0 => None,
                _ => Some(keep(&format!("real-{}-seed-{}", leg.workload.name(), leg.seed), &outcome)?),
            };
            let ended =
                summary::Ended { order: &order, outcome: &outcome, verdict, status, kept: kept.as_ref() };
            if legs.len() > 1 {
                bar.suspend(|| summary::one(self.output, &ended));
            } else {
                bar.finish_and_clear();
                total.see(tenth.get(), site.znodes_left(znodes), znodes);
                summary::alone(self.output, &ended, &total, &interrupt);
            }
        }
        bar.finish_and_clear();
        if legs.len() > 1 || total.runs == 0 {
            total.see(tenth.get(), site.znodes_left(znodes), znodes);
            summary::end(self.output, &total, &interrupt);
        }
        if !self.output.is_json() {
            interrupt.say(&format!(
                "{} rounds were made, of {} of {} workloads",
                total.rounds,
                total.runs,
                legs.len()
            ));
        }
        statuses.extend(total.leak().map(|_| 1));
        Ok(interrupt.status(worst(&statuses)))
    }

    /// The workloads to run.
    fn workloads(&self) -> anyhow::Result<Vec<&'static RealWorkload>> {
        if self.names.is_empty() {
            let workloads = zk_catalogue::real_workloads().filter(|real| !real.workload.is_mutant());
            return Ok(worth_it(&workloads.collect::<Vec<_>>(), self.length));
        }
        self.names.iter().map(|name| on_real_servers(name)).collect()
    }

    /// The kinds of fault, checked against the servers.
    fn kinds(&self) -> anyhow::Result<Vec<Injection>> {
        let mut kinds = Vec::new();
        for name in &self.faults {
            if name == EVERY_FAULT {
                kinds.extend(Injection::ALL);
                continue;
            }
            let names = Injection::ALL.map(Injection::name);
            let names = names.into_iter().chain([EVERY_FAULT]);
            kinds.push(
                Injection::from_name(name).ok_or_else(|| anyhow!(no_such("fault called", name, names)))?,
            );
        }
        kinds.sort_unstable();
        kinds.dedup();
        if let Some(kind) = kinds.iter().find(|kind| kind.strikes_servers()).map(|kind| kind.name()) {
            if self.connect.is_some() {
                bail!("--faults {kind} needs servers that this program starts, not those of --connect");
            }
            if self.servers < MAJORITY {
                bail!("--faults {kind} needs --servers {MAJORITY} or more, to keep a quorum");
            }
        }
        Ok(kinds)
    }

    /// Starts servers and links.
    fn prepare(&self, kinds: &[Injection], bar: &ProgressBar, interrupt: &Interrupt) -> anyhow::Result<Site> {
        let mut network = None;
        let mut owned = None;
        if self.connect.is_none() {
            bar.set_message(if self.servers == 1 { "starting a server" } else { "starting servers" });
            let options = EnsembleOptions { servers: self.servers, port: self.port, tick: TICK };
            if kinds.iter().any(|kind| kind.strikes_servers()) {
                network = Some(Network::start().context("cannot start a thread")?);
            }
            owned = Some(Arc::new(Mutex::new(Ensemble::start_on(&options, network.as_ref())?)));
        }
        let address =
            owned.as_ref().map(|owned| owned.lock().unwrap_or_else(PoisonError::into_inner).address());
        let address = address.or_else(|| self.connect.clone()).unwrap_or_default();
        let ways = if kinds.iter().any(|kind| kind.strikes_connections()) {
            let ways = ClientLinks::to(&address, self.clients, Speech::Client)
                .context("cannot make links from clients to servers")?;
            Some(Arc::new(ways))
        } else {
            None
        };
        let harm = (!kinds.is_empty()).then(|| Harm { kinds: kinds.to_vec(), ways });
        Ok(Site { address, owned, harm, stop: interrupt.stop().clone(), _network: network })
    }

    fn order(&self, leg: &Leg, site: &Site) -> RunRequest {
        let Site { address, owned, harm, stop, .. } = site;
        let (name, secs, seed) = (leg.workload.name(), leg.length.as_secs_f64(), leg.seed);
        let servers = match owned {
            Some(_) => format!("--servers {}", self.servers),
            None => format!("--connect {address}"),
        };
        let faults = match harm {
            Some(harm) => {
                let kinds: Vec<&str> = harm.kinds.iter().map(|kind| kind.name()).collect();
                format!(" --faults {}", kinds.join(","))
            }
            None => String::new(),
        };
        let timeout = match self.session_timeout {
            Some(timeout) => format!(" --session-timeout {}s", timeout.as_secs_f64()),
            None => String::new(),
        };
        RunRequest {
            workload: leg.workload,
            clients: self.clients,
            seed,
            length: leg.length,
            address: address.clone(),
            servers: owned.as_ref().map(|_| self.servers),
            owned: owned.clone(),
            harm: harm.clone(),
            tick: if owned.is_some() { TICK } else { TICK_OF_OTHERS },
            timeout: self.session_timeout.unwrap_or(match harm {
                None if !leg.workload.is_long => SESSION,
                _ => SHORT_SESSION,
            }),
            source: format!(
                "cargo sim real {name} --for {secs}s --clients {} --seed {seed} {servers}{faults}{timeout}",
                self.clients
            ),
            stop: stop.clone(),
        }
    }
}

impl Site {
    /// The number of znodes on servers that this program started.
    fn znodes(&self) -> Option<u64> {
        let owned = self.owned.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        owned.figure("zk_znode_count")
    }

    /// The number of znodes after the clean-up. A lagging server may still count deleted znodes, so this waits for it.
    fn znodes_left(&self, at_first: Option<u64>) -> Option<u64> {
        let begun = now();
        loop {
            let znodes = self.znodes();
            if znodes <= at_first || now().duration_since(begun) > CAUGHT_UP_WITHIN {
                return znodes;
            }
            pause();
        }
    }
}

/// The wall clock, for progress and timing only.
#[expect(clippy::disallowed_methods, reason = "a real run happens in real time")]
fn now() -> Instant {
    Instant::now()
}

/// A line on stderr, if that is a terminal.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{prefix:<16} {elapsed:>4}  {msg}").expect("it is well formed");
    bar.set_style(style);
    bar
}

fn verdict(outcome: &Outcome) -> Verdict {
    let leak = if outcome.leak().is_some() { Verdict::Fail } else { Verdict::Vacuous };
    let verdict = outcome.report.verdict().join(leak);
    match (&outcome.lost_by_servers, &outcome.unfinished) {
        (Some(_), _) => Verdict::Unknown,
        (None, Some(_)) => verdict.join(Verdict::Unknown),
        (None, None) => verdict,
    }
}

fn exit_status(outcome: &Outcome, verdict: Verdict) -> u8 {
    let report = &outcome.report;
    match verdict {
        Verdict::Fail if !report.is_malformed() => 1,
        Verdict::Unknown if !report.is_malformed() => 2,
        _ => report.exit_status(),
    }
}

/// The worst exit status: a failed rule (1), then a failure of the program (3), then no evidence (2).
fn worst(statuses: &[u8]) -> u8 {
    [1, 3, 2].into_iter().find(|status| statuses.contains(status)).unwrap_or(0)
}

/// The real workload of a name, or an error with the reason why it has none.
fn on_real_servers(name: &str) -> anyhow::Result<&'static RealWorkload> {
    let workload = workload(name, &[])?;
    zk_catalogue::on_real_servers(workload).ok_or_else(|| match workload.is_mutant() {
        true => anyhow!(
            "{name} fails only under faults of the simulation; `cargo sim run {name}` shows it"
        ),
        false => {
            anyhow!("the rules of {name} need evidence that only a simulation has; `cargo sim run {name}` runs it there")
        }
    })
}

/// The files of a failed run.
struct RunFiles {
    history: PathBuf,
    trace: PathBuf,
}

fn keep(name: &str, outcome: &Outcome) -> anyhow::Result<RunFiles> {
    let folder = Path::new(RESULTS);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {RESULTS}"))?;
    let kept = RunFiles {
        history: folder.join(format!("{name}.jsonl")),
        trace: folder.join(format!("{name}.trace")),
    };
    WholeFile::over(&kept.history)?.fill(|out| zk_checker::jsonl::write(&outcome.history, out))?;
    whole_file::write(&kept.trace, trace::print(&outcome.history, &[]))?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_status_of_several_is_theirs() {
        assert_eq!([worst(&[]), worst(&[0, 2, 0]), worst(&[2, 3]), worst(&[3, 2, 1, 0])], [0, 2, 3, 1]);
    }
}
