//! `real`: the same workload, and the same rules, on an Apache ZooKeeper server.

use super::failure::RESULTS;
use super::single::target;
use super::sweeping::parse_duration;
use super::{Output, word};
use crate::real::figures::{Figures, each};
use crate::real::run::{self, Order, Outcome};
use crate::real::{Server, ServerOptions};
use crate::run::Target;
use crate::trace;
use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
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
    /// The port of the server that is started; any free one if not given
    #[arg(long, conflicts_with = "connect")]
    port: Option<u16>,
    /// A server that runs already, instead of one of our own
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
    #[command(flatten)]
    output: Output,
}

impl Real {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let target = target(&self.name, &[])?;
        if self.length.is_zero() {
            bail!("--for 0s would prove nothing; give at least a second");
        }
        let bar = self.bar();
        let server = match &self.connect {
            Some(_) => None,
            None => {
                bar.set_message("starting a server");
                Some(Server::start(ServerOptions { port: self.port, tick: TICK })?)
            }
        };
        let order = self.order(target, server.as_ref());
        if order.shared {
            tidy_when_interrupted(&order.stop)?;
        }
        let outcome = run::run(&order, &|rounds| {
            bar.set_message(format!("{rounds} rounds of {} clients on {}", order.clients, order.address));
        });
        bar.finish_and_clear();
        // It goes before anything else can go wrong.
        drop(server);
        let outcome = outcome?;
        if order.stop.load(SeqCst) {
            bail!("interrupted after {} rounds", outcome.rounds);
        }
        self.show(&order, &outcome)
    }

    fn order(&self, target: Target, server: Option<&Server>) -> Order {
        let address = server.map(Server::address).or_else(|| self.connect.clone()).unwrap_or_default();
        let secs = self.length.as_secs_f64();
        let name = target.card().name;
        Order {
            target,
            clients: self.clients,
            seed: self.seed,
            length: self.length,
            shared: server.is_none(),
            tick: if server.is_some() { TICK } else { TICK_OF_OTHERS },
            timeout: SESSION,
            source: format!(
                "cargo sim real {name} --for {secs}s --clients {} --seed {} ({address})",
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
        let name = order.target.card().name;
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
        "{}: {} rounds of {} clients in {seconds:.1} s on {}, {:.1} grants/s; {} events",
        order.target.card().name,
        outcome.rounds,
        order.clients,
        order.address,
        f64::from(f.grants) / seconds,
        outcome.history.events.len()
    );
    println!("  rule   verdict     premises  promise");
    for row in &outcome.report.rows {
        let (rule, verdict) = (row.rule, word(row.verdict));
        println!("  {:<6} {verdict:<9} {:>10}  {}", rule.name(), row.premises, rule.promise());
    }
    println!("  counted");
    let requests = |what: &str, total: u32, number: u32, of: &str| {
        println!("    {what:<16} {total:>9} requests, {:.2} for each of {number} {of}", each(total, number));
    };
    requests("acquire", f.acquiring, f.grants, "grants");
    requests("hold", f.holding, f.grants, "grants");
    requests("release", f.releasing, f.releases, "releases");
    println!("    {:<16} {:>9} requests", "in vain", f.in_vain);
    println!("    {:<16} {:>9} requests", "clean-up", f.cleanup);
    println!("    {:<16} {:>9}", "notifications", f.notices);
    println!("    {:<16} {:>9}", "dropped", f.dropped);
    println!("    {:<16} {:>9}, {} disconnects", "sessions", f.sessions, f.disconnects);
    println!("  {}", word(verdict));
}

fn print_json(order: &Order, outcome: &Outcome, verdict: Verdict, status: u8, kept: Option<&Kept>) {
    let name = order.target.card().name;
    for row in &outcome.report.rows {
        println!(
            "{}",
            json!({"kind": "rule", "workload": name, "id": row.rule.name(), "verdict": word(row.verdict),
                "premises": row.premises})
        );
    }
    let (f, seconds) = (Figures::of(&outcome.history), outcome.worked.as_secs_f64());
    let mut line = json!({
        "kind": "real", "workload": name, "seed": order.seed, "clients": order.clients, "verdict": word(verdict),
        "status": status, "seconds": seconds, "rounds": outcome.rounds, "grants": f.grants,
        "requests": {"acquire": f.acquiring, "hold": f.holding, "release": f.releasing, "in_vain": f.in_vain,
            "clean_up": f.cleanup},
        "releases": f.releases, "notifications": f.notices, "dropped": f.dropped, "sessions": f.sessions,
        "disconnects": f.disconnects, "events": outcome.history.events.len(),
        "grants_per_second": f64::from(f.grants) / seconds,
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
