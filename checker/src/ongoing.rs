//! The judgement of a history by all evidence: when it is whole, or while it still grows.

use crate::black_box::Collect;
use crate::claims::Claims;
use crate::history::{Event, Header, History, Mode, Tables};
use crate::jsonl::{Cut, Stored};
use crate::judge::Judge;
use crate::report::Report;
use crate::reports;
use crate::rule_id::Layer;
use crate::rule_set::RuleSet;
use crate::scene::Scene;

/// Judges a stored history: with a [`Judge`], and with the monitors of the clients' view, which need to know the
/// outcome of a call before it returns.
///
/// Objects of foreign programs ([`Manner::reported`](crate::history::Manner::reported)) are judged as in a capture, by
/// the programs' reports and by the fate of their sessions. Everything else is judged by all evidence.
pub fn judge(history: &History, rules: &RuleSet) -> Report {
    judge_events(history, &history.events, rules, None)
}

/// Judges a history from a file. A history that was cut off is never judged Pass; a damaged one is not judged.
pub fn judge_stored(stored: &Stored, rules: &RuleSet) -> Report {
    let damaged = matches!(stored.cut, Some(Cut::Damaged(_)));
    let events = if damaged { &[] } else { stored.history.events.as_slice() };
    judge_events(&stored.history, events, rules, stored.cut.as_ref().map(ToString::to_string))
}

fn judge_events(history: &History, events: &[Event], rules: &RuleSet, cut: Option<String>) -> Report {
    let tables = history.tables();
    let mut ongoing = Ongoing::new(tables, rules);
    events.iter().for_each(|event| ongoing.push(tables, event));
    cut.into_iter().for_each(|why| ongoing.cut(why));
    ongoing.finish(tables)
}

/// Judges a history while it grows. A [finished](Self::finish) clone returns the result of [`judge`](crate::judge) for
/// the events so far; the original goes on.
///
/// Memory depends on live operations, sessions and znodes, not on the number of events. The exception is the clients'
/// view of objects with a [monitor](crate::monitor): see [`with_most_seen`](Self::with_most_seen).
///
/// ```
/// # use zk_checker::{Ongoing, RuleSet, Verdict, judge, text};
/// let history = text::parse("run client\n lock /lock\n 0.000 a acquire#1 call /lock\n 0.001 a #1 believe /lock s1 token 0x3")?;
/// let mut ongoing = Ongoing::new(history.tables(), &RuleSet::all());
/// for event in &history.events {
///     ongoing.push(history.tables(), event);
/// }
/// assert_eq!(ongoing.finish(history.tables()), judge(&history, &RuleSet::all()));
/// # Ok::<(), zk_checker::jsonl::ReadError>(())
/// ```
#[derive(Clone)]
pub struct Ongoing {
    all: Fed,
    /// The reports of foreign programs, judged as in a capture.
    reported: Option<Fed>,
}

impl Ongoing {
    /// Creates a judge that has seen no event.
    pub fn new(tables: Tables<'_>, rules: &RuleSet) -> Ongoing {
        let may_report = tables.header.foreign_clients || reports::are_in(tables);
        let reported = (may_report && tables.header.mode == Mode::Sim).then(|| {
            let header = Header { mode: Mode::Client, ..tables.header.clone() };
            let of_programs = rules.clone().without_layer(Layer::ZooKeeper);
            let fed = Fed::new(Tables { header: &header, ..tables }, &of_programs);
            Fed { claims: Some(Claims::default()), ..fed }
        });
        Ongoing { all: Fed::new(tables, rules), reported }
    }

    /// Limits the calls and answers that are kept of the clients' view, over all objects. From the limit on, the order
    /// of a queue's items is not judged any more, and its verdict is Unknown. Everything else is judged as before. For
    /// locks, only current holds and breaches are kept.
    #[must_use]
    pub fn with_most_seen(mut self, most: usize) -> Ongoing {
        self.all.seen.most = most;
        self.reported.iter_mut().for_each(|fed| fed.seen.most = most);
        self
    }

    /// Takes in the next event.
    pub fn push(&mut self, tables: Tables<'_>, event: &Event) {
        let Some(reported) = &mut self.reported else { return self.all.take(tables, event, true) };
        let is_report = reports::is_call(tables, event) || reported.judge.knows(event.op);
        self.all.take(tables, event, !is_report);
        reported.take(tables, event, is_report || reports::is_of_both(event));
    }

    /// Judges the programs' reports as if each program learned now that its session is over, and then did nothing for
    /// `time` microseconds. Findings from that are not final. The ensemble is not judged, since it would not rest
    /// meanwhile.
    pub fn wait_for_programs(&mut self, tables: Tables<'_>, time: u64) {
        if let Some(Fed { judge, .. }) = &mut self.reported {
            let until = judge.now().saturating_add(time);
            judge.untold().iter().for_each(|told| _ = judge.push(tables, told));
            judge.wait(tables, until);
        }
    }

    /// The number of events so far.
    pub fn events(&self) -> u32 {
        self.all.judge.events()
    }

    /// Notes that events are missing at the end: the report will be Unknown at least.
    pub fn cut(&mut self, why: impl Into<String>) {
        self.all.judge.cut(why);
    }

    /// Ends the history.
    pub fn finish(self, tables: Tables<'_>) -> Report {
        let rules = self.all.judge.rules().clone();
        let report = self.all.finish(tables);
        match self.reported.filter(|_| reports::are_in(tables)) {
            Some(reported) => report.with(reported.finish(tables), &rules),
            None => report,
        }
    }
}

/// A judge with the monitors of the clients' view.
#[derive(Clone)]
struct Fed {
    judge: Judge,
    seen: Collect,
    /// For reports: the programs' claims, checked against the whole history.
    claims: Option<Claims>,
}

impl Fed {
    fn new(tables: Tables<'_>, rules: &RuleSet) -> Self {
        Fed { judge: Judge::new(tables, rules), seen: Collect::new(rules), claims: None }
    }

    fn take(&mut self, tables: Tables<'_>, event: &Event, is_evidence: bool) {
        if is_evidence {
            self.judge.push(tables, event);
        } else {
            self.judge.skip();
        }
        let Some((scene, findings)) = self.judge.at_last(tables) else { return };
        if is_evidence {
            self.seen.event(scene.view, tables, scene.index, event);
        }
        if let Some(claims) = &mut self.claims {
            claims.event(&Scene { at: event.at, ..scene }, event, findings);
        }
    }

    fn finish(self, tables: Tables<'_>) -> Report {
        self.judge.finish_with(tables, Some(self.seen))
    }
}
