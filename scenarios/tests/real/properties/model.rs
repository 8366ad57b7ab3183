//! What ZooKeeper is, written down as plainly as can be: a map from paths to znodes, and who watches what.
//!
//! One server on a calm day: nothing is lost, nobody expires. Every step is answered as a case would expect it, but for
//! the server's order of children and the like, which is left out.

use std::collections::{BTreeMap, BTreeSet};
use zk_fidelity::exchange::form::{Data, Expect, NameOrNumber, Notice, OpResult, Owner, Request, Stat, Zxid};

type Acl = Vec<(NameOrNumber, String, String)>;

/// A reply, or the name of an error.
type Told = Result<Expect, &'static str>;

#[derive(Clone)]
struct Znode {
    data: Option<String>,
    acl: Acl,
    version: i32,
    aversion: i32,
    /// How many children it ever got.
    creations: i32,
    czxid: i64,
    mzxid: i64,
    pzxid: i64,
    owner: Option<String>,
}

/// Whether a session has a connection, and whether it has ended.
#[derive(Default)]
struct Session {
    is_connected: bool,
    is_over: bool,
}

/// What a change did, for those who watch.
#[derive(Clone)]
enum Change {
    Created(String),
    Deleted(String),
    Set(String),
}

/// A server.
pub struct Model {
    zxid: i64,
    znodes: BTreeMap<String, Znode>,
    sessions: BTreeMap<String, Session>,
    /// Who watches the data of what, and who the children.
    data_watches: BTreeSet<(String, String)>,
    child_watches: BTreeSet<(String, String)>,
    /// Who was notified in this step.
    notified: Vec<(String, Notice)>,
}

impl Model {
    /// A server on which nothing was done.
    pub fn new() -> Self {
        let mut model = Model {
            zxid: 0,
            znodes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            data_watches: BTreeSet::new(),
            child_watches: BTreeSet::new(),
            notified: Vec::new(),
        };
        let root = model.znode(Some(String::new()), open(), None);
        model.znodes.insert("/".to_owned(), root);
        model
    }

    /// What comes of a step.
    pub fn step(&mut self, step: &Request) -> Expect {
        let label = step.session.clone().expect("every step here is a session's");
        let mut told = match step.op.as_str() {
            "connect" => self.connect(&label, step),
            "reconnect" => self.reconnect(&label, step),
            _ if !self.sessions[&label].is_connected && step.op != "drop" => {
                Expect { disconnected: Some(true.into()), ..Expect::default() }
            }
            "drop" => {
                self.disconnect(&label);
                Expect::default()
            }
            "close" => self.close(&label),
            _ => self.operation(&label, step),
        };
        for (to, notice) in std::mem::take(&mut self.notified) {
            if to == label {
                told.before.push(notice);
            } else {
                told.events.entry(to).or_default().push(notice);
            }
        }
        told
    }

    fn connect(&mut self, label: &str, step: &Request) -> Expect {
        self.zxid += 1;
        self.sessions.insert(label.to_owned(), Session { is_connected: true, is_over: false });
        Expect { connected: true, timeout: step.timeout, readonly: Some(false), ..Expect::default() }
    }

    fn reconnect(&mut self, label: &str, step: &Request) -> Expect {
        let old_closed = self.sessions[label].is_connected;
        self.disconnect(label);
        let session = self.sessions.get_mut(label).expect("it was opened");
        if session.is_over {
            let (session_zero, passwd_zero) = (true, true);
            return Expect { expired: true, session_zero, passwd_zero, ..Expect::default() };
        }
        session.is_connected = true;
        Expect { connected: true, timeout: step.timeout, same_session: true, old_closed, ..Expect::default() }
    }

    /// Watches belong to a connection.
    fn disconnect(&mut self, label: &str) {
        self.sessions.get_mut(label).expect("it was opened").is_connected = false;
        self.data_watches.retain(|(_, who)| who != label);
        self.child_watches.retain(|(_, who)| who != label);
    }

