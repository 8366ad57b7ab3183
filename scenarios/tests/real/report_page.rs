//! The page of a run in a browser: it comes up without an error, shows what it should, and runs nothing that a trace says.
//!
//! Where no Chromium is installed the tests say so and pass, unless `ZK_REQUIRE_BROWSER=1` asks for them.

use std::path::Path;
use std::process::Command;
use zk_checker::history::{History, Names};
use zk_harness::run::{self, Run};
use zk_report::{Other, Shown, Source, page};

/// What a browser has made of a page.
struct Opened {
    /// The document when it had come to rest.
    dom: String,
    /// What it said about it.
    said: String,
}

impl Opened {
    /// How often something stands in the document.
    fn count(&self, what: &str) -> usize {
        self.dom.matches(what).count()
    }

    fn shows(&self, what: &str) {
        assert!(self.dom.contains(what), "{what:?} is not shown; the browser said {}", self.said);
    }

    fn came_up(&self) {
        self.shows("data-ready=\"yes\"");
        assert!(!self.said.contains("CONSOLE"), "{}", self.said);
    }
}

/// The browser, if there is one: `ZK_CHROMIUM`, or what Debian and Google call it.
fn browser() -> Option<String> {
    let named = std::env::var("ZK_CHROMIUM").ok();
    let names = named.into_iter().chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// Opens a page at that place of it, or says that no browser is there.
fn open(page: &str, place: &str, size: &str, more: &[&str]) -> Option<Opened> {
    let Some(browser) = browser() else {
        let required = std::env::var_os("ZK_REQUIRE_BROWSER").is_some_and(|value| value == "1");
        assert!(!required, "no Chromium is installed");
        crate::common::left_out("no Chromium is installed", "ZK_REQUIRE_BROWSER");
        return None;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("run.html");
    std::fs::write(&file, page).expect("it can be written");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--force-prefers-reduced-motion",
            &format!("--window-size={size}"),
        ])
        .arg(format!("--user-data-dir={}", profile(folder.path())))
        .args(more)
        .arg(format!("file://{}#{place}", file.display()))
        .output()
        .expect("the browser runs");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(Opened { dom, said: String::from_utf8_lossy(&output.stderr).into_owned() })
}

fn profile(folder: &Path) -> String {
    folder.join("profile").display().to_string()
}

fn recorded(name: &str, seed: u64) -> Run {
    let workload = zk_catalogue::find(name).expect("it exists");
    run::seed(workload, &workload.plan(seed), seed)
}

fn page_of(run: &Run, history: &History, title: &str, beside: Option<&Other>) -> String {
    let source = Source { title: title.to_owned(), choices: run.choices.clone(), ..Source::default() };
    page(&Shown { history, report: &run.report, verdict: run.verdict(), source: &source, beside })
}

/// The page of the first seed of a workload that fails.
fn failing(name: &str) -> Run {
    (1..200).map(|seed| recorded(name, seed)).find(|run| run.report.first().is_some()).expect("one fails")
}

#[test]
fn its_scripts_can_be_parsed() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("report/src/assets");
    for name in ["model.js", "chart.js", "panels.js", "report.js"] {
        match Command::new("node").arg("--check").arg(assets.join(name)).output() {
            Ok(checked) => assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr)),
            Err(_) if std::env::var_os("ZK_REQUIRE_NODE").is_none_or(|value| value != "1") => {
                return crate::common::left_out("no Node.js is installed", "ZK_REQUIRE_NODE");
            }
            Err(e) => panic!("no Node.js is installed: {e}"),
        }
    }
}

#[test]
fn a_broken_run_is_shown_with_what_led_to_it() {
    let run = failing("lock-no-guid");
    let finding = run.report.first().expect("it fails");
    let Some(opened) = open(&page_of(&run, &run.history, "a broken lock", None), "", "1400,4000", &[]) else {
        return;
    };
    opened.came_up();
    opened.shows(&format!("</span>{}</h2>", finding.rule.promise()));
    opened.shows("<h1 id=\"title\">a broken lock</h1>");
    assert_eq!(opened.count("class=\"tag\""), finding.witnesses.len(), "the cited events are marked");
    // The legend has one of each.
    assert!(opened.count("class=\"message request") > 1 && opened.count("class=\"belief") > 1);
    opened.shows(&format!("of {} events", run.history.events.len()));
}

