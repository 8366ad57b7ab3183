//! `zksim serve`: a simulated ensemble on loopback sockets.

use super::interrupt::Interrupt;
use anyhow::Context;
use clap::{Args, value_parser};
use sim_zk::choose::Rates;
use sim_zk::fault::Fault;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use zk_report::whole_file::WholeFile;
use zk_serve::command::Command;
use zk_serve::{Control, Ensemble, Options, ReportSource, parse_duration};

// Fixtures pass options, and a test overrides them by later ones.
#[derive(Args)]
#[command(args_override_self = true)]
pub(super) struct Serve {
    /// Number of servers, each on its own port
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u8).range(1..=9))]
    servers: u8,
    /// Port of the first server; the others use the next ports. 0: any free ports
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Port of the control API. 0: any free port
    #[arg(long, default_value_t = 0)]
    control_port: u16,
    /// Address to listen on. There is no password: every client that reaches it has full control
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Length of a tick; session timeouts are 2 to 20 ticks
    #[arg(long, default_value = "2s", value_parser = parse_duration)]
    tick: Duration,
    /// Allow znodes with a TTL (`zookeeper.extendedTypesEnabled`)
    #[arg(long)]
    extended_types: bool,
    /// Crash members, as real ones do, when a session ends whose ephemerals take more than 2 MB (ZOOKEEPER-4306)
    #[arg(long)]
    dies_of_long_closes: bool,
    /// The superuser, as `user:digest` (`superDigest`)
    #[arg(long, value_name = "USER:DIGEST")]
    super_digest: Option<String>,
    /// Period at which empty containers and expired TTL znodes are deleted (`znode.container.checkIntervalMs`)
    #[arg(long, default_value = "60s", value_parser = parse_duration)]
    reap_every: Duration,
    /// Faults to draw, each with its rate per request, such as `reply-lost=0.01,server-crash=0.001`
    #[arg(long, value_name = "FAULT=RATE,...", value_parser = parse_rates)]
    rates: Option<Rates>,
    /// Seed of the drawn faults
    #[arg(long, default_value_t = 0, requires = "rates")]
    seed: u64,
    /// Commands with their times: a file with one JSON object per line, such as
    /// `{"at": "2s", "verb": "crash", "server": 1, "for": "5s"}`
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Read reports of programs, one line each: from standard input (`-`), or from a named pipe, which is made if there is
    /// none and removed at the end
    #[arg(long, value_name = "PIPE")]
    reports: Option<PathBuf>,
    /// Write the history to this file at the end; an existing file is overwritten
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Judge the history at the end: the verdict goes to stderr, and is the exit status
    #[arg(long)]
    check: bool,
    /// Maximal number of connections at a time
    #[arg(long, default_value_t = 20_000)]
    most_connections: usize,
    /// Maximal number of events in the history; later events are judged and not kept
    #[arg(long, default_value_t = 2_000_000)]
    most_events: usize,
}

impl Serve {
    /// Listens, prints the connect string and the address of the control API, and serves until SIGINT or SIGTERM.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if !self.address.is_loopback() {
            eprintln!(
                "warning: every client that reaches {} has full control of this ensemble",
                self.address
            );
        }
        let plan = self.plan.as_deref().map(|path| read_plan(path, self.servers)).transpose()?;
        let reports = self.reports.as_deref().map(open_reports).transpose()?;
        // An unwritable file is reported before the run. An existing file stays until the new one is complete.
        self.history.as_deref().map(WholeFile::over).transpose()?;
        let mut ensemble = Ensemble::listen(&Options {
            servers: self.servers,
            port: self.port,
            tick: self.tick,
            extended_types: self.extended_types,
            dies_of_long_closes: self.dies_of_long_closes,
            super_digest: self.super_digest,
            reap_every: Some(self.reap_every),
            address: self.address,
            control_port: self.control_port,
            drawn: self.rates.map(|rates| (self.seed, rates)),
            plan: plan.unwrap_or_default(),
            most_connections: self.most_connections,
            most_events: self.most_events,
            source: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
        })?;
        ensemble
            .on_refused_plan(|at, refused| eprintln!("warning: the plan at {at:?} was refused: {refused}"));
        ensemble.on_given_up(|what| eprintln!("warning: {what}"));
        if let Some(source) = reports {
            ensemble.read_reports(source, |line, refused| {
                eprintln!("warning: the report {line:?} was refused: {refused}");
            })?;
        }
        let (stop, control) = (ensemble.stop(), ensemble.control());
        let (check, before) = (self.check, control.clone());
        Interrupt::listen()?.then(move || {
            // Promises that only time decides are decided while the ensemble still runs.
            if check {
                before.decided();
            }
            stop.stop();
        });
        // Scripts read these lines while the program runs, so each is flushed.
        println!("{}\ncontrol http://{}", ensemble.connect_string(), ensemble.control_address());
        ensemble.run()?;
        let written = write_history(self.history.as_deref(), &control);
        let judged = self.check.then(|| control.decided());
        judged.iter().for_each(|judged| eprint!("{judged}"));
        match judged.map_or(0, |judged| judged.exit_status()) {
            0 => written.map(|()| ExitCode::SUCCESS),
            // The verdict matters more than a missing file.
            status => {
                written.unwrap_or_else(|error| eprintln!("error: {error:#}"));
                Ok(ExitCode::from(status))
            }
        }
    }
}

fn write_history(path: Option<&Path>, control: &Control) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    Ok(WholeFile::over(path)?.fill(|out| control.write_history(out))?)
}

fn parse_rates(text: &str) -> Result<Rates, String> {
    text.split(',').try_fold(Rates::NONE, |rates, pair| {
        let wrong = || format!("{pair:?} is not a fault and its rate, such as reply-lost=0.01");
        let (name, rate) = pair.split_once('=').ok_or_else(wrong)?;
        let rate: f64 = rate.parse().map_err(|_| wrong())?;
        if !(0.0..=0.25).contains(&rate) {
            return Err(format!("the rate of {name} is {rate}; rates are from 0 to 0.25"));
        }
        let fault = Fault::from_name(name).ok_or_else(|| {
            let names = Fault::DRAWN.iter().map(|fault| fault.name());
            super::no_such("fault", name, names)
        })?;
        if !Fault::DRAWN.contains(&fault) {
            return Err(format!("{name} is injected by a command, and is not drawn"));
        }
        Ok(rates.with(fault, rate))
    })
}

/// Opens standard input or a named pipe.
fn open_reports(path: &Path) -> anyhow::Result<ReportSource> {
    let opened = if path == Path::new("-") { ReportSource::stdin() } else { ReportSource::named_pipe(path) };
    opened.with_context(|| format!("no reports can be read from {}", path.display()))
}

/// Reads a plan for that many servers: one JSON object per line.
fn read_plan(path: &Path, servers: u8) -> anyhow::Result<Vec<(Duration, Command)>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the plan {} cannot be read", path.display()))?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let of_line = || format!("line {number} of the plan {}", path.display());
            let planned = Command::planned(line).with_context(of_line)?;
            planned.1.check(servers).with_context(of_line)?;
            Ok(planned)
        })
        .collect()
}
