//! Collects the clients' view of each object while a history is judged.

use super::{BlackBox, ClientView, rule_of};
use crate::history::{Event, ObjectId, OpId, Outcome, Share, Tables, Verb, What, Who};
use crate::kinds::SeenAs;
use crate::monitor::{Locking, Operations, Queue, Urgent};
use crate::rule_id::RuleId;
use crate::rule_set::RuleSet;
use crate::verdict::Verdict;
use crate::view::{Hold, View};
use std::collections::BTreeMap;

/// Operations: the process, the action, the events of call and return.
type Entries<A> = Vec<(u32, A, u32, Option<u32>)>;

/// The number of begins and ends of an object's holds at which these are judged, and dropped if they are right.
const HOLDS: usize = 1 << 12;

/// The operations that were collected so far.
#[derive(Clone)]
pub(crate) struct Collect {
    on: RuleSet,
    /// By object; none for kinds without a monitor.
    objects: Vec<Option<Gathered>>,
    /// Acquires that have just returned: a belief may follow.
    returned: Option<(OpId, u32)>,
    requests: bool,
    /// The maximal number of operations that are kept.
    pub(crate) most: usize,
    kept: usize,
}

#[derive(Clone)]
struct Gathered {
    object: ObjectId,
    rule: RuleId,
    is_fifo: bool,
    /// Current holds.
    held: Vec<Held>,
    holds: Entries<Locking>,
    /// The number of entries in `holds` at which they are judged next.
    look_at: usize,
    puts: Vec<Put>,
    gets: Vec<Got>,
    /// By client.
    hands: BTreeMap<u16, Hand>,
}

/// A hold, and whether a belief was recorded.
#[derive(Clone)]
struct Held {
    op: OpId,
    share: Share,
    process: u32,
    believed: bool,
}

#[derive(Clone)]
struct Put {
    op: OpId,
    item: u32,
    urgency: u32,
    called: u32,
    returned: Option<u32>,
    refused: bool,
}

/// An item that was handed out.
#[derive(Clone)]
struct Got {
    client: u16,
    item: u32,
    called: u32,
    /// The earliest event at which it may have been taken.
    since: u32,
    seen: u32,
}

/// The items that a consumer may have in hand.
#[derive(Clone, Copy)]
struct Hand {
    /// Its first call.
    first: u32,
    /// The earliest event at which it may have been taken.
    since: u32,
    /// Its open calls.
    open: u32,
    /// Whether two of its requests overlapped, so that its items in hand are unknown.
    is_two: bool,
    /// Whether the effect of its last call is in doubt.
    in_doubt: bool,
}

fn gets(verb: Verb) -> bool {
    verb == Verb::Take
}

impl Collect {
    pub(crate) fn new(on: &RuleSet) -> Collect {
        Collect {
            on: on.clone(),
            objects: Vec::new(),
            returned: None,
            requests: false,
            most: usize::MAX,
            kept: 0,
        }
    }

    /// Takes in an event; the view shows the state after it.
    pub(crate) fn event(&mut self, view: &View, tables: Tables<'_>, index: u32, event: &Event) {
        for at in self.objects.len()..tables.objects.len() {
            self.declare(ObjectId(at as u16), view, tables);
        }
        if self.is_full() {
            return;
        }
        if let Some((op, at)) = self.returned.take()
            && !(matches!(event.what, What::Believe { .. }) && event.op == op)
        {
            self.begin(view, op, at, false);
        }
        match event.what {
            What::Believe { .. } => {
                self.end(view.op(event.op).object, index, |held| held.op == event.op);
                self.begin(view, event.op, index, true);
            }
            What::Unbelieve { .. } => self.end_holds(view, view.op(event.op).object, index, None),
            What::Call { object, verb, .. } => {
                self.end_holds(view, object, index, (verb == Verb::Release).then_some(event.who));
                if gets(verb) {
                    self.asked(view.op(event.op).client, object, index);
                }
            }
            What::Return { outcome, .. } => self.over(view, index, event.op, outcome),
            What::Given { text, number } => {
                let op = view.op(event.op);
                let (item, called) = (text.0, op.called.index);
                if let Some(Some(gathered)) = self.objects.get_mut(usize::from(op.object.0))
                    && op.verb == Verb::Put
                    && op.called.came()
                {
                    let urgency = u32::try_from(number).unwrap_or(u32::MAX);
                    let (returned, refused) = (None, false);
                    gathered.puts.push(Put { op: event.op, item, urgency, called, returned, refused });
                    self.kept += 1;
                }
            }
            What::Send { cleanup: false, .. } => {
                self.requests = true;
                self.sent(view, event.op);
            }
            What::Observed { object, text, .. } => self.observed(view, index, event.op, object, text.0),
            What::Crash { client } => {
                for object in (0..self.objects.len()).map(|at| ObjectId(at as u16)) {
                    self.end_holds(view, object, index, None);
                    // The next process of that client starts with nothing in hand.
                    if let Some(gathered) = self.gathered(object) {
                        gathered.hands.remove(&client);
                    }
                }
            }
            _ => {}
        }
    }

