//! The results of reads: ZK-5, the stats of ZK-9, ZK-12 and ZK-13.

use super::{client_of, server, zxid_of};
use crate::digest::Digest;
use crate::rule::prelude::*;
use crate::view::{NEVER, is_unjudged};
use std::collections::BTreeSet;

/// ZK-5 and ZK-9: a read shows the tree in the state of its zxid, with the stat that follows from the writes.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    /// The state in which the current read is answered, and the event.
    state: u64,
    served: u32,
}

impl Shown {
    fn served(&mut self, scene: &Scene<'_>, number: u8, zxid: u64, out: &mut Findings) {
        (self.state, self.served) = (zxid, scene.index);
        out.premise_of_all(RuleId::Zk5);
        let server = scene.view.server(number);
        let applied = server.applied;
        // The first state of an epoch is that of the last transaction before it.
        let begins = zxid > applied && zxid as u32 == 0;
        if zxid != applied && !begins && server.applied_is_known {
            let text = explain(format!("server {number} answered a read from the state of {zxid:#x}"))
                .because(format!("the server has applied up to {applied:#x}"));
            out.fail_all(RuleId::Zk5, scene, &[], text);
        }
    }

    /// Judges a reply: its zxid is that of the state that it shows.
    fn replied(scene: &Scene<'_>, id: ReqId, zxid: u64, out: &mut Findings) {
        let served = scene.view.request(id).map_or(0, |req| req.served);
        if served != 0 && zxid_of(zxid).is_some_and(|zxid| zxid != served) {
            let text = explain(format!("the reply to the read r{} has zxid {zxid:#x}", id.0))
                .because(format!("the server answered from the state of {served:#x}"));
            out.fail_all(RuleId::Zk5, scene, &[], text);
        }
    }

    fn found(&self, scene: &Scene<'_>, what: &What, out: &mut Findings) {
        let What::Found { read, code, path, digest } = *what else { return };
        let text = scene.text(path);
        if is_unjudged(text) || code.tells_nothing() {
            return;
        }
        let node = scene.view.oracle.node_at(path, self.state);
        let right = match node {
            None => Code::NoNode,
            Some(_) => Code::Ok,
        };
        let state = self.state;
        let wrong =
            |what: &str| explain(format!("{what} of {} was served at e{}", scene.path(path), self.served));
        if code != right {
            let is = if node.is_some() { "exists" } else { "does not exist" };
            let text = wrong("a wrong answer to exists")
                .because(format!("in the state of {state:#x} the znode {is}"));
            return out.fail_all(RuleId::Zk5, scene, &[self.served], text);
        }
        let Some(node) = node else { return };
        let right = match read {
            Request::Get => node.digest_of_data(),
            Request::Children => node.digest_of_names(),
            Request::Exists | Request::GetAcl => node.digest_of_stat(),
            _ => return,
        };
        if digest.content != right.content && digest != Digest::default() {
            let what = if read == Request::Children { "a wrong list of children" } else { "wrong data" };
            let text = wrong(what).because(format!("in the state of {state:#x} the content differs"));
            out.fail_all(RuleId::Zk5, scene, &[self.served], text);
        }
        if digest.stat == 0 {
            return;
        }
        out.premise_of_all(RuleId::Zk9);
        if digest.stat != right.stat {
            let text =
                wrong("a wrong stat").because(format!("in the state of {state:#x} the content differs"));
            out.fail_all(RuleId::Zk9, scene, &[self.served], text);
        }
    }
}

impl Rule for Shown {
    const JUDGES: &'static [Property] = &[Property::ReadsShowTheirState, Property::Conditions];
    const HEARS: Kinds = hears![Served, Found, Reply];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Served { zxid, .. } => self.served(scene, server(event.who), zxid, out),
            What::Reply { req, zxid, .. } => Self::replied(scene, req, zxid, out),
            _ => self.found(scene, &event.what, out),
        }
    }
}

/// ZK-12: after a sync a session reads, on that connection, everything that was proposed before the sync.
#[derive(Clone, Default)]
pub(crate) struct Sync {
    /// By session: the last barrier.
    barriers: Vec<Barrier>,
    /// The syncs that a leader has accepted, and that are not answered.
    taken: BTreeSet<ReqId>,
    /// The current leader: the last elected one, while it serves.
    leader: Option<u8>,
}

#[derive(Clone, Copy, Default)]
struct Barrier {
    req: ReqId,
    conn: u16,
    sent: u32,
    zxid: u64,
    event: u32,
}

