//! Recorded histories, unchanged and damaged in many places: the verdicts of each rule, counted.
//!
//! `tests/corpus` holds a minimal run of every mutant, and runs of the correct recipes: under faults and among foreign
//! clients, and in interleaving mode, where many events have the same time. Each is judged as recorded, by the rules
//! about calls and returns alone, and as its clients alone would have captured it. Then it is damaged: an event is
//! missing, early, late or doubled, everything from it on is delayed, or one word of it is replaced.
//!
//! `edited` holds further histories, which no recipe makes; their verdicts are listed one by one.
//!
//! The verdicts of the others are counted in tables for each kind of object: the histories for each rule and verdict,
//! the premises, and the findings. A digest for each kind of damage has every verdict and witness. The numbers are not claimed to be right. Other tests check correctness, history by
//! history, and none of them can try every rule in every situation. Here any change of a rule's verdicts shows, with
//! its extent. After an intended change, the difference shows which other rules changed with it.

mod edits;

use edits::Edit;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use zk_checker::history::{History, Kind};
use zk_checker::monitor::Certificate;
use zk_checker::{Report, RuleId, RuleSet, Verdict, digest, jsonl, judge, text};

/// The number of places at which a history is damaged in each way.
const PLACES: usize = 60;

/// A way to damage a history at an event.
type Way = fn(&History, usize) -> Edit;
const WAYS: [(Way, &str); 5] = [
    (|_, at| Edit::Missing(at), "one event is missing"),
    (|_, at| Edit::Early(at, 1), "one event comes before the one ahead of it"),
    (|_, at| Edit::Late(at, 8), "one event comes late"),
    (|_, at| Edit::Twice(at), "one event is there twice"),
    (
        |history, at| Edit::Delayed(at, history.header.timeout),
        "all from one event on is late by a session's timeout",
    ),
];

/// The history with one word of one event changed, once for some of its words, as far as it stays readable.
fn in_other_words(history: &History, places: impl Iterator<Item = usize>) -> Vec<History> {
    let written = text::write(history);
    let lines: Vec<&str> = written.lines().collect();
    let head = lines.len() - history.events.len();
    let mut all = Vec::new();
    for (turn, at) in places.enumerate() {
        let words: Vec<&str> = lines[head + at].split(' ').collect();
        // The first word is the time. Each event is edited at two of the others.
        for which in [turn, turn + words.len() / 2].map(|turn| 1 + turn % (words.len() - 1)) {
            let other = another(words[which], &lines[..head + at], history);
            all.extend(Edit::Word(head + at, which, other).apply(history.clone()));
        }
    }
    all
}

/// Another word of the same kind; none if there is no other.
fn another(word: &str, before: &[&str], history: &History) -> String {
    let counted = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(|number| number + 1);
    let (stem, digits) = word.split_at(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    if let Some(number) = word.strip_prefix("0x").and_then(|digits| counted(digits, 16)) {
        return format!("{number:#x}");
    }
    if word.starts_with('/') {
        let paths =
            before.iter().rev().flat_map(|line| line.split(' ')).filter(|other| other.starts_with('/'));
        return paths.into_iter().find(|other| *other != word).unwrap_or_default().to_owned();
    }
    if let Some(number) = counted(digits, 10) {
        return format!("{stem}{number}");
    }
    let clients = &history.header.clients;
    if let Some(client) = clients.iter().position(|client| client == word) {
        return clients[(client + 1) % clients.len()].clone();
    }
    match word {
        "ok" => "no_node",
        "no_node" => "ok",
        _ => "",
    }
    .to_owned()
}

/// The verdicts of a rule on several histories.
#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<Verdict, u32>,
    premises: u64,
    findings: u64,
}

/// The verdicts of the judge on several histories.
#[derive(Default)]
struct Said {
    histories: u32,
    rules: BTreeMap<RuleId, Tally>,
    unknown: u32,
    /// The number of objects whose monitors returned Unknown.
    unproved: u32,
    metrics: [u64; 12],
    probes: u64,
    /// Digests in the order of the histories: of the verdicts with their witnesses, and of the texts.
    seen: u64,
    words: u64,
}

