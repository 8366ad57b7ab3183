//! What a call was asked and answered, what it changed, and the znodes that it found.
//!
//! The rules about answers gather the evidence; the descriptions in `kinds` say what it proves.

mod doing;
mod znodes;

pub(crate) use doing::{Act, Doing, Effect};
pub(crate) use znodes::{Znode, Znodes, is_path};

use crate::history::{Code, Object, Session, Sym};
use crate::scene::Scene;
use std::ops::Deref;

/// A call, and what the run shows of it.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) doing: &'a Doing,
    pub(crate) znodes: &'a Znodes,
}

/// Whether a report is true; if not, the contradiction, and the event that shows it.
pub(crate) type Judged = Result<(), (String, u32)>;

/// A contradiction that no single event shows.
pub(crate) fn wrong(why: impl Into<String>) -> Judged {
    Err((why.into(), u32::MAX))
}

impl Deref for Evidence<'_> {
    type Target = Doing;

    fn deref(&self) -> &Doing {
        self.doing
    }
}

/// What the call was about.
impl<'a> Evidence<'a> {
    pub(crate) fn declared(&self) -> &'a Object {
        self.scene.object(self.doing.object)
    }

    /// An argument, as text.
    pub(crate) fn argument(&self, at: usize) -> Option<&'a str> {
        self.doing.given.get(at).map(|given| self.scene.text(*given))
    }

    /// The znode with a name below the object, if any event has named it.
    pub(crate) fn child(&self, name: &str) -> Option<(Sym, &'a Znode)> {
        let path = format!("{}/{name}", self.scene.text(self.declared().path));
        self.znodes.named(self.scene, &path)
    }

    /// Whether foreign clients have modified the object.
    pub(crate) fn is_interfered_with(&self) -> bool {
        self.scene.is_interfered_with(self.doing.object)
    }

    /// Whether the history shows what the servers did, and nobody but its clients has modified the object.
    pub(crate) fn is_conclusive(&self) -> bool {
        self.scene.view.is_sim() && !self.is_interfered_with()
    }

    /// The missing answer, if no request of the call was answered.
    pub(crate) fn lacks_an_answer(&self) -> Option<String> {
        (!self.heard_any()).then(|| "none of its requests was answered".to_owned())
    }

    /// The missing answer, if no request of the call was answered with one of these codes.
    pub(crate) fn lacks_code(&self, codes: &[Code]) -> Option<String> {
        let name = codes.first().map(|code| code.words()).unwrap_or_default();
        (!self.heard(codes)).then(|| format!("none of its requests was answered with {name:?}"))
    }
}

/// Statements about znodes. An effect at some time during the call is enough if another client may undo it at once.
impl Evidence<'_> {
    /// A znode existed.
    pub(crate) fn exists(&self, path: Sym) -> Judged {
        let znode = self.znodes.at(path);
        if znode.existed_since(self.called) {
            return Ok(());
        }
        let why = format!("{} did not exist at any time during the call", self.scene.path(path));
        let since = match znode.deleted.came() {
            true => format!("{why}; it was deleted at {}", self.scene.when(znode.deleted)),
            false => why,
        };
        Err((since, znode.deleted.index))
    }

    /// A znode was absent.
    pub(crate) fn is_absent(&self, path: Sym) -> Judged {
        let (scene, znode) = (self.scene, self.znodes.at(path));
        // A session's znodes are deleted with it, so a client that knows its session is over need not wait for that.
        let goes = znode.owner != Session(0) && scene.view.session(znode.owner).is_over();
        // A client may not recognize its own znode after a foreign client has written to it.
        let is_another = scene.view.is_touched(path);
        if goes || is_another || znode.was_absent_since(self.called) {
            return Ok(());
        }
        let why = format!(
            "{} has existed since {}, and all through the call",
            scene.path(path),
            scene.when(znode.created)
        );
        Err((why, znode.created.index))
    }

    /// The client's own znode is gone.
    pub(crate) fn is_given_up(&self) -> Option<Judged> {
        match self.gives_up[..] {
            // With several of them, the intended one is unknown.
            [_, _, ..] => None,
            [] => Some(Ok(())),
            [own] => Some(self.is_absent(own)),
        }
    }

    /// The given data replace those of the client's own znode, whose path is given, too.
    pub(crate) fn is_replaced(&self) -> Judged {
        let [data, path] = self.given[..] else { return Ok(()) };
        let written = |effect: &&Effect| effect.act == Act::Writes && effect.path == path;
        match self.effects.iter().rfind(written) {
            Some(last) => self.has_data(last, data, "other data"),
            None => wrong(format!("it has not written {}", self.scene.path(path))),
        }
    }

    /// A write has the given data.
    pub(crate) fn has_data(&self, written: &Effect, data: Sym, else_what: &str) -> Judged {
        match written.data == Some(self.scene.digest(data)) {
            true => Ok(()),
            false => {
                let at = written.at;
                Err((format!("at {} it has written {else_what}", self.scene.when(at)), at.index))
            }
        }
    }

    /// Several changes were made in one transaction.
    pub(crate) fn is_one_transaction(&self, made: &[&Effect], else_why: &str) -> Judged {
        let Some(pair) = made.windows(2).find(|pair| pair[0].zxid != pair[1].zxid) else { return Ok(()) };
        let scene = self.scene;
        let change = |effect: &Effect| format!("{} at {}", scene.znode(effect.path), scene.when(effect.at));
        Err((format!("{else_why}: {}, {}", change(pair[0]), change(pair[1])), pair[1].at.index))
    }

    /// The missing reason, if the client's own znode has stood all through the call.
    pub(crate) fn stands(&self, (path, znode): (Sym, &Znode)) -> Option<String> {
        (znode.client == self.client && !znode.was_absent_since(self.called))
            .then(|| format!("{} is its own, and has stood all through the call", self.scene.znode(path)))
    }
}