    fn close(&mut self, label: &str) -> Expect {
        self.zxid += 1;
        let own = self.znodes.iter().filter(|(_, znode)| znode.owner.as_deref() == Some(label));
        for path in own.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            let change = self.remove(&path);
            self.notify(&change);
        }
        self.disconnect(label);
        self.sessions.get_mut(label).expect("it was opened").is_over = true;
        Expect { err: Some("OK".to_owned()), zxid: Some(self.zxid), closed: true, ..Expect::default() }
    }

    fn operation(&mut self, label: &str, step: &Request) -> Expect {
        let told = match step.op.as_str() {
            "multi" => Ok(self.multi(label, step)),
            "multiRead" => Ok(self.multi_read(step)),
            "create" | "create2" | "createContainer" | "delete" | "setData" | "setACL" => {
                self.zxid += 1;
                self.write(label, step).map(|(told, change)| {
                    change.iter().for_each(|change| self.notify(change));
                    told
                })
            }
            _ => self.read(label, step),
        };
        let (told, err) = match told {
            Ok(told) => (told, "OK"),
            Err(err) => (Expect::default(), err),
        };
        Expect { err: Some(err.to_owned()), zxid: Some(self.zxid), ..told }
    }

    // ── writes ──

    fn write(&mut self, label: &str, step: &Request) -> Result<(Expect, Option<Change>), &'static str> {
        let path = path(step);
        match step.op.as_str() {
            "delete" => {
                let change = self.delete(path, step.version)?;
                Ok((Expect::default(), Some(change)))
            }
            "setData" => {
                self.writable(path, 'w')?;
                let zxid = self.zxid;
                let znode = self.znodes.get_mut(path).ok_or("NoNode")?;
                expected(step.version, znode.version)?;
                znode.version += 1;
                (znode.data, znode.mzxid) = (data(step), zxid);
                Ok((self.with_stat(path), Some(Change::Set(path.to_owned()))))
            }
            "setACL" => {
                let acl = acl(step);
                valid(path)?;
                if acl.is_empty() {
                    return Err("InvalidACL");
                }
                let znode = self.znodes.get_mut(path).ok_or("NoNode")?;
                expected(step.version, znode.aversion)?;
                znode.aversion += 1;
                znode.acl = acl;
                Ok((self.with_stat(path), None))
            }
            _ => {
                let path = self.create(label, step)?;
                let told = if step.op == "create" { Expect::default() } else { self.with_stat(&path) };
                let change = Some(Change::Created(path.clone()));
                Ok((Expect { path: Some(path), ..told }, change))
            }
        }
    }

    fn create(&mut self, label: &str, step: &Request) -> Result<String, &'static str> {
        let (asked, mode) = (path(step), mode(step));
        let above = parent(asked).ok_or("BadArguments")?;
        if acl(step).is_empty() {
            return Err("InvalidACL");
        }
        let mother = self.znodes.get(above).ok_or("NoNode")?;
        if !allows(mother, 'c') {
            return Err("NoAuth");
        }
        let number = format!("{:010}", mother.creations);
        let path = if mode.ends_with("sequential") { format!("{asked}{number}") } else { asked.to_owned() };
        valid(&path)?;
        if self.znodes.contains_key(&path) {
            return Err("NodeExists");
        }
        if mother.owner.is_some() {
            return Err("NoChildrenForEphemerals");
        }
        let zxid = self.zxid;
        let mother = self.znodes.get_mut(above).expect("it was just there");
        mother.creations += 1;
        mother.pzxid = zxid;
        let owner = mode.starts_with("ephemeral").then(|| label.to_owned());
        let znode = self.znode(data(step), acl(step), owner);
        self.znodes.insert(path.clone(), znode);
        Ok(path)
    }

    fn delete(&mut self, path: &str, version: Option<i32>) -> Result<Change, &'static str> {
        if parent(path).is_none() || path == "/" {
            return Err("BadArguments");
        }
        let znode = self.znodes.get(path).ok_or("NoNode")?;
        expected(version, znode.version)?;
        if !self.children(path).is_empty() {
            return Err("NotEmpty");
        }
        Ok(self.remove(path))
    }

    fn remove(&mut self, path: &str) -> Change {
        self.znodes.remove(path);
        let above = parent(path).and_then(|above| self.znodes.get_mut(above));
        above.expect("a znode has a parent").pzxid = self.zxid;
        Change::Deleted(path.to_owned())
    }

    /// All or nothing: tried on a copy.
    fn multi(&mut self, label: &str, step: &Request) -> Expect {
        self.zxid += 1;
        let before = self.znodes.clone();
        let mut results = Vec::new();
        let mut changes = Vec::new();
        for (index, op) in step.ops.iter().enumerate() {
            match self.part(label, op) {
                Ok((result, change)) => {
                    results.push(result);
                    changes.extend(change);
                }
                Err(err) => {
                    self.znodes = before;
                    let error = |at: usize| match at.cmp(&index) {
                        std::cmp::Ordering::Less => "OK",
                        std::cmp::Ordering::Equal => err,
                        std::cmp::Ordering::Greater => "RuntimeInconsistency",
                    };
                    let results = (0..step.ops.len()).map(|at| failed(error(at))).collect();
                    return Expect { results: Some(results), ..Expect::default() };
                }
            }
        }
        changes.iter().for_each(|change| self.notify(change));
        Expect { results: Some(results), ..Expect::default() }
    }

    fn part(&mut self, label: &str, op: &Request) -> Result<(OpResult, Option<Change>), &'static str> {
        if op.op == "check" {
            valid(path(op))?;
            let znode = self.znodes.get(path(op)).ok_or("NoNode")?;
            expected(op.version, znode.version)?;
            return Ok((OpResult { check: true, ..OpResult::default() }, None));
        }
        let (told, change) = self.write(label, op)?;
        let result = match op.op.as_str() {
            "delete" => OpResult { delete: true, ..OpResult::default() },
            "setData" => OpResult { set_data: told.stat, ..OpResult::default() },
            _ => OpResult { create: told.path, ..OpResult::default() },
        };
        Ok((result, change))
    }

    fn writable(&self, path: &str, permission: char) -> Result<(), &'static str> {
        valid(path)?;
        let znode = self.znodes.get(path).ok_or("NoNode")?;
        if allows(znode, permission) { Ok(()) } else { Err("NoAuth") }
    }

    // ── reads ──

    fn read(&mut self, label: &str, step: &Request) -> Told {
        let path = path(step);
        match step.op.as_str() {
            "sync" => return Ok(Expect { path: Some(path.to_owned()), ..Expect::default() }),
            "getEphemerals" => {
                let prefix = step.prefix.as_deref().unwrap_or_default();
                let own = self.znodes.iter().filter(|(path, znode)| {
                    znode.owner.as_deref() == Some(label) && path.starts_with(prefix)
                });
                let ephemerals = own.map(|(path, _)| path.clone()).collect();
                return Ok(Expect { ephemerals: Some(ephemerals), ..Expect::default() });
            }
            _ => {}
        }
        let watch = (path.to_owned(), label.to_owned());
        if step.watch && step.op == "exists" {
            // Also if there is no such znode.
            self.data_watches.insert(watch.clone());
        }
        let znode = self.znodes.get(path).ok_or("NoNode")?.clone();
        if step.watch && step.op == "getData" {
            self.data_watches.insert(watch);
        } else if step.watch && step.op.starts_with("getChildren") {
            self.child_watches.insert(watch);
        }
        let stat = Some(self.stat(path));
        let blank = Expect::default();
        Ok(match step.op.as_str() {
            "exists" => Expect { stat, ..blank },
            "getData" => Expect { data: Some(znode.data), stat, ..blank },
            "getChildren" => Expect { children: Some(self.children(path)), ..blank },
            "getChildren2" => Expect { children: Some(self.children(path)), stat, ..blank },
            "getACL" => Expect { acl: Some(znode.acl), stat, ..blank },
            "getAllChildrenNumber" => Expect { number: Some(self.descendants(path)), ..blank },
            other => panic!("{other} is not drawn"),
        })
    }

    fn multi_read(&self, step: &Request) -> Expect {
        let read = |op: &Request| match self.znodes.get(path(op)) {
            None => failed("NoNode"),
            Some(_) if op.op == "getChildren" => {
                OpResult { get_children: Some(self.children(path(op))), ..OpResult::default() }
            }
            Some(znode) => {
                let stat = Some(self.stat(path(op)));
                OpResult { get_data: Some(znode.data.clone()), stat, ..OpResult::default() }
            }
        };
        Expect { results: Some(step.ops.iter().map(read).collect()), ..Expect::default() }
    }

    /// The names of the children, in their order.
    fn children(&self, path: &str) -> Vec<String> {
        let children = self.znodes.keys().filter(|child| *child != "/" && parent(child) == Some(path));
        let mut names: Vec<String> =
            children.map(|child| child[child.rfind('/').map_or(0, |at| at + 1)..].to_owned()).collect();
        names.sort();
        names
    }

    fn descendants(&self, path: &str) -> i32 {
        let below = format!("{path}/");
        count(self.znodes.keys().filter(|other| other.starts_with(&below)).count())
    }

    fn stat(&self, path: &str) -> Stat {
        let znode = &self.znodes[path];
        let children = count(self.children(path).len());
        let zxid = |zxid: i64| Zxid::Relative(zxid);
        Stat {
            version: znode.version,
            // A child that was made and deleted counts twice.
            cversion: 2 * znode.creations - children,
            aversion: znode.aversion,
            data_length: count(znode.data.as_ref().map_or(0, String::len)),
            num_children: children,
            czxid: zxid(znode.czxid),
            mzxid: zxid(znode.mzxid),
            pzxid: zxid(znode.pzxid),
            ephemeral_owner: znode.owner.clone().map_or(Owner::Number(0), Owner::Label),
        }
    }

    fn with_stat(&self, path: &str) -> Expect {
        Expect { stat: Some(self.stat(path)), ..Expect::default() }
    }

    fn znode(&self, data: Option<String>, acl: Acl, owner: Option<String>) -> Znode {
        let (czxid, mzxid, pzxid) = (self.zxid, self.zxid, self.zxid);
        Znode { data, acl, version: 0, aversion: 0, creations: 0, czxid, mzxid, pzxid, owner }
    }

    // ── watches ──

    fn notify(&mut self, change: &Change) {
        match change {
            Change::Set(path) => {
                let watching = take(&mut self.data_watches, path);
                self.tell(watching, "NodeDataChanged", path);
            }
            Change::Created(path) => {
                let watching = take(&mut self.data_watches, path);
                self.tell(watching, "NodeCreated", path);
                self.notify_parent(path);
            }
            Change::Deleted(path) => {
                // Both tables, but each session once.
                let mut watching = take(&mut self.data_watches, path);
                watching.extend(take(&mut self.child_watches, path));
                self.tell(watching, "NodeDeleted", path);
                self.notify_parent(path);
            }
        }
    }

    fn notify_parent(&mut self, path: &str) {
        let above = parent(path).expect("a znode has a parent").to_owned();
        let watching = take(&mut self.child_watches, &above);
        self.tell(watching, "NodeChildrenChanged", &above);
    }

    fn tell(&mut self, watching: BTreeSet<String>, kind: &str, path: &str) {
        self.notified.extend(watching.into_iter().map(|who| (who, vec![kind.to_owned(), path.to_owned()])));
    }
}