impl Rule for Sync {
    const JUDGES: &'static [Property] = &[Property::SyncedReads];
    const HEARS: Kinds = hears![Barrier, Served, Reply, Elected, Ceased];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Barrier { session, req, zxid } => {
                self.taken.insert(req);
                let (id, Some(req)) = (req, scene.view.request(req)) else { return };
                *slot(&mut self.barriers, usize::from(session.0)) =
                    Barrier { req: id, conn: req.conn.0, sent: req.sent.index, zxid, event: scene.index };
            }
            What::Reply { req, code, zxid, conn } => {
                let taken = self.taken.remove(&req);
                if code == Code::Ok {
                    self.synced(scene, (req, taken), zxid, conn, out);
                }
            }
            What::Lost { req } => _ = self.taken.remove(&req),
            What::Elected { .. } => self.leader = Some(server(event.who)),
            What::Ceased if self.leader == Some(server(event.who)) => self.leader = None,
            What::Served { req, conn, zxid } => {
                let Some(sent) = scene.view.request(req) else { return };
                let barrier = self.barriers.get(usize::from(sent.session.0)).copied().unwrap_or_default();
                if barrier.event == 0 || barrier.conn != conn.0 || sent.sent.index < barrier.sent {
                    return;
                }
                out.premise_of_all(RuleId::Zk12);
                if zxid < barrier.zxid {
                    let session = client_of(scene, sent.session);
                    let text =
                        explain(format!("the read r{} of {session} shows zxid {zxid:#x}", req.0)).because(
                            format!("e{}: the sync before it reaches {:#x}", barrier.event, barrier.zxid),
                        );
                    out.fail_all(RuleId::Zk12, scene, &[barrier.event], text);
                }
            }
            _ => {}
        }
    }
}

impl Sync {
    /// Judges the reply to a sync. The leader answers its own clients directly; a follower has asked the leader.
    fn synced(
        &self,
        scene: &Scene<'_>,
        (id, taken): (ReqId, bool),
        zxid: u64,
        conn: Conn,
        out: &mut Findings,
    ) {
        let Some(req) = scene.view.request(id).filter(|req| req.kind == Request::Sync) else { return };
        let of = scene.view.session(req.session);
        let Some(zxid) = zxid_of(zxid).filter(|_| !conn.is_none() && of.conn == conn) else { return };
        let text = || explain(format!("the sync r{} of {} is answered", id.0, client_of(scene, req.session)));
        // A server that has joined the leader since its election follows it. A reply to an earlier sync may come from a
        // server that served, or led, in another epoch: replies may be in flight for long.
        let serving_since = scene.view.server(of.server).serving_since;
        let follows = self.leader.is_some_and(|leader| {
            leader != of.server
                && serving_since >= scene.view.server(leader).elected
                && req.sent.at >= serving_since
        });
        if !taken && follows {
            out.premise_of_all(RuleId::Zk12);
            let text = text()
                .because(format!("server {} is a follower, and no leader has received the sync", of.server));
            return out.fail_all(RuleId::Zk12, scene, &[req.sent.index], text);
        }
        let barrier = self.barriers.get(usize::from(req.session.0)).copied().unwrap_or_default();
        if taken && barrier.req == id && zxid < barrier.zxid {
            let text = text().because(format!(
                "e{}: the leader was at {:#x}, and the reply has {zxid:#x}",
                barrier.event, barrier.zxid
            ));
            out.fail_all(RuleId::Zk12, scene, &[barrier.event], text);
        }
    }
}

/// ZK-13: a server that is cut off stops serving.
#[derive(Clone, Default)]
pub(crate) struct CutOff {
    /// By server: the time since which no packet has reached it, and the event.
    cut: Vec<Option<(u64, u32)>>,
    /// Links that are cut, and since when.
    links: Vec<(u8, u8, u64)>,
    /// By server: the time since which it serves, as far as recorded, and whether it certainly leads.
    serves: Vec<(u64, bool)>,
    /// The last elected leader, the time, and the event: most servers had left any other leader by then.
    elected: Option<(u8, u64, u32)>,
    /// The last time at which servers were reconnected: packets buffered in a connection count as a sign of life.
    rejoined: u64,
}

impl CutOff {
    /// Whether all links of a server are cut.
    fn links_of(&mut self, scene: &Scene<'_>, number: u8) {
        let others = (0..scene.view.servers.len() as u8).filter(|other| *other != number);
        let mut since = 0;
        let mut any = false;
        for other in others {
            let cut = self.links.iter().find(|(from, to, _)| (*from, *to) == (other, number));
            let Some((_, _, at)) = cut else {
                *slot(&mut self.cut, usize::from(number)) = None;
                return;
            };
            since = since.max(*at);
            any = true;
        }
        if any {
            slot(&mut self.cut, usize::from(number)).get_or_insert((since, scene.index));
        }
    }

