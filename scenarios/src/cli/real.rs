//! `real`: the same workload, and the same rules, on Apache ZooKeeper servers.

use super::failure::RESULTS;
use super::single::target;
use super::sweeping::parse_duration;
use super::{Output, word};
use crate::real::figures::{self, Calls, Figures};
use crate::real::kills::Doomed;
use crate::real::run::{self, Order, Outcome};
use crate::real::{Ensemble, EnsembleOptions};
use crate::target::Target;
use crate::trace;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zk_checker::Verdict;

/// The tick of a server of our own.
const TICK: Duration = Duration::from_millis(500);

/// The tick of somebody else's: ZooKeeper's default.
const TICK_OF_OTHERS: Duration = Duration::from_secs(2);

/// The session timeout that clients ask for: every server with one of these ticks grants it.
const SESSION: Duration = Duration::from_secs(6);

#[derive(Args)]
pub(super) struct Real {
    /// A workload: see `list`
    name: String,
    /// How long to go on, such as 20s or 5m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, default_value = "20s")]
    length: Duration,
    /// How many clients, each with a session of its own
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=64))]
    clients: u8,
    /// What the clients draw from: how long they hold, when they give up
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many servers are started; more than one make up an ensemble
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9), conflicts_with = "connect")]
    servers: u8,
    /// The port of the server that is started, the next ones for more; any that are free if not given
    #[arg(long, conflicts_with = "connect")]
    port: Option<u16>,
    /// What goes wrong with the servers: one after the other is killed and started again, in turn with whoever leads
    #[arg(long, value_enum, conflicts_with = "connect")]
    faults: Option<Faults>,
    /// Servers that run already, instead of our own
    #[arg(long, value_name = "HOST:PORT[,HOST:PORT]")]
    connect: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// What can go wrong with servers of our own.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Faults {
    Kill,
}

impl Real {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let target = target(&self.name, &[])?;
        if self.length.is_zero() {
            bail!("--for 0s would prove nothing; give at least a second");
        }
        if self.faults.is_some() && self.servers < 3 {
            bail!("--faults kill needs --servers 3 or more: a majority has to go on");
        }
        let bar = self.bar();
        let ensemble = match &self.connect {
            Some(_) => None,
            None => {
                bar.set_message(if self.servers == 1 { "starting a server" } else { "starting servers" });
                let options = EnsembleOptions { servers: self.servers, port: self.port, tick: TICK };
                Some(Arc::new(Mutex::new(Ensemble::start(&options)?)))
            }
        };
        let mut order = self.order(target, ensemble.as_ref());
        if order.servers.is_none() {
            tidy_when_interrupted(&order.stop)?;
        }
        let outcome = run::run(&order, &|rounds| {
            bar.set_message(format!("{rounds} rounds of {} clients on {}", order.clients, order.address));
        });
        bar.finish_and_clear();
        // It goes before anything else can go wrong.
        order.doomed = None;
        drop(ensemble);
        let outcome = outcome?;
        if order.stop.load(SeqCst) {
            bail!("interrupted after {} rounds", outcome.rounds);
        }
        self.show(&order, &outcome)
    }

    fn order(&self, target: &'static Target, ensemble: Option<&Doomed>) -> Order {
        let address =
            ensemble.map(|ensemble| ensemble.lock().unwrap_or_else(PoisonError::into_inner).address());
        let address = address.or_else(|| self.connect.clone()).unwrap_or_default();
        let secs = self.length.as_secs_f64();
        let name = target.name;
        let servers = match ensemble {
            Some(_) if self.faults.is_some() => format!("--servers {} --faults kill, on", self.servers),
            Some(_) => format!("--servers {}, on", self.servers),
            None => "--connect".to_owned(),
        };
        Order {
            target,
            clients: self.clients,
            seed: self.seed,
            length: self.length,
            servers: ensemble.map(|_| self.servers),
            doomed: ensemble.filter(|_| self.faults.is_some()).cloned(),
            tick: if ensemble.is_some() { TICK } else { TICK_OF_OTHERS },
            timeout: SESSION,
            source: format!(
                "cargo sim real {name} --for {secs}s --clients {} --seed {} {servers} {address}",
                self.clients, self.seed
            ),
            address,
            stop: Arc::default(),
        }
    }

    /// A line on stderr, if that is a terminal.
    fn bar(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let style =
            ProgressStyle::with_template("{prefix:<16} {elapsed:>4}  {msg}").expect("it is well formed");
        bar.set_style(style);
        bar.set_prefix(self.name.clone());
        bar
    }

    fn show(&self, order: &Order, outcome: &Outcome) -> anyhow::Result<ExitCode> {
        let Outcome { report, unfinished, .. } = outcome;
        let name = order.target.name;
        let verdict = unfinished.map_or(report.verdict(), |_| report.verdict().join(Verdict::Unknown));
        let status =
            if verdict == Verdict::Unknown && !report.is_malformed() { 2 } else { report.exit_status() };
        let kept = if status == 0 {
            None
        } else {
            Some(keep(&format!("real-{name}-seed-{}", order.seed), outcome)?)
        };
        if self.output.is_json() {
            print_json(order, outcome, verdict, status, kept.as_ref());
        } else {
            print_text(order, outcome, verdict);
            if let Some(why) = unfinished {
                println!("  nothing was proved: {why}");
            }
            if !report.unproved.is_empty() && unfinished.is_none() {
                let rules: Vec<&str> = report.unproved.iter().map(|rule| rule.name()).collect();
                println!(
                    "  nothing was proved: {} was never put to the test; run for longer",
                    rules.join(", ")
                );
            }
            if verdict > Verdict::Pass {
                println!();
                print!("{report}");
            }
            if let Some(kept) = &kept {
                println!("  history   {}", kept.history.display());
                println!("  trace     {}", kept.trace.display());
            }
        }
        Ok(ExitCode::from(status))
    }
}

