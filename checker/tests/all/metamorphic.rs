//! Changes that must not change a verdict: other names, another unit of time, other objects, another written form, and
//! judging at once or event by event.
//!
//! Each test is one change, applied to all histories: those of the trace edits, and damaged ones from a seeded
//! generator.

use crate::common::history;
use crate::trace_edits::rows;
use zk_checker::history::*;
use zk_checker::{Judge, Layer, Report, RuleId, RuleSet, Verdict, jsonl, judge, judge_stored, text};

// ── histories ──

/// A drawn number; the same sequence in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below a length")
    }
}

/// The histories without a breach.
fn passing() -> Vec<History> {
    let mut texts: Vec<String> = rows::all().into_iter().map(|row| row.from).collect();
    texts.sort_unstable();
    texts.dedup();
    let silent = |history: &History| judge(history, &RuleSet::all()).verdict() < Verdict::Fail;
    texts.iter().map(|text| history(text)).filter(silent).collect()
}

/// All of them, and three damaged versions of each: an event is missing, doubled, swapped with another one, or
/// everything from it on is delayed by about the settle time.
fn all() -> Vec<History> {
    let mut draw = Draw(0x5eed);
    let mut all = Vec::new();
    for row in rows::all() {
        for text in [row.from, row.to] {
            let whole = history(&text);
            for _ in 0..3 {
                let mut damaged = whole.clone();
                let (one, other) = (draw.below(whole.events.len()), draw.below(whole.events.len()));
                let (at, of_other) = (whole.events[one].at, whole.events[other]);
                match draw.below(4) {
                    0 => drop(damaged.events.remove(one)),
                    1 => damaged.events.insert(one, Event { at, ..of_other }),
                    2 => {
                        let late = [500, 1000, 1500][draw.below(3)];
                        damaged.events[one..].iter_mut().for_each(|event| event.at += late);
                    }
                    _ => {
                        damaged.events[other] = Event { at: of_other.at, ..whole.events[one] };
                        damaged.events[one] = Event { at, ..of_other };
                    }
                }
                all.push(damaged);
            }
            all.push(whole);
        }
    }
    all
}

fn judged(history: &History) -> Report {
    judge(history, &RuleSet::all())
}

/// The content of a report without names and times: rule, object, verdict, and place.
fn told(report: &Report) -> (Vec<String>, Vec<String>) {
    let rows = report
        .rows
        .iter()
        .map(|row| format!("{} {:?} {} {}", row.rule, row.object, row.verdict, row.findings));
    let findings = report.findings.iter().map(|f| {
        format!("{} {:?} {} e{} {} {:?}", f.rule, f.object, f.verdict, f.position, f.secondary, f.witnesses)
    });
    (rows.collect(), findings.collect())
}

#[track_caller]
fn same(before: &History, after: &History) {
    let (first, second) = (judged(before), judged(after));
    assert_eq!(
        told(&first),
        told(&second),
        "before:\n{first}{}after:\n{second}{}",
        text::write(before),
        text::write(after)
    );
}

/// An event with new numbers, chosen by the name of each field.
fn with(what: What, new: impl Fn(&str, u64) -> u64) -> What {
    let mut value = serde_json::to_value(what).expect("an event can be written");
    let fields = value.as_object_mut().expect("an event has fields");
    for (field, value) in fields.iter_mut() {
        if let Some(number) = value.as_u64() {
            *value = new(field, number).into();
        }
    }
    serde_json::from_value(value).expect("it was an event before")
}

fn with_all(history: &History, new: impl Fn(&str, u64) -> u64) -> History {
    let events = history.events.iter().map(|event| Event { what: with(event.what, &new), ..*event });
    History { events: events.collect(), ..history.clone() }
}

// ── names ──

/// The clients in another order, with other names.
fn with_other_clients(history: &History) -> History {
    let many = history.header.clients.len() as u64;
    let other = |client: u64| if client < many { many - 1 - client } else { client };
    let mut new = with_all(history, |field, number| if field == "client" { other(number) } else { number });
    new.header.clients = (0..many).rev().map(|client| format!("z{client}")).collect();
    for event in &mut new.events {
        if let Who::Client(client) = event.who {
            event.who = Who::Client(u16::try_from(other(client.into())).expect("it was one before"));
        }
    }
    new
}