/// Those who watch a path; they do so no longer.
fn take(watches: &mut BTreeSet<(String, String)>, path: &str) -> BTreeSet<String> {
    let taken = watches.iter().filter(|(watched, _)| watched == path).cloned().collect::<Vec<_>>();
    taken.iter().for_each(|watch| _ = watches.remove(watch));
    taken.into_iter().map(|(_, who)| who).collect()
}

fn failed(err: &str) -> OpResult {
    OpResult { error: Some(err.to_owned()), ..OpResult::default() }
}

/// What stands before the last slash; none without a slash.
fn parent(path: &str) -> Option<&str> {
    match path.rfind('/')? {
        0 => Some("/"),
        at => Some(&path[..at]),
    }
}

/// The rule of paths, as far as it matters for those that are drawn.
fn valid(path: &str) -> Result<(), &'static str> {
    let good = path == "/" || path.starts_with('/') && !path.ends_with('/') && !path.contains("//");
    if good { Ok(()) } else { Err("BadArguments") }
}

fn expected(wanted: Option<i32>, version: i32) -> Result<(), &'static str> {
    if wanted.is_none_or(|wanted| wanted == -1 || wanted == version) { Ok(()) } else { Err("BadVersion") }
}

/// All access lists here are about everybody.
fn allows(znode: &Znode, permission: char) -> bool {
    znode.acl.iter().any(|(letters, _, _)| matches!(letters, NameOrNumber::Name(l) if l.contains(permission)))
}

fn open() -> Acl {
    vec![(NameOrNumber::Name("cdrwa".to_owned()), "world".to_owned(), "anyone".to_owned())]
}

fn path(step: &Request) -> &str {
    step.path.as_deref().unwrap_or_default()
}

fn acl(step: &Request) -> Acl {
    step.acl.clone().unwrap_or_else(open)
}

fn mode(step: &Request) -> &str {
    match &step.mode {
        Some(NameOrNumber::Name(name)) => name,
        _ => "persistent",
    }
}

fn data(step: &Request) -> Option<String> {
    match &step.data {
        _ if step.nulldata => None,
        Some(Data::Text(text)) => Some(text.clone()),
        _ => Some(String::new()),
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).expect("there are few")
}