    fn declare(&mut self, object: ObjectId, view: &View, tables: Tables<'_>) {
        let declared = &tables.objects[usize::from(object.0)];
        let seen_as = declared.kind.recipe().seen_as;
        let queues = [SeenAs::Fifo, SeenAs::MostUrgent].contains(&seen_as);
        // A claimed item may be delivered again in any order, and a relaxed consumer need not keep to the order.
        let is_judged = !queues || !declared.manner.at_least_once && declared.manner.window == 0;
        let is_judged = is_judged && (seen_as != SeenAs::MostUrgent || declared.manner.strict);
        // A second opinion is possible only if all rules of the first one are on.
        let is_second = view.is_sim() && queues;
        let others: &[RuleId] = if is_second { &[RuleId::Qu1, RuleId::Qu2, RuleId::Qu3] } else { &[] };
        let is_judged = is_judged && others.iter().all(|rule| self.on.has(*rule));
        let rule = rule_of(declared.kind, view.is_sim()).filter(|rule| is_judged && self.on.has(*rule));
        self.objects.push(rule.map(|rule| Gathered {
            object,
            rule,
            is_fifo: seen_as == SeenAs::Fifo,
            held: Vec::new(),
            holds: Vec::new(),
            look_at: HOLDS,
            puts: Vec::new(),
            gets: Vec::new(),
            hands: BTreeMap::new(),
        }));
    }

    /// Whether the limit is reached: later events are dropped, and the kept ones are judged as a complete history.
    fn is_full(&self) -> bool {
        self.kept >= self.most
    }

    /// The promises that no other rule judges, and whose evidence is incomplete.
    pub(super) fn given_up(&self, view: &View) -> Vec<(RuleId, ObjectId)> {
        let is_alone = |of: &&Gathered| !view.is_sim() && [RuleId::Qu4, RuleId::Qu5].contains(&of.rule);
        let alone = self.objects.iter().flatten().filter(is_alone).map(|of| (of.rule, of.object));
        if self.is_full() { alone.collect() } else { Vec::new() }
    }

    fn gathered(&mut self, object: ObjectId) -> Option<&mut Gathered> {
        self.objects.get_mut(usize::from(object.0))?.as_mut()
    }

    /// Begins a hold.
    fn begin(&mut self, view: &View, op: OpId, at: u32, believed: bool) {
        let (object, share) = (view.op(op).object, view.op(op).share);
        let Some(gathered) = self.gathered(object) else { return };
        // Each hold is a process of its own, because a client that acquires twice waits for itself.
        let process = gathered.holds.len() as u32;
        gathered.holds.push((process, Locking::Acquire { share, token: 0 }, at, Some(at)));
        gathered.held.push(Held { op, share, process, believed });
        self.kept += 1;
    }

    /// Ends holds of an object. Once the object is free, correct holds are final: no later operation can prove them
    /// wrong.
    fn end(&mut self, object: ObjectId, at: u32, ends: impl Fn(&Held) -> bool) {
        let Some(gathered) = self.gathered(object) else { return };
        let before = gathered.holds.len();
        gathered.end(at, ends);
        let ended = gathered.holds.len() - before;
        let forgotten = gathered.forget_what_was_right();
        self.kept = self.kept + ended - forgotten;
    }

    /// Ends the holds that are not believed any more. A recorded belief ends with the event of its end, with a call on
    /// the same object, or with the client. A hold without a recorded belief ends with the call of its release or with
    /// the death of the client.
    fn end_holds(&mut self, view: &View, object: ObjectId, at: u32, releases: Option<Who>) {
        self.end(object, at, |held| {
            let op = view.op(held.op);
            if held.believed {
                return op.hold != Hold::Believed || op.share != held.share;
            }
            releases == Some(Who::Client(op.client)) || view.client(op.client).is_dead()
        });
    }

    fn over(&mut self, view: &View, index: u32, id: OpId, outcome: Outcome) {
        let op = view.op(id);
        if op.is_acquire() && outcome == Outcome::Done && op.hold == Hold::None && !view.is_sim() {
            self.returned = Some((id, index));
        }
        let Some(gathered) = self.gathered(op.object) else { return };
        if gets(op.verb) {
            if let Some(hand) = gathered.hands.get_mut(&op.client) {
                hand.open = hand.open.saturating_sub(1);
                hand.in_doubt = outcome != Outcome::Done;
            }
        } else if op.verb == Verb::Put {
            for put in gathered.puts.iter_mut().rev().take_while(|put| put.called >= op.called.index) {
                if put.op == id {
                    put.returned = (outcome == Outcome::Done).then_some(index);
                    put.refused = outcome == Outcome::Refused;
                }
            }
        }
    }