    fn fault(&mut self, scene: &Scene<'_>, kind: FaultKind, victim: Victim, begins: bool) {
        use Victim;
        let between =
            [FaultKind::ServerPartition, FaultKind::LinkCut, FaultKind::PacketsLost, FaultKind::LinkHeld];
        if !begins && between.contains(&kind) {
            self.rejoined = scene.at;
        }
        match (kind, victim) {
            (FaultKind::ServerPartition, Victim::Server { server }) => {
                *slot(&mut self.cut, usize::from(server)) = begins.then_some((scene.at, scene.index));
            }
            (FaultKind::LinkCut | FaultKind::PacketsLost, Victim::Link { from, to }) => {
                self.links.retain(|(a, b, _)| (*a, *b) != (from, to));
                if begins {
                    self.links.push((from, to, scene.at));
                }
                self.links_of(scene, to);
            }
            // Delayed packets arrive, and are a sign of life.
            (FaultKind::LinkHeld, Victim::Link { to, .. }) if !begins => {
                if let Some(cut) = slot(&mut self.cut, usize::from(to)) {
                    cut.0 = cut.0.max(scene.at);
                }
            }
            _ => {}
        }
    }
}

/// The end of a server's last pause, in which it did not check its followers; never, if it lasts.
fn stood_still(scene: &Scene<'_>, number: u8) -> u64 {
    let server = scene.view.server(number);
    server.pauses.until().max(server.withheld.until())
}

impl CutOff {
    /// The time by which a server that is cut off must have stopped, and the cause.
    fn cut_off(&self, scene: &Scene<'_>, number: u8) -> Option<(u64, u32, String)> {
        let (since, told) = self.cut.get(usize::from(number)).copied().flatten()?;
        let until = since.max(stood_still(scene, number));
        let ticks = (scene.view.sync_limit + 1).saturating_mul(scene.view.tick);
        Some((
            until.saturating_add(ticks),
            told,
            format!("the server is cut off from all others since e{told}"),
        ))
    }

    /// The same if another server has led for long: most servers have left this one's leader, which stops, as do its
    /// followers after it.
    fn left_behind(&self, scene: &Scene<'_>, number: u8) -> Option<(u64, u32, String)> {
        let (leader, at, told) = self.elected?;
        let (since, leads) = self.serves.get(usize::from(number)).copied().unwrap_or_default();
        if leader == number || since >= at {
            return None;
        }
        let all = 0..scene.view.servers.len() as u8;
        let still = all.map(|number| stood_still(scene, number)).max().unwrap_or(0);
        let looks = if leads { 1 } else { 2 };
        let ticks = (scene.view.sync_limit + 1).saturating_mul(scene.view.tick).saturating_mul(looks);
        let because = format!("e{told}: server {leader} leads, and this server has not joined it");
        Some((at.max(still).max(self.rejoined).saturating_add(ticks), told, because))
    }

    /// Reports a server that serves although it should have stopped.
    fn judge(&mut self, scene: &Scene<'_>, number: u8, what: &str, out: &mut Findings) {
        let view = scene.view;
        let due = [self.cut_off(scene, number), self.left_behind(scene, number)];
        for (at, told, because) in due.into_iter().flatten().filter(|(at, ..)| *at != NEVER) {
            out.premise_of_all(RuleId::Zk13);
            // Packets that were in flight at the cut still arrive.
            if scene.at > at.saturating_add(view.round_trip + view.settle) {
                let what = format!("server {number} {what} at {}", crate::text::seconds(scene.at));
                out.fail_all(RuleId::Zk13, scene, &[told], explain(what).because(because));
                // Reported once.
                *slot(&mut self.cut, usize::from(number)) = None;
                slot(&mut self.serves, usize::from(number)).0 = scene.at;
            }
        }
    }
}

impl Rule for CutOff {
    const JUDGES: &'static [Property] = &[Property::CutOffServer];
    const HEARS: Kinds = hears![Fault, Mended, Served, Serving, Ceased, Elected, Barrier, Marked];

    fn pass_time(&mut self, scene: &Scene<'_>, out: &mut Findings) {
        if self.elected.is_none() && self.cut.is_empty() {
            return;
        }
        for (number, server) in (0..).zip(&scene.view.servers) {
            let told = server.serving && self.serves.get(usize::from(number)).is_some();
            if told
                && [self.cut_off(scene, number), self.left_behind(scene, number)].iter().any(Option::is_some)
            {
                self.judge(scene, number, "still serves", out);
            }
        }
    }

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Fault { kind, victim, .. } => self.fault(scene, kind, victim, true),
            What::Mended { kind, victim } => self.fault(scene, kind, victim, false),
            What::Serving => slot(&mut self.serves, usize::from(server(event.who))).0 = scene.at,
            What::Ceased => slot(&mut self.serves, usize::from(server(event.who))).1 = false,
            What::Barrier { .. } | What::Marked { .. } => {
                slot(&mut self.serves, usize::from(server(event.who))).1 = true;
            }
            What::Elected { .. } => {
                let number = server(event.who);
                *slot(&mut self.serves, usize::from(number)) = (scene.at, true);
                self.elected = Some((number, scene.at, scene.index));
            }
            What::Served { .. } => self.judge(scene, server(event.who), "answers a read", out),
            _ => {}
        }
    }
}