#[test]
fn every_tab_has_what_it_names() {
    let run = failing("two-phase-commit-time-out-aborts");
    let other = recorded("two-phase-commit", 1);
    let other = Other { title: "the right one".to_owned(), verdict: other.verdict(), history: other.history };
    let page = page_of(&run, &run.history, "two phases", Some(&other));
    let Some(opened) = open(&page, "tab=rules&theme=dark&show=all", "800,1200", &[]) else { return };
    opened.came_up();
    opened.shows("data-theme=\"dark\"");
    for row in &run.report.rows {
        opened.shows(&format!("<strong>{}</strong>", row.rule.title()));
    }
    opened.shows("<h2>Only in this run <small>");
    opened.shows("<h2>By object and operation</h2>");
    opened.shows("choices were made");
}

#[test]
fn nothing_that_a_trace_says_is_run() {
    let run = failing("lock-no-guid");
    let hostile = "</script><img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>\u{202e}\u{7}";
    let mut history = run.history.clone();
    history.header.clients.iter_mut().for_each(|name| name.push_str(hostile));
    let mut names = Names::default();
    run.history.names.iter().for_each(|text| _ = names.intern(&format!("{text}{hostile}")));
    history.names = names;
    for place in ["", "tab=cost&show=all", "tab=run"] {
        let Some(opened) = open(&page_of(&run, &history, hostile, None), place, "1400,2000", &[]) else {
            return;
        };
        opened.came_up();
        assert!(!opened.dom.contains("<title>taken") && !opened.dom.contains("<img"), "it was run");
        assert_eq!(opened.count("<script"), 2, "there are two scripts, the page's own");
        opened.shows("\\u{202e}\\u{7}");
    }
}

#[test]
fn of_a_long_run_only_what_can_be_seen_is_in_the_document_and_the_rest_is_counted() {
    let workload = zk_catalogue::find("lock").expect("it exists");
    let mut plan = workload.plan(1);
    (plan.clients, plan.rounds, plan.faults) = (8, 60, 3);
    let run = run::seed(workload, &plan, 1);
    let events = run.history.events.len();
    assert!(events > 10_000, "{events} events are not many");
    let Some(opened) = open(&page_of(&run, &run.history, "a long run", None), "show=all", "1400,1000", &[])
    else {
        return;
    };
    opened.came_up();
    let rows = opened.count("data-event=");
    assert!(rows > 10 && rows < 200, "{rows} rows are in the document");
    let digits = events.to_string();
    let (thousands, rest) = digits.split_at(digits.len() - 3);
    opened.shows(&format!("{thousands},{rest} of {thousands},{rest} events"));
}

#[test]
fn keys_move_from_event_to_event_and_open_what_they_name() {
    let run = failing("lock-no-guid");
    let finding = run.report.first().expect("it fails");
    let press = |keys: &str| {
        let presses =
            "for (const key of KEYS) dispatchEvent(Object.assign(new KeyboardEvent('keydown', { key })))";
        let presses = presses
            .replace("dispatchEvent", "document.body.dispatchEvent")
            .replace("'keydown', {", "'keydown', { bubbles: true,");
        let script = format!("<script>{}</script></body>", presses.replace("KEYS", keys));
        let page = page_of(&run, &run.history, "keys", None);
        open(&page.replace("</body>", &script), "", "1400,2000", &[])
    };
    let selected = |opened: &Opened| {
        let row = opened.dom.split("aria-selected=\"true\" aria-posinset").next().unwrap_or_default();
        let (_, event) = row.rsplit_once("data-event=\"").expect("an event is selected");
        event.split('"').next().and_then(|event| event.parse::<usize>().ok()).expect("it has a number")
    };
    let Some(opened) = press("['Home', 'b']") else { return };
    opened.came_up();
    assert_eq!(selected(&opened), finding.position, "b goes back to the breach");
    let back = selected(&press("['ArrowLeft']").expect("there is a browser"));
    assert!(back < finding.position, "{back} comes before {}", finding.position);
    let first = selected(&press("['s', 'Home']").expect("there is a browser"));
    assert_eq!(first, 0, "of all events the first");
    let cost = press("['3', 't']").expect("there is a browser");
    cost.shows("id=\"panel-story\" role=\"tabpanel\" aria-labelledby=\"tab-story\" hidden");
    cost.shows("data-theme=\"light\"");
    press("['?']").expect("there is a browser").shows("id=\"help\" aria-label=\"Keys\" open");
}