/// A server of our own goes with us, however we go; somebody else's has to be left as it was. A second signal does not
/// wait for that: then the server itself removes what is left within minutes.
fn tidy_when_interrupted(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    let stop = stop.clone();
    ctrlc::set_handler(move || {
        if stop.swap(true, SeqCst) {
            std::process::exit(3);
        }
    })
    .context("cannot listen to signals")
}

/// The files of a run that did not pass.
struct Kept {
    history: PathBuf,
    trace: PathBuf,
}

fn keep(name: &str, outcome: &Outcome) -> anyhow::Result<Kept> {
    let folder = Path::new(RESULTS);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {RESULTS}"))?;
    let kept =
        Kept { history: folder.join(format!("{name}.jsonl")), trace: folder.join(format!("{name}.trace")) };
    std::fs::File::create(&kept.history)
        .and_then(|file| zk_checker::jsonl::write(&outcome.history, &mut BufWriter::new(file)))
        .with_context(|| format!("cannot write {}", kept.history.display()))?;
    std::fs::write(&kept.trace, trace::print(&outcome.history, &[]))
        .with_context(|| format!("cannot write {}", kept.trace.display()))?;
    Ok(kept)
}

fn print_text(order: &Order, outcome: &Outcome, verdict: Verdict) {
    let (f, seconds) = (Figures::of(&outcome.history), outcome.worked.as_secs_f64());
    println!(
        "{}: {} rounds of {} clients in {seconds:.1} s on {}, {:.1} calls/s done; {} events",
        order.target.name,
        outcome.rounds,
        order.clients,
        order.address,
        f64::from(f.done()) / seconds,
        outcome.history.events.len()
    );
    println!("  rule   verdict     premises  promise");
    let required = |rule| order.target.required_on_real.contains(&rule);
    // Most of the others speak of other recipes, or of what only a simulation shows.
    let is_told = |rule, verdict| verdict != Verdict::Vacuous || required(rule);
    for row in outcome.report.rows.iter().filter(|row| is_told(row.rule, row.verdict)) {
        let (rule, verdict) = (row.rule, word(row.verdict));
        println!("  {:<6} {verdict:<9} {:>10}  {}", rule.name(), row.premises, rule.promise());
    }
    let others = outcome.report.rows.iter().filter(|row| !is_told(row.rule, row.verdict)).count();
    println!("  {others} other rules found nothing to judge");
    print_figures(&f);
    println!("  {}", word(verdict));
}

fn print_figures(f: &Figures) {
    println!(
        "  {:<16} {:>8} {:>8} {:>8} {:>8} {:>8} {:>14} {:>9} {:>14}",
        "counted",
        "calls",
        "done",
        "refused",
        "unknown",
        "dropped",
        "requests/done",
        "in vain",
        "notifications"
    );
    for (verb, c) in &f.verbs {
        println!(
            "    {:<14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>14.2} {:>9} {:>14}",
            figures::word(*verb),
            c.calls,
            c.done,
            c.refused,
            c.unknown,
            c.cancelled,
            c.requests_each(),
            c.in_vain,
            c.notices
        );
    }
    println!("    {:<14} {:>8} requests, {} notifications", "in between", f.between, f.notices_between);
    println!("    {:<14} {:>8} requests", "clean-up", f.cleanup);
    let kills = if f.kills > 0 { format!(", {} servers killed", f.kills) } else { String::new() };
    println!("    {:<14} {:>8}, {} disconnects{kills}", "sessions", f.sessions, f.disconnects);
}

fn json_of_verb((verb, c): &(zk_checker::history::Verb, Calls)) -> Value {
    json!({
        "verb": figures::word(*verb), "calls": c.calls, "done": c.done, "refused": c.refused, "unknown": c.unknown,
        "cancelled": c.cancelled, "requests": c.requests, "requests_each": c.requests_each(), "in_vain": c.in_vain,
        "notifications": c.notices,
    })
}

fn print_json(order: &Order, outcome: &Outcome, verdict: Verdict, status: u8, kept: Option<&Kept>) {
    let name = order.target.name;
    for row in &outcome.report.rows {
        println!(
            "{}",
            json!({"kind": "rule", "workload": name, "id": row.rule.name(), "verdict": word(row.verdict),
                "premises": row.premises})
        );
    }
    let (f, seconds) = (Figures::of(&outcome.history), outcome.worked.as_secs_f64());
    let mut line = json!({
        "kind": "real", "workload": name, "seed": order.seed, "clients": order.clients, "servers": order.servers,
        "verdict": word(verdict), "status": status, "seconds": seconds, "rounds": outcome.rounds,
        "done": f.done(), "done_per_second": f64::from(f.done()) / seconds,
        "verbs": f.verbs.iter().map(json_of_verb).collect::<Vec<_>>(),
        "requests": {"in_between": f.between, "clean_up": f.cleanup},
        "notifications": f.notices(), "dropped": f.dropped, "sessions": f.sessions,
        "disconnects": f.disconnects, "kills": f.kills, "events": outcome.history.events.len(),
    });
    if let Some(finding) = outcome.report.first() {
        line["rule"] = json!(finding.rule.name());
    }
    if let Some(why) = outcome.unfinished {
        line["unfinished"] = json!(why);
    }
    if let Some(kept) = kept {
        line["history"] = json!(kept.history);
        line["trace"] = json!(kept.trace);
    }
    println!("{line}");
}
