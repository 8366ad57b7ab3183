//! The mistakes that people make: one clear sentence, the right exit status, nothing broken.

use std::process::{Command, Output};

fn zksim(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Command::new(env!("CARGO_BIN_EXE_zksim"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("the program runs")
}

fn says(arguments: &[&str], status: i32, sentence: &str) {
    let output = zksim(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert!(said.contains(sentence), "{arguments:?} said {said:?}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_wrong_name_gets_the_nearest_right_one() {
    says(
        &["sweep", "lokc"],
        3,
        r#"there is no workload, mutant or story called "lokc"; did you mean "lock"?"#,
    );
    says(
        &["mutants", "lock-no-giud"],
        3,
        r#"there is no mutant called "lock-no-giud"; did you mean "lock-no-guid"?"#,
    );
    says(&["run", "calm-handover"], 3, r#"did you mean "calm-hand-over"?"#);
    says(&["run", "zebra"], 3, "`cargo sim list` lists all of them");
}

#[test]
fn a_bad_number_is_named() {
    says(&["run", "lock", "--seed", "many"], 3, "invalid value 'many' for '--seed <SEED>'");
    says(&["sweep", "--seeds", "0"], 3, "--seeds must be at least 1");
    says(&["mutants", "--seeds", "0"], 3, "--seeds must be at least 1");
    says(&["mutants", "--jobs", "0"], 3, "--jobs must be at least 1");
    says(&["sweep", "--jobs", "0"], 3, "--jobs must be at least 1");
    says(&["sweep", "--shard", "4/4"], 3, "is not a shard such as 0/4");
    says(&["sweep", "--budget", "soon"], 3, "is not a duration such as 500ms, 60s or 5m");
}

#[test]
fn a_plan_that_cannot_be_read_or_makes_no_sense_is_refused() {
    says(&["run", "lock", "--plan", "nowhere.json"], 3, "cannot read the plan nowhere.json");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("plan.json");
    let plan = path.to_string_lossy().into_owned();
    std::fs::write(&path, "{").expect("it can be written");
    says(&["run", "lock", "--plan", &plan], 3, "is not a plan");
    let text = r#"{"clients": 3, "rounds": 2, "timeout_ms": 6000, "hostile_ms": 30000, "faults": 3, "rates": {"gremlins": 0.1}}"#;
    std::fs::write(&path, text).expect("it can be written");
    says(
        &["run", "lock", "--plan", &plan],
        3,
        r#"there is no fault called "gremlins"; the kinds are request-lost,"#,
    );
}

#[test]
fn a_code_that_is_none_is_refused() {
    says(&["replay", "nonsense"], 3, r#""nonsense" is neither a file nor the code of a run"#);
}

#[test]
fn the_exit_status_is_the_verdict() {
    assert_eq!(zksim(&["run", "lock", "--seed", "1"]).status.code(), Some(0));
    assert_eq!(zksim(&["sweep", "lock-watch-all", "--seeds", "20"]).status.code(), Some(1));
    let few = zksim(&["sweep", "lock", "--seeds", "1"]);
    assert_eq!(few.status.code(), Some(2), "one seed cannot have seen every fault");
    assert!(String::from_utf8_lossy(&few.stdout).contains("no evidence"));
    let calm =
        r#"{"clients": 1, "rounds": 1, "timeout_ms": 6000, "hostile_ms": 0, "faults": 0, "rates": {}}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plan = folder.path().join("plan.json");
    std::fs::write(&plan, calm).expect("it can be written");
    let alone = ["sweep", "lock", "--seeds", "5", "--plan", &plan.to_string_lossy()];
    let text = zksim(&alone);
    assert_eq!(text.status.code(), Some(2), "a client that nothing happens to is never told to stop");
    let said = String::from_utf8_lossy(&text.stdout);
    assert!(said.contains("no evidence (vacuous): MX-14 was never tested"), "{said}");
    let json = zksim(&[&alone[..], &["--format", "json"]].concat());
    assert_eq!(json.status.code(), Some(2));
    let line =
        r#"{"faults":[],"kind":"unproved","probes":[],"rules":["MX-14"],"sometimes":[],"workload":"lock"}"#;
    let said = String::from_utf8_lossy(&json.stdout);
    assert!(said.lines().any(|said| said == line), "{said}");
    assert_eq!(zksim(&["list"]).status.code(), Some(0));
    assert_eq!(zksim(&["--help"]).status.code(), Some(0));
    assert_eq!(zksim(&[]).status.code(), Some(3));
}

#[test]
fn list_says_what_sweeps_exercise() {
    let text = String::from_utf8(zksim(&["list", "--coverage"]).stdout).expect("text");
    for line in ["  lock acquire ", "  Naming::Curator  ", "  Runtime::guid"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let json = String::from_utf8(zksim(&["list", "--coverage", "--format", "json"]).stdout).expect("text");
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let acquire = lines.iter().find(|line| line["id"] == "lock acquire").expect("the acquire of the lock");
    assert_eq!((&acquire["kind"], &acquire["endings"][0]), (&"operation".into(), &"done".into()));
    assert_eq!(zksim(&["list", "--coverage", "--promises"]).status.code(), Some(3));
}

#[test]
fn list_says_what_judges_each_promise() {
    let text = String::from_utf8(zksim(&["list", "--promises"]).stdout).expect("text");
    let acquire = "Lock::acquire\n  called by  lock, many-holds\n    judged by  MX-4,";
    assert!(text.contains(acquire), "{text}");
    assert!(text.contains(" Judged by nothing, methods and sentences: 0."), "{text}");
    let json = String::from_utf8(zksim(&["list", "--promises", "--format", "json"]).stdout).expect("text");
    let promises: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let effects = promises
        .iter()
        .find(|promise| promise["of"][0] == "Lock" && promise["judged_by"][0] == "MX-1")
        .expect("the first promise of the lock");
    assert_eq!(effects["heading"], "Promises");
    assert_eq!(effects["shown_by"][0], "lock-resource-ignores-tokens");
    assert!(promises.iter().all(|promise| promise["kind"] == "promise"));
    assert!(effects["says"].as_str().expect("a sentence").starts_with("*Effects.* Through "));
}

#[test]
fn list_makes_a_page_of_the_promises() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("promises.md");
    let listed = zksim(&["list", "--promises", "--page", page.to_str().expect("a path")]);
    assert_eq!((listed.status.code(), listed.stdout.len()), (Some(0), 0));
    let text = std::fs::read_to_string(&page).expect("a page");
    let row = "| Promises: *Order.* Grants follow the order in which the znodes were created, among contenders that do not give up. | MX-6,";
    assert!(text.contains(row) && text.contains("Every promise of the list has a judge."), "{text}");
    assert_eq!(zksim(&["list", "--page", "promises.md"]).status.code(), Some(3));
}

#[test]
fn a_sweep_tells_what_each_failed_run_has_found() {
    let swept = zksim(&["sweep", "lock-watch-all", "--seeds", "5", "--format", "json"]);
    let text = String::from_utf8(swept.stdout).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("an object a line"));
    let runs: Vec<serde_json::Value> =
        lines.filter(|line: &serde_json::Value| line["kind"] == "run").collect();
    assert!(!runs.is_empty(), "{text}");
    for run in runs {
        let finding = &run["findings"][0];
        assert_eq!((&finding["rule"], &finding["verdict"]), (&run["rule"], &"fail".into()), "{run}");
        assert!(finding["text"].as_str().is_some_and(|text| text.contains("because")), "{run}");
    }
}

#[test]
fn mutants_writes_its_table_only_where_there_is_a_place_for_it() {
    says(&["mutants", "--write-readme=nowhere.md"], 3, "cannot read nowhere.md");
    says(&["mutants", "lock", "--write-readme=nowhere.md"], 3, "--write-readme needs all mutants");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("README.md");
    std::fs::write(&path, "no table").expect("it can be written");
    says(&["mutants", &format!("--write-readme={}", path.display())], 3, "has no place for the table");
}

#[test]
fn mutants_says_of_each_mutant_whether_it_is_killed() {
    let caught = zksim(&["mutants", "lock-watch-all", "--seeds", "20"]);
    let said = String::from_utf8_lossy(&caught.stdout);
    assert_eq!(caught.status.code(), Some(0), "{said}");
    assert!(said.contains("mutation score: 1 of 1 killed by their rule, on 20 seeds each"), "{said}");
    assert!(said.contains("no herd, by a black-box judge"), "{said}");
    // This seed has no lost reply.
    let missed = zksim(&["mutants", "lock-no-guid", "--seeds", "1", "--format", "json"]);
    assert_eq!(missed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&missed.stdout);
    assert!(said.contains(r#""verdict":"missed""#), "{said}");
}

#[test]
fn a_failure_says_how_to_see_it_again_and_its_command_does() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_zksim"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("the program runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("it prints text"))
    };
    let (status, said) = run(&["sweep", "lock-no-guid", "--seeds", "100"]);
    assert_eq!(status, Some(1));
    let command = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("exactly"))
        .and_then(|command| command.trim().strip_prefix("cargo sim "))
        .expect("it names the command");
    let (status, again) = run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(status, Some(1));
    let promise = |text: &str| text.lines().find(|line| line.contains("MX-9  one znode")).map(str::to_owned);
    assert!(promise(&said).is_some(), "{said}");
    assert_eq!(promise(&said), promise(&again));
    assert!(again.contains("hash"), "{again}");
}

#[test]
fn a_page_is_not_written_over_without_being_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("run.html").to_string_lossy().into_owned();
    let run = ["run", "lock", "--seed", "1", "--html", &page];
    let written = zksim(&run);
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    let first = std::fs::read(&page).expect("the page is there");
    says(&run, 3, "exists already; --force writes over it");
    std::fs::write(&page, "something else").expect("it can be written");
    assert_eq!(zksim(&[&run[..], &["--force"]].concat()).status.code(), Some(0));
    assert_eq!(std::fs::read(&page).expect("the page is there"), first, "in another process, the same page");
    says(&["run", "lock", "--html", &folder.path().to_string_lossy()], 3, "is a folder; --html names a file");
    says(&["run", "lock", "--html", "no/such/folder/run.html"], 3, "cannot write no/such/folder/run.html");
    says(&["run", "lock", "--beside", "x"], 3, "--html <FILE>");
    says(&[&run[..], &["--force", "--beside", "x"]].concat(), 3, "is neither a file nor the code of a run");
}

#[test]
fn the_history_of_any_run_can_be_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (kept, again) = (file("kept.jsonl"), file("again.jsonl"));
    let run = ["run", "lock", "--seed", "3", "--history", &kept];
    assert_eq!(zksim(&run).status.code(), Some(0));
    let judged = zksim(&["judge", &kept]);
    assert_eq!(judged.status.code(), Some(0), "{judged:?}");
    let first = std::fs::read(&kept).expect("the history is there");
    says(&run, 3, "exists already; remove it, or choose another name");
    assert_eq!(std::fs::read(&kept).expect("it still is"), first);
    let kept_regression = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions/confirmed-unread.json");
    let replayed = zksim(&["replay", kept_regression, "--history", &again]);
    assert_eq!(replayed.status.code(), Some(1), "a mutant of the queue: {replayed:?}");
    assert_eq!(zksim(&["judge", &again]).status.code(), Some(1));
    let story = zksim(&["run", "names-lost-reply", "--history", &file("story.jsonl")]);
    assert_eq!(story.status.code(), Some(0), "{story:?}");
    assert_eq!(zksim(&["judge", &file("story.jsonl")]).status.code(), Some(0));
    says(&["run", "lock", "--history", "no/such/folder/x"], 3, "cannot write no/such/folder/x");
}

#[test]
fn a_slice_is_drawn_where_one_is_asked_for() {
    let sliced = zksim(&["run", "lock-no-guid", "--seed", "2", "--trace=slice"]);
    let said = String::from_utf8_lossy(&sliced.stdout);
    assert_eq!(sliced.status.code(), Some(1), "{said}");
    assert!(said.contains("the causes of MX-9") && said.contains('✖'), "{said}");
    assert!(!said.contains('\u{1b}'), "no escape sequence goes into a pipe");
    let whole = zksim(&["run", "lock-no-guid", "--seed", "2", "--trace"]);
    assert!(!String::from_utf8_lossy(&whole.stdout).contains("the causes of"));
    says(&["run", "lock", "--trace=half"], 3, "invalid value 'half' for '--trace");
}