impl Said {
    fn take(&mut self, report: &Report) {
        self.histories += 1;
        self.unknown += u32::from(report.unknown.is_some());
        let mut verdicts: BTreeMap<RuleId, Verdict> = BTreeMap::new();
        for row in &report.rows {
            let tally = self.rules.entry(row.rule).or_default();
            tally.premises += u64::from(row.premises);
            tally.findings += u64::from(row.findings);
            let verdict = verdicts.entry(row.rule).or_default();
            *verdict = verdict.join(row.verdict);
        }
        for (rule, verdict) in verdicts {
            *self.rules.entry(rule).or_default().verdicts.entry(verdict).or_default() += 1;
        }
        let m = &report.metrics;
        let counts = [
            m.events as u64,
            m.requests.into(),
            m.cleanup_requests.into(),
            m.notifications.into(),
            m.round_trips.into(),
            m.waits.into(),
            m.grants.into(),
            m.herd_index.into(),
            m.zombies.into(),
            m.longest_zombie,
            m.leaks.into(),
            report.black_boxes.len() as u64,
        ];
        self.metrics.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        let probes = m.reached.iter().map(|reached| u64::from(*reached)).sum::<u64>();
        self.probes += probes;
        let rows = report.rows.iter();
        let rows = rows.map(|row| (row.rule.name(), row.object, row.verdict, row.premises, row.findings));
        let rows: Vec<_> = rows.collect();
        self.seen = digest::data(Some(format!("{} {rows:?} {counts:?} {probes}", self.seen).as_bytes()));
        for found in &report.findings {
            let which = (
                found.rule.name(),
                found.object,
                found.verdict,
                found.position,
                &found.witnesses,
                found.secondary,
            );
            self.seen = digest::data(Some(format!("{} {which:?}", self.seen).as_bytes()));
            self.words = digest::data(Some(format!("{} {found}", self.words).as_bytes()));
        }
        for seen in &report.black_boxes {
            // Every verdict of a monitor is proved, except Unknown.
            match seen.certificate() {
                Certificate::Nothing => self.unproved += 1,
                certificate => seen.verify(&certificate).expect("a certificate proves what it is for"),
            }
        }
    }

    /// The digests in words. The next histories begin new ones.
    fn digests(&mut self) -> String {
        let [seen, words] = [&mut self.seen, &mut self.words].map(std::mem::take);
        format!("seen {seen:016x}, in words {words:016x}")
    }

    fn print(&self, title: &str, digests: &str, out: &mut String) {
        let Said { histories, unknown, unproved, metrics, probes, .. } = self;
        let _ = writeln!(out, "{title}: {histories} histories, {unknown} without an end");
        for (rule, tally) in &self.rules {
            if tally.premises == 0 && tally.findings == 0 {
                continue;
            }
            let count = |verdict| tally.verdicts.get(&verdict).copied().unwrap_or_default();
            let [pass, unavoidable, unknown, fail] =
                [Verdict::Pass, Verdict::Unavoidable, Verdict::Unknown, Verdict::Fail].map(count);
            let _ = writeln!(
                out,
                "  {:<6} pass {pass:>4}  unavoidable {unavoidable:>3}  unknown {unknown:>3}  fail {fail:>4}  tried {:>6}  found {:>5}",
                rule.name(),
                tally.premises,
                tally.findings,
            );
        }
        let _ = writeln!(out, "  metrics {metrics:?}, probes {probes}, monitors that do not know {unproved}");
        let _ = writeln!(out, "{digests}");
    }

    /// Prints one history: a digest of all that is seen, and the verdict and the premises of each rule.
    fn print_line(&mut self, title: &str, out: &mut String) {
        let digests = self.digests();
        let rules = self.rules.iter().filter(|(_, tally)| tally.premises + tally.findings > 0);
        let said = rules.map(|(rule, tally)| {
            let broken = tally.verdicts.keys().find(|verdict| **verdict > Verdict::Pass);
            let broken = broken.map_or_else(String::new, |verdict| format!(" {verdict} {}", tally.findings));
            format!("{} {}{broken}", rule.name(), tally.premises)
        });
        let said = said.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "{title}: {digests}, unknown {}\n  {said}", self.unknown + self.unproved);
    }
}

