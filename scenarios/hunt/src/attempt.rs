//! One try: a plan, the clients of a scenario, and the verdict on what they did.

use crate::clock::now;
use crate::draw::HOSTILE_MS;
use crate::plan::{Plan, Step};
use crate::process::Setting;
use crate::program::{Prepared, Scenario};
use crate::stage::Stage;
use anyhow::{Context, bail};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zk_checker::Verdict;
use zk_checker::history::History;
use zk_serve::Judged;

/// How long the processes may take until they are connected.
const READY: Duration = Duration::from_secs(120);

/// The longest time under faults: the time in which faults are drawn, plus one second.
const HOSTILE: Duration = Duration::from_millis(HOSTILE_MS + 1000);

/// The same for clients that keep what they hold: a plan begins when they hold it, and they may be slow.
const LASTING_HOSTILE: Duration = Duration::from_secs(20);

/// How long clients continue after the last effect of a fault.
const AFTERMATH: Duration = Duration::from_millis(1000);

/// The time limit for the ensemble to heal.
const HEALING: Duration = Duration::from_secs(20);

/// The time limit for clients to come to rest: seven session timeouts.
const REST: Duration = Duration::from_secs(15);

/// How long everything stays held before clients that keep what they hold are asked to rest: a session that has begun
/// anew with the servers may still expire.
const STEADY: Duration = Duration::from_millis(3000);

/// The kinds of object that clients audit at the end, and how long the objects rest before the audit.
const QUIET_KINDS: [&str; 3] = ["group", "partition", "cache"];
const QUIET: Duration = Duration::from_micros(zk_checker::STILL + 500_000);

/// The time limit for clients to report what they see.
const AUDIT: Duration = Duration::from_secs(5);

/// The time limit for processes to end.
const END: Duration = Duration::from_secs(2);

/// A try that came to its verdict.
#[derive(Debug)]
pub struct Attempt {
    /// What the rules say.
    pub judged: Judged,
    /// What happened.
    pub history: History,
    /// The steps that were carried out.
    pub struck: Vec<Step>,
    /// The faults that no request met: they still waited for one when all faults ended.
    pub in_vain: usize,
    /// Errors of the library, and processes that ended by themselves.
    pub troubles: Vec<String>,
    /// Lines and commands that could not be parsed or carried out.
    pub refused: Vec<String>,
    /// The clients that did not finish.
    pub restless: Vec<&'static str>,
    /// In a scenario whose clients keep what they hold: the longest time without a holder, or without the znode of a
    /// client that works, from the first fault on; and whether it was there again when the clients were asked to rest.
    pub without: Option<(Duration, bool)>,
    /// How long it took.
    pub took: Duration,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Broken {
    /// The rule.
    pub rule: String,
    /// The object.
    pub object: String,
    /// The explanation.
    pub text: String,
}

impl Attempt {
    /// Whether each step of the plan was carried out, and each fault that waits for a request met one.
    pub fn has_struck(&self, plan: &Plan) -> bool {
        self.struck.len() == plan.steps.len() && self.in_vain == 0
    }

    /// The promises that were broken.
    pub fn broken(&self) -> Vec<Broken> {
        let of_rules =
            self.judged.report().findings.iter().filter(|finding| finding.verdict == Verdict::Fail);
        let of_rules = of_rules.map(|finding| Broken {
            rule: finding.rule.name().to_owned(),
            object: finding.path.clone(),
            text: finding.text.to_string(),
        });
        let of_wire = self.judged.wire().findings.iter().filter(|finding| !finding.possible);
        let of_wire = of_wire.map(|finding| Broken {
            rule: finding.rule.name().to_owned(),
            object: finding.directory.clone(),
            text: finding.text.clone(),
        });
        of_rules.chain(of_wire).collect()
    }
}

/// Tries a plan once. What drivers write to standard error goes to `log`.
///
/// # Errors
///
/// The ensemble or a process cannot be started, a client does not connect, or the user has interrupted.
pub fn attempt(
    prepared: &Prepared<'_>,
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    log: &Path,
    stop: &AtomicBool,
) -> anyhow::Result<Attempt> {
    let began = now();
    let program = prepared.program();
    let source = format!("hunt {} {} --seeds {seed}", program.name, scenario.name);
    let setting = |connect_string| {
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        Ok(Setting { prepared, scenario, connect_string, seed, log })
    };
    let mut stage = Stage::start(source, setting, stop)?;
    if !stage
        .go_on(now() + READY, |stage| stage.is_ready() || stage.clients.values().any(|one| one.is_gone()))?
        || !stage.is_ready()
    {
        let name = &program.name;
        bail!("a client of {name} does not connect; its output is in {}", log.display());
    }
    stage.go(plan);
    // Without a plan, clients run undisturbed for as long as faults are drawn otherwise.
    let alone = if plan.steps.is_empty() { HOSTILE } else { Duration::ZERO };
    let begun = now();
    let hostile = if scenario.lasting { LASTING_HOSTILE } else { HOSTILE };
    stage.go_on(begun + hostile, |stage| {
        stage.has_struck() && now() >= stage.over + AFTERMATH && now() >= begun + alone
    })?;
    let in_vain = stage.waiting_faults();
    stage.heal();
    if !stage.go_on(now() + HEALING, |stage| stage.is_healed)? {
        bail!("the ensemble did not recover within {HEALING:?}");
    }
    let without = if scenario.lasting {
        stage.go_on(now() + READY, Stage::is_complete)?;
        stage.go_on(now() + REST, |stage| stage.is_held(STEADY))?;
        Some((stage.longest_without(), stage.is_held(Duration::ZERO)))
    } else {
        None
    };
    stage.rest();
    stage.go_on(now() + REST, Stage::is_settled)?;
    let restless = stage.clients.iter().filter(|(_, client)| !client.is_resting && !client.is_gone());
    let restless = restless.map(|(name, _)| *name).collect();
    if QUIET_KINDS.contains(&scenario.kind.as_str()) {
        stage.go_on(now() + QUIET, |_| false)?;
    }
    stage.quiesce();
    stage.say("audit");
    stage.go_on(now() + AUDIT, |stage| {
        stage.clients.values().all(|client| client.is_audited || client.is_gone() || !client.is_resting)
    })?;
    let (judged, history) = (stage.server.control().decided(), stage.server.history());
    stage.end(now() + END)?;
    let notes = stage.notes;
    let (struck, troubles, refused) = (notes.struck, notes.troubles, notes.refused);
    let took = now() - began;
    Ok(Attempt { judged, history, struck, in_vain, troubles, refused, restless, without, took })
}