    /// Notes that a consumer asks for an item.
    fn asked(&mut self, client: u16, object: ObjectId, index: u32) {
        let Some(gathered) = self.gathered(object) else { return };
        let new = Hand { first: index, since: index, open: 0, is_two: false, in_doubt: false };
        let hand = gathered.hands.entry(client).or_insert(new);
        hand.is_two |= hand.open > 0;
        hand.open += 1;
    }

    /// Notes a request: a consumer that asks the servers has nothing in hand, unless its last call failed.
    fn sent(&mut self, view: &View, id: OpId) {
        let op = view.op(id);
        if !gets(op.verb) || !op.called.came() {
            return;
        }
        let (called, client) = (op.called.index, op.client);
        let hand = self.gathered(op.object).and_then(|gathered| gathered.hands.get_mut(&client));
        if let Some(hand) = hand.filter(|hand| !hand.in_doubt) {
            hand.since = called;
        }
    }

    fn observed(&mut self, view: &View, index: u32, id: OpId, object: ObjectId, item: u32) {
        let op = view.op(id);
        let (called, client) = (op.called.index, op.client);
        if !gets(op.verb) || !op.called.came() || op.object != object {
            return;
        }
        let Some(gathered) = self.gathered(object) else { return };
        let Some(hand) = gathered.hands.get(&client) else { return };
        let since = if hand.is_two { hand.first } else { hand.since.min(called) };
        gathered.gets.push(Got { client, item, called, since, seen: index });
        self.kept += 1;
    }

    /// The clients' view of each object with operations.
    pub(super) fn finish(mut self, view: &View) -> Vec<BlackBox> {
        if let Some((op, at)) = self.returned.take() {
            self.begin(view, op, at, false);
        }
        let requests = self.requests;
        let seen = self.objects.into_iter().flatten().map(|gathered| gathered.finish(requests));
        seen.filter(|black_box| !black_box.events.is_empty()).collect()
    }
}

impl Gathered {
    /// Holds end.
    fn end(&mut self, at: u32, ends: impl Fn(&Held) -> bool) {
        let Gathered { held, holds, .. } = self;
        held.retain(|held| {
            let stays = !ends(held);
            if !stays {
                holds.push((held.process, Locking::Release, at, Some(at)));
            }
            stays
        });
    }

    /// Drops holds that are over and right, if there are many. Returns the number of dropped entries.
    fn forget_what_was_right(&mut self) -> usize {
        if !self.held.is_empty() || self.holds.len() < self.look_at {
            return 0;
        }
        if ClientView::Holds(operations(&self.holds).0).judge().verdict != Verdict::Pass {
            self.look_at = 2 * self.holds.len();
            return 0;
        }
        self.look_at = HOLDS;
        std::mem::take(&mut self.holds).len()
    }

    fn finish(mut self, requests: bool) -> BlackBox {
        let (object, rule) = (self.object, self.rule);
        let make = |seen: ClientView, events| {
            let judged = seen.judge();
            BlackBox { object, rule, verdict: judged.verdict, seen, judged, events }
        };
        if !self.holds.is_empty() {
            let (seen, events) = operations(&self.holds);
            return make(ClientView::Holds(seen), events);
        }
        self.gets.sort_by_key(|got| (got.item, got.seen));
        let came_out = |item: u32| self.gets.binary_search_by_key(&item, |got| got.item).is_ok();
        let puts = self.puts.iter().filter(|put| !put.refused && came_out(put.item));
        // Puts and takes are different processes.
        let puts = puts.map(|put| (u32::MAX, put, put.called, put.returned));
        let gets = self.gets.iter().map(|got| {
            let called = if requests { got.since } else { got.called };
            (u32::from(got.client), Some(got.item), called, Some(got.seen))
        });
        if self.is_fifo {
            let puts = puts.map(|(who, put, called, end)| (who, Queue::Put(put.item), called, end));
            let gets = gets.map(|(who, item, called, end)| (who, Queue::Take(item), called, end));
            let (seen, events) = operations(&puts.chain(gets).collect());
            make(ClientView::Fifo(seen), events)
        } else {
            let put = |put: &Put| Urgent::Put { item: put.item, urgency: put.urgency };
            let puts = puts.map(|(who, item, called, end)| (who, put(item), called, end));
            let gets = gets.map(|(who, item, called, end)| (who, Urgent::Take(item), called, end));
            let (seen, events) = operations(&puts.chain(gets).collect());
            make(ClientView::MostUrgent(seen), events)
        }
    }
}

/// The operations, and the event at each position.
fn operations<A: Copy>(entries: &Entries<A>) -> (Operations<A>, Vec<u32>) {
    let mut events: Vec<u32> =
        entries.iter().flat_map(|(.., called, end)| [Some(*called), *end]).flatten().collect();
    events.sort_unstable();
    let timed = entries
        .iter()
        .map(|(who, action, called, end)| (*who, *action, u64::from(*called), end.map(u64::from)));
    (Operations::of_times(timed), events)
}