/// The sessions in another order.
fn with_other_sessions(history: &History) -> History {
    with_all(history, |field, number| match field {
        "session" | "owner" | "by" if (1..=9).contains(&number) => 10 - number,
        _ => number,
    })
}

/// The objects elsewhere, and all texts in another order.
fn with_other_paths(history: &History) -> History {
    let roots: Vec<&str> = history.objects.iter().filter_map(|o| history.names.get(o.path)).collect();
    let moved = |name: &str| {
        let root = roots.iter().find(|root| name == **root || name.starts_with(&format!("{root}/")));
        root.map_or(name.to_owned(), |root| format!("/elsewhere{}", &name[root.len()..]))
    };
    let mut names = Names::default();
    let texts: Vec<&str> = history.names.iter().collect();
    for name in texts.iter().rev() {
        names.intern(&moved(name));
    }
    let sym = |number: u64| {
        let of = u32::try_from(number).ok().and_then(|number| history.names.get(Sym(number)));
        of.and_then(|name| names.find(&moved(name))).expect("it was interned")
    };
    let mut new = with_all(history, |field, number| match field {
        "path" | "text" => sym(number).0.into(),
        _ => number,
    });
    for object in &mut new.objects {
        object.path = sym(object.path.0.into());
    }
    new.names = names;
    new
}

#[test]
fn clients_may_have_other_names() {
    all().iter().for_each(|history| same(history, &with_other_clients(history)));
}

#[test]
fn sessions_may_have_other_numbers() {
    // The digest of an ephemeral's stat contains its owner.
    let shows = |history: &&History| !history.events.iter().any(|e| matches!(e.what, What::Found { .. }));
    all().iter().filter(shows).for_each(|history| same(history, &with_other_sessions(history)));
}

#[test]
fn paths_may_be_others() {
    all().iter().for_each(|history| same(history, &with_other_paths(history)));
}

// ── time ──

/// All durations and all limits are multiplied.
fn slower(history: &History, times: u64) -> History {
    let mut new = with_all(history, |field, number| match field {
        "limit" | "until" | "heard" | "lasts" | "timeout" => number * times,
        _ => number,
    });
    new.events.iter_mut().for_each(|event| event.at *= times);
    let header = &mut new.header;
    for bound in [
        &mut header.tick,
        &mut header.timeout,
        &mut header.election,
        &mut header.round_trip,
        &mut header.settle,
    ] {
        *bound *= times;
    }
    for object in &mut new.objects {
        object.margin *= times;
        object.manner.grace *= times;
    }
    new
}

#[test]
fn time_has_no_unit() {
    for history in all() {
        same(&history, &slower(&history, 3));
    }
}

// ── other objects ──

/// One more client repeatedly waits at a barrier that does not exist, after each call of another client.
fn with_another_object(history: &History) -> History {
    let mut new = History { events: vec![], ..history.clone() };
    let path = new.names.intern("/somewhere-else");
    let object = ObjectId(u16::try_from(new.objects.len()).expect("there are few"));
    new.objects.push(Object::plain(Kind::Barrier, path));
    let who = Who::Client(u16::try_from(new.header.clients.len()).expect("there are few"));
    new.header.clients.push("foreign".to_owned());
    let session = Session(40);
    for (number, event) in history.events.iter().enumerate() {
        let number = u32::try_from(number).expect("there are few");
        if matches!(event.what, What::Call { .. }) {
            let (op, req) = (OpId(1000 + number), ReqId(1000 + number));
            let at = event.at;
            let mut does = |op, what| new.events.push(Event { at, op, who, what });
            let (state, conn) = (SessionState::Connected, Conn(0));
            does(OpId(0), What::State { session, state, conn, server: 0 });
            does(op, What::Call { object, verb: Verb::Wait, limit: 0 });
            let kind = Request::Children;
            does(op, What::Send { req, kind, watch: true, cleanup: false, path });
            does(op, What::Reply { req, code: Code::NoNode, zxid: 0, conn });
            does(op, What::Return { outcome: Outcome::Done, failure: Failure::None });
        }
        new.events.push(*event);
    }
    new
}