/// A recorded history, and the name of its file without the ending.
pub struct Recorded {
    pub name: String,
    pub history: History,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The files of a folder with this ending, in the order of their names: the name without the ending, and the text.
fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a file can be read"))
    };
    files.iter().map(read).collect()
}

/// The recorded histories of a folder, in the order of their names.
pub fn recorded(folder: &Path) -> Vec<Recorded> {
    let read = |(name, text): (String, String)| {
        let history = jsonl::read(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}")).history;
        Recorded { name, history }
    };
    files(folder, "jsonl").into_iter().map(read).collect()
}

/// The histories that are damaged in many places. All tests read them once.
static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| recorded(&folder()));

/// The places at which a history is damaged: each way has its own, as far as there are enough.
fn places(history: &History, way: usize) -> impl Iterator<Item = usize> {
    let count = history.events.len();
    let step = count.div_ceil(PLACES).max(1);
    (way % step..count).step_by(step)
}

/// Applies an edit at an existing place.
fn edited(history: &History, edit: &Edit) -> History {
    edit.apply(history.clone()).expect("the place is there")
}

/// The tables of a kind of object.
fn said_of(kind: Option<Kind>) -> String {
    let histories: Vec<&History> = RECORDED
        .iter()
        .map(|recorded| &recorded.history)
        .filter(|history| history.objects.first().map(|object| object.kind) == kind)
        .collect();
    let mut told = String::new();
    let mut tell = |title: &str, captured: bool, rules: &RuleSet| {
        let mut said = Said::default();
        for history in &histories {
            let captured = captured.then(|| edited(history, &Edit::Captured));
            said.take(&judge(captured.as_ref().unwrap_or(history), rules));
        }
        let digests = format!("  {}\n", said.digests());
        said.print(title, &digests, &mut told);
    };
    let all = RuleSet::all();
    tell("as recorded", false, &all);
    tell("from outside", false, &RuleSet::black_box());
    tell("as captured", true, &all);
    let (mut said, mut digests) = (Said::default(), String::new());
    for (number, (way, title)) in WAYS.into_iter().enumerate() {
        for history in histories.iter().copied() {
            places(history, number)
                .for_each(|at| said.take(&judge(&edited(history, &way(history, at)), &all)));
        }
        let _ = writeln!(digests, "  {title}: {}", said.digests());
    }
    for history in &histories {
        in_other_words(history, places(history, 0))
            .iter()
            .for_each(|damaged| said.take(&judge(damaged, &all)));
    }
    let _ = writeln!(digests, "  one word of an event is another one: {}", said.digests());
    said.print("damaged", &digests, &mut told);
    told
}

/// The verdicts on the histories of `edited`: few events each, at places where it matters how exactly a rule counts,
/// compares, or checks a bound.
#[test]
fn edited_as_written() {
    let mut told = String::new();
    for (name, text) in files(&folder().join("edited"), "txt") {
        let history = text::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(text::write(&history), text, "{name} is as it is written");
        let mut said = Said::default();
        said.take(&judge(&history, &RuleSet::all()));
        said.print_line(&name, &mut told);
    }
    insta::assert_snapshot!(told);
}

macro_rules! kinds {
    ($($name:ident: $kind:expr;)+) => { $(
        #[test]
        fn $name() {
            insta::assert_snapshot!(said_of($kind));
        }
    )+ };
}

kinds! {
    no_object: None;
    lock: Some(Kind::Lock);
    shared_lock: Some(Kind::SharedLock);
    revocable_lock: Some(Kind::RevocableLock);
    priority_lock: Some(Kind::PriorityLock);
    election: Some(Kind::Election);
    barrier: Some(Kind::Barrier);
    double_barrier: Some(Kind::DoubleBarrier);
    queue: Some(Kind::Queue);
    priority_queue: Some(Kind::PriorityQueue);
    two_phase_commit: Some(Kind::TwoPhaseCommit);
    names: Some(Kind::Names);
    config: Some(Kind::Config);
    group: Some(Kind::Group);
}
