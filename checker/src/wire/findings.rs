//! The findings of the wire, and their explanations.

use super::attempts::Pair;
use super::herd::Deletion;
use super::items::LostItem;
use super::naming::Suggests;
use super::paths::TextId;
use super::znodes::Znode;
use super::{Loss, Wire};
use crate::explanation::{Explanation, explain};
use crate::history::{Session, Sym, Tables};
use crate::named::named;
use crate::text::seconds;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

named! {
    /// The rules of the wire, defined in [`wire`](crate::wire).
    pub enum WireRule = "a rule of the wire" {
        /// Two znodes of one attempt live in one directory, and their session has gone on with both.
        Second = "WIRE-1",
        /// One deletion notified three or more sessions.
        Herd = "WIRE-2",
        /// The reply to a delete was lost, and the znode is still there.
        Orphan = "WIRE-3",
        /// The reply to the delete of a queue's item was lost, and its consumer may not have it.
        ItemLost = "WIRE-4",
    }
}

impl WireRule {
    /// The title of its findings.
    pub fn title(self) -> &'static str {
        match self {
            WireRule::Second => "second znode of one attempt",
            WireRule::Herd => "herd",
            WireRule::Orphan => "orphan",
            WireRule::ItemLost => "possible loss of an item",
        }
    }
}

impl fmt::Display for WireRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A breach on the wire, or a possible one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WireFinding {
    /// The rule.
    pub rule: WireRule,
    /// The title of the rule.
    pub title: &'static str,
    /// Whether it is only possible, because the wire does not show the whole evidence.
    pub possible: bool,
    /// The directory.
    pub directory: String,
    /// The event at which it became certain: an index into the events.
    pub position: usize,
    /// The events that prove it.
    pub witnesses: Vec<usize>,
    /// The explanation, in lines of less than 100 columns.
    pub text: String,
    /// The [shape](crate::shape) of that text.
    #[serde(skip)]
    pub shape: String,
}

impl fmt::Display for WireFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}  {}", self.rule, self.title, self.directory)?;
        self.text.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// The number of findings that are kept for each rule; further ones are only counted.
const KEPT: u64 = 16;

/// The smallest number of sessions that is a herd: one may wait, and one observe.
const HERD: usize = 3;

/// Findings while they are collected.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) findings: Vec<WireFinding>,
    pub(super) found: BTreeMap<WireRule, u64>,
}

impl Collected {
    fn add(
        &mut self,
        rule: WireRule,
        directory: &str,
        position: u32,
        seen: &[u32],
        text: impl FnOnce() -> Explanation,
    ) {
        let count = self.found.entry(rule).or_default();
        *count += 1;
        if *count > KEPT {
            return;
        }
        let mut witnesses: Vec<usize> = seen.iter().chain([&position]).map(|seen| *seen as usize).collect();
        witnesses.sort_unstable();
        witnesses.dedup();
        self.findings.push(WireFinding {
            rule,
            title: rule.title(),
            possible: rule == WireRule::ItemLost,
            directory: directory.to_owned(),
            position: position as usize,
            witnesses,
            text: text().text(),
            shape: String::new(),
        });
    }
}

/// The fault behind a loss, as the end of a clause.
fn fault(loss: Loss) -> String {
    loss.fault.map_or(String::new(), |fault| format!(", after the fault at e{fault}"))
}

/// The events of a loss.
fn events(loss: Loss) -> impl Iterator<Item = u32> {
    [loss.sent, loss.lost.index].into_iter().chain(loss.fault)
}

impl Wire {
    /// The name of a session in findings.
    fn who(&self, tables: Tables<'_>, session: Session) -> String {
        match self.client_name(tables, session) {
            Some(client) => format!("s{} ({client})", session.0),
            None => format!("s{}", session.0),
        }
    }

    /// All findings, in the order of rules.
    pub(super) fn findings(&self, tables: Tables<'_>, kinds: &BTreeMap<TextId, Suggests>) -> Collected {
        let mut collected = Collected::default();
        let found = self.attempts.found();
        let open = self.attempts.still_open().filter(|pair| self.is_second(pair));
        for pair in found.chain(open) {
            self.second(tables, pair, &mut collected);
        }
        for deletion in self.herd.iter() {
            let kind = kinds.get(&deletion.deleted.parsed.directory).copied().unwrap_or(Suggests::Other);
            if kind.has_contenders() && deletion.herd(kind).count() >= HERD {
                self.add_herd(tables, deletion, kind, &mut collected);
            }
        }
        for znode in self.znodes.live.values() {
            if let Some(loss) = znode.delete_lost.filter(|loss| self.is_orphan(znode, *loss)) {
                self.orphan(tables, znode, loss, &mut collected);
            }
        }
        for ((path, session), item) in self.items.lost.iter().filter(|(_, item)| item.may_be_lost()) {
            self.item_lost(tables, *path, *session, item, &mut collected);
        }
        for finding in &mut collected.findings {
            finding.shape = crate::shape::shape(tables, &finding.text);
        }
        collected
    }

    /// Whether a pair with a znode that still exists is a finding.
    fn is_second(&self, pair: &Pair) -> bool {
        let is_let_be = |path: Sym| self.znodes.live.get(&path).is_some_and(Znode::is_let_be);
        let both = || is_let_be(pair.older.0) && is_let_be(pair.newer.0);
        let is_adopted = self.znodes.live.get(&pair.older.0).is_some_and(Znode::is_adopted);
        is_let_be(pair.surplus().0)
            && !is_adopted
            && (pair.has_gone_on() || (both() && self.is_overdue(pair)))
    }