/// The verdicts about one object. About the whole history, only breaches: its premises are more.
fn told_of(report: &Report, object: Option<ObjectId>) -> Vec<String> {
    let rows = report.rows.iter().filter(|row| row.object == object);
    let rows = rows.filter(|row| object.is_some() || row.verdict > Verdict::Pass);
    rows.map(|row| match object {
        Some(_) => format!("{} {} {} {}", row.rule, row.verdict, row.premises, row.findings),
        None => format!("{} {} {}", row.rule, row.verdict, row.findings),
    })
    .collect()
}

#[test]
fn an_object_does_not_know_another() {
    for history in all() {
        let new = with_another_object(&history);
        let (before, after) = (judged(&history), judged(&new));
        for object in (0..history.objects.len()).map(|at| Some(ObjectId(at as u16))).chain([None]) {
            assert_eq!(
                told_of(&before, object),
                told_of(&after, object),
                "{before}\n{after}\n{}",
                text::write(&new)
            );
        }
    }
}

/// Two captures merged: clients, objects and so on of the second get other numbers.
fn together(one: &History, other: &History) -> History {
    let mut new = one.clone();
    let (clients, objects) = (one.header.clients.len() as u64, one.objects.len() as u64);
    let more = |field: &str| match field {
        "client" => clients,
        "object" => objects,
        "session" | "owner" | "by" | "conn" => 20,
        "req" => 500,
        _ => 0,
    };
    let moved = |name: &str| if name.starts_with('/') { format!("/second{name}") } else { name.to_owned() };
    let syms: Vec<u32> = other.names.iter().map(|name| new.names.intern(&moved(name)).0).collect();
    let moved = with_all(other, |field, number| match field {
        "path" | "text" => syms[usize::try_from(number).expect("a symbol")].into(),
        "session" | "owner" | "by" | "conn" if number == 0 => 0,
        _ => number + more(field),
    });
    new.header.clients.extend(other.header.clients.iter().map(|name| format!("second-{name}")));
    new.objects.extend(
        other.objects.iter().map(|object| Object { path: Sym(syms[object.path.0 as usize]), ..*object }),
    );
    for mut event in moved.events {
        if let Who::Client(client) = &mut event.who {
            *client += clients as u16;
        }
        if event.op != OpId(0) {
            event.op.0 += 500;
        }
        new.events.push(event);
    }
    // Stable: events of one capture at the same time keep their order.
    new.events.sort_by_key(|event| event.at);
    new
}

#[test]
fn a_history_of_two_objects_is_one_of_each() {
    let alone = |history: &History| {
        history.header.mode == Mode::Client
            && history.events.iter().all(|event| event.who != Who::World)
            && !judged(history).is_malformed()
    };
    let captures: Vec<History> = all().into_iter().filter(alone).collect();
    assert!(captures.len() > 20, "there are {} captures", captures.len());
    for (at, one) in captures.iter().enumerate() {
        let other = &captures[(at * 7 + 3) % captures.len()];
        let both = together(one, other);
        let report = judged(&both);
        for (object, alone) in [(0, one), (one.objects.len(), other)] {
            let part = judged(alone);
            assert_eq!(
                told_of(&part, Some(ObjectId(0))),
                told_of(&report, Some(ObjectId(object as u16))),
                "{part}\n{report}\n{}",
                text::write(&both)
            );
        }
    }
}

// ── less of it ──

#[test]
fn no_prefix_of_what_is_right_is_wrong() {
    for whole in passing() {
        for end in 0..whole.events.len() {
            let mut prefix = whole.clone();
            prefix.events.truncate(end);
            let report = judged(&prefix);
            let unsafe_now =
                report.findings.iter().find(|f| f.verdict == Verdict::Fail && f.layer <= Layer::Safety);
            assert!(unsafe_now.is_none(), "the first {end} events\n{report}\n{}", text::write(&prefix));
        }
    }
}

