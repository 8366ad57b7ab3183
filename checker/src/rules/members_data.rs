//! The data of members in views: GM-1.
//!
//! A view reads the data after its list, so they may be newer than the list. They are never older than the data that
//! the same follower reported before, nor than its own client's writes before the follower began.

use crate::digest;
use crate::rule::prelude::*;
use std::collections::BTreeMap;

/// GM-1, for the data of members.
#[derive(Clone, Default)]
pub(crate) struct MembersData {
    /// By path of a member's znode: all writes.
    writes: BTreeMap<Sym, Vec<Write>>,
    /// By follower and path: the number of the last write that it reported.
    told: BTreeMap<(OpId, Sym), usize>,
    /// The znode whose data are the next event.
    last: Option<Sym>,
}

#[derive(Clone)]
struct Write {
    zxid: u64,
    data: Option<u64>,
    op: OpId,
    session: Session,
}

impl MembersData {
    fn written(&mut self, scene: &Scene<'_>, event: &Event, path: Sym, zxid: u64) {
        self.last = None;
        if scene.object_around(Kind::Group, path).is_none() {
            return;
        }
        let write = Write { zxid, data: None, op: event.op, session: scene.view.txn.session };
        self.writes.entry(path).or_default().push(write);
        self.last = Some(path);
    }

    /// The number of the newest write that a follower's own session had made before the follower began.
    fn own(&self, scene: &Scene<'_>, follower: OpId, path: Sym) -> usize {
        let follower = scene.view.op(follower);
        let session = scene.view.client(follower.client).session;
        let is_before = |write: &Write| {
            let over = scene.view.op(write.op).over;
            write.session == session && over.came() && over.index < follower.called.index
        };
        self.writes.get(&path).and_then(|writes| writes.iter().rposition(is_before)).unwrap_or(0)
    }

    /// A view with data must contain the data of each member.
    fn without_data(scene: &Scene<'_>, op: OpId, (object, id): (ObjectId, &str), out: &mut Findings) {
        if out.only_counts(RuleId::Gm1, object) {
            return;
        }
        let text = explain(format!(
            "{} saw the member {} without data at {}",
            scene.actor(op),
            crate::text::abbreviated(id),
            scene.when(scene.now())
        ))
        .because("it had asked for the data of all members");
        out.fail(RuleId::Gm1, scene, object, &[scene.view.op(op).called.index], text);
    }

    fn judge(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        let What::Observed { object, text, .. } = event.what else { return };
        out.premise(RuleId::Gm1, object);
        let Some((id, data)) = scene.text(text).split_once('=') else {
            return Self::without_data(scene, event.op, (object, scene.text(text)), out);
        };
        let path = scene.tables.names.find(&format!("{}/{id}", scene.text(scene.object(object).path)));
        let Some(path) = path else { return };
        let wanted = Some(digest::data(Some(data.as_bytes())));
        let told = self.told.get(&(event.op, path)).copied().unwrap_or(0);
        let least = told.max(self.own(scene, event.op, path));
        let writes = self.writes.get(&path).map_or(&[][..], Vec::as_slice);
        let found = writes.iter().skip(least).position(|write| write.data == wanted);
        if let Some(found) = found {
            self.told.insert((event.op, path), least + found);
            return;
        }
        let who = scene.actor(event.op);
        let why = if writes.iter().any(|write| write.data == wanted) {
            format!(
                "they had been replaced at zxid {:#x} at the latest, which {who} had read or written before",
                writes[least].zxid
            )
        } else {
            "they were never written".to_owned()
        };
        let text = explain(format!(
            "{who} saw the data {data:?} of the member {} at {}",
            crate::text::abbreviated(id),
            scene.when(scene.now())
        ))
        .because(why);
        out.fail(RuleId::Gm1, scene, object, &[scene.view.op(event.op).called.index], text);
    }
}

impl Rule for MembersData {
    const JUDGES: &'static [Property] = &[Property::ShowsSomeState];
    const HEARS: Kinds = hears![Observed, Created, Written, Deleted, Data];
    const ABOUT: &'static [Kind] = &[Kind::Group];

    fn event(&mut self, scene: &Scene<'_>, event: &Event, out: &mut Findings) {
        match event.what {
            What::Created { zxid, path, .. } | What::Written { zxid, path } => {
                self.written(scene, event, path, zxid);
            }
            What::Data { digest, .. } => {
                let path = self.last.take();
                if let Some(write) = path.and_then(|path| self.writes.get_mut(&path)?.last_mut()) {
                    write.data = Some(digest);
                }
            }
            What::Observed { seen: Seen::MemberData, .. } if scene.view.is_sim() => {
                self.judge(scene, event, out);
            }
            _ => self.last = None,
        }
    }
}