    fn second(&self, tables: Tables<'_>, pair: &Pair, collected: &mut Collected) {
        let directory = self.paths.text(pair.directory);
        let name = |(path, _): (Sym, u32)| {
            let path = tables.names.get(path).unwrap_or_default();
            path.rsplit('/').next().unwrap_or_default().to_owned()
        };
        let Some(informed) = pair.informed else { return };
        let position = pair.waits.map_or(informed.index, |(at, _)| at.index);
        let mut seen = vec![pair.older.1, pair.newer.1, informed.index];
        seen.extend(pair.loss.into_iter().flat_map(events));
        let text = || {
            let loss = pair.loss.map_or(String::new(), |loss| {
                format!(
                    " the reply to its create of e{} was lost (e{}){};",
                    loss.sent,
                    loss.lost.index,
                    fault(loss)
                )
            });
            let went_on = match pair.waits {
                Some((at, on)) => {
                    let on = if on == pair.directory { "the directory" } else { self.paths.name(on) };
                    format!("and then waited on {on} (e{})", at.index)
                }
                None => {
                    "and deleted neither for two session timeouts, or until nothing was in flight".to_owned()
                }
            };
            explain(format!(
                "{} has two znodes of one attempt in {directory}: {} (e{}) and {} (e{})",
                self.who(tables, pair.session),
                name(pair.older),
                pair.older.1,
                name(pair.newer),
                pair.newer.1,
            ))
            .because(
                format!("{loss} it got a list that shows both (e{}), {went_on}", informed.index).trim_start(),
            )
            .not_excused(format!(
                "it has not deleted {}, which stands in the way of others until the session ends",
                name(pair.surplus())
            ))
        };
        collected.add(WireRule::Second, directory, position, &seen, text);
    }

    fn add_herd(&self, tables: Tables<'_>, deletion: &Deletion, kind: Suggests, collected: &mut Collected) {
        let deleted = deletion.deleted;
        let directory = self.paths.text(deleted.parsed.directory);
        let herd: Vec<_> = deletion.herd(kind).collect();
        let seen: Vec<u32> =
            [deleted.index].into_iter().chain(herd.iter().map(|(_, told)| told.index)).collect();
        let position = seen.iter().copied().max().unwrap_or_default();
        let text = || {
            let names: Vec<String> =
                herd.iter().take(8).map(|(session, _)| self.who(tables, *session)).collect();
            let more = if herd.len() > names.len() { ", …" } else { "" };
            explain(format!(
                "the deletion of {} in {directory} (e{}, zxid {:#x}) notified {} sessions: {}{more}",
                self.paths.name(deleted.parsed.path),
                deleted.index,
                deleted.zxid,
                herd.len(),
                names.join(", "),
            ))
            .because(format!(
                "each of them watched that znode or the directory, in which znodes are named as in a {}",
                kind.name()
            ))
            .not_excused(
                "it lets one session in at most, apart from readers next in line; the others look again \
                 for nothing",
            )
        };
        collected.add(WireRule::Herd, directory, position, &seen, text);
    }

    /// Whether the session of a znode has failed to delete it.
    fn is_orphan(&self, znode: &Znode, loss: Loss) -> bool {
        let session = self.session(znode.owner);
        znode.owner != Session(0)
            && session.is_open
            && session.answered > loss.lost.index
            && self.is_settled(znode.owner, loss.lost)
    }

    fn orphan(&self, tables: Tables<'_>, znode: &Znode, loss: Loss, collected: &mut Collected) {
        let directory = self.paths.text(znode.parsed.directory);
        let answered = self.session(znode.owner).answered;
        let mut seen = vec![znode.created, answered];
        seen.extend(events(loss));
        let text = || {
            let waited = self.now.at.saturating_sub(loss.lost.at);
            explain(format!(
                "{} of {} in {directory} (e{}) is still there, although its session asked to delete it (e{})",
                self.paths.name(znode.parsed.path),
                self.who(tables, znode.owner),
                znode.created,
                loss.sent,
            ))
            .because(format!(
                "the reply was lost (e{}){}, the delete was not applied, and none has followed for {} s",
                loss.lost.index,
                fault(loss),
                seconds(waited),
            ))
            .not_excused(format!(
                "the session is open and its request of e{answered} was answered, so that the znode stays until it ends"
            ))
        };
        collected.add(WireRule::Orphan, directory, loss.lost.index, &seen, text);
    }

    fn item_lost(
        &self,
        tables: Tables<'_>,
        path: Sym,
        session: Session,
        item: &LostItem,
        collected: &mut Collected,
    ) {
        let path = tables.names.get(path).unwrap_or_default();
        let (directory, name) = path.rsplit_once('/').unwrap_or_default();
        let LostItem { taken, loss, .. } = *item;
        let mut seen = vec![taken.created, taken.deleted];
        seen.extend(events(loss).chain(taken.read));
        let text = || {
            let what = match taken.read {
                Some(read) => format!(
                    "the session had the data (e{read}), but no answer says that it took the item: it may drop it \
                     as another's"
                ),
                None => "the session had not got the data before, and no client can get them now".to_owned(),
            };
            explain(format!(
                "item {name} of {directory} (e{}) was deleted by {} (e{}), and may be lost",
                taken.created,
                self.who(tables, session),
                taken.deleted,
            ))
            .because(format!(
                "the reply to its delete of e{} was lost (e{}){}",
                loss.sent,
                loss.lost.index,
                fault(loss)
            ))
            .because(what)
        };
        collected.add(WireRule::ItemLost, directory, taken.deleted.max(loss.lost.index), &seen, text);
    }
}