/// Without requests of no operation, and without their results.
fn without_idle_reads(history: &History) -> History {
    let is_read = |kind| {
        matches!(kind, Request::Sync | Request::Exists | Request::Get | Request::Children | Request::GetAcl)
    };
    let reads: Vec<ReqId> = history
        .events
        .iter()
        .filter_map(|event| match event.what {
            What::Send { req, kind, watch: false, .. } if event.op == OpId(0) && is_read(kind) => Some(req),
            _ => None,
        })
        .collect();
    let mut found = false;
    let mut stays = |event: &&Event| match event.what {
        What::Found { .. } => !found,
        What::Send { req, .. } | What::Reply { req, .. } | What::Lost { req } | What::Barrier { req, .. } => {
            !reads.contains(&req)
        }
        What::Served { req, .. } => {
            found = reads.contains(&req);
            !found
        }
        _ => true,
    };
    let events = history.events.iter().filter(|event| stays(event)).copied().collect();
    History { events, ..history.clone() }
}

/// Without the servers' records of reads.
fn without_what_was_served(history: &History) -> History {
    let tells = |event: &&Event| matches!(event.what, What::Served { .. } | What::Found { .. });
    let events = history.events.iter().filter(|event| !tells(event)).copied().collect();
    History { events, ..history.clone() }
}

#[test]
fn what_nobody_needs_may_be_missing() {
    for whole in passing() {
        for less in [without_idle_reads(&whole), without_what_was_served(&whole)] {
            let (before, after) = (judged(&whole), judged(&less));
            for rule in RuleId::ALL.iter().copied() {
                assert!(
                    after.of(rule) <= before.of(rule).join(Verdict::Pass),
                    "{rule}\n{after}\n{}",
                    text::write(&less)
                );
            }
        }
    }
}

// ── forms ──

#[test]
fn both_written_forms_give_the_same_report() {
    for history in all() {
        let report = judged(&history);
        let text = text::write(&history);
        assert_eq!(judged(&text::parse(&text).expect("it parses back")), report, "{text}");
        let mut lines = Vec::new();
        jsonl::write(&history, &mut lines).expect("writing to memory cannot fail");
        let in_order = history.events.is_sorted_by_key(|event| event.at);
        match jsonl::read(lines.as_slice()) {
            Ok(stored) => assert_eq!(judge_stored(&stored, &RuleSet::all()), report, "{text}"),
            Err(e) => assert!(!in_order, "{e}\n{text}"),
        }
    }
}

/// The texts of a run become known one after the other.
#[test]
fn judging_event_by_event_is_judging() {
    // A judge of its own judges the reports of foreign programs, and needs complete histories.
    let is_ours = |history: &History| !history.objects.iter().any(|object| object.manner.reported);
    for history in all().into_iter().filter(is_ours) {
        let mut known = History { names: Names::default(), ..history.clone() };
        let texts: Vec<&str> = history.names.iter().collect();
        let know = |up_to: Sym, known: &mut History| {
            for name in texts.iter().take(up_to.0 as usize + 1) {
                known.names.intern(name);
            }
        };
        history.objects.iter().for_each(|object| know(object.path, &mut known));
        let mut judge = Judge::new(known.tables(), &RuleSet::all());
        for event in &history.events {
            if let Some(sym) = event.what.sym() {
                know(sym, &mut known);
            }
            let before = judge.findings().len();
            let found = judge.push(known.tables(), event);
            assert_eq!(found, judge.findings().len() > before);
        }
        // The clients' view exists only for complete histories, and adds nothing if the servers' events are recorded.
        let whole = Report { black_boxes: Vec::new(), ..judged(&history) };
        if history.header.mode == Mode::Sim {
            assert_eq!(judge.finish(known.tables()), whole, "{}", text::write(&history));
        }
    }
}

/// No rule depends on another: alone it has the same verdict as among all.
#[test]
fn a_rule_alone_says_the_same() {
    for row in rows::all() {
        for text in [&row.from, &row.to] {
            let history = history(text);
            let among_all = judged(&history);
            for rule in [row.flips, row.first] {
                let alone = judge(&history, &RuleSet::only(&[rule]));
                assert_eq!(alone.of(rule), among_all.of(rule), "{rule}\n{alone}\n{among_all}\n{text}");
            }
        }
    }
}
