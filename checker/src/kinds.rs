//! The kinds of object, a recipe a file: what the rules have to know of a recipe, and read without naming it.
//!
//! A [`Recipe`] answers five questions: which znode plays which part and who contends for what ([`Protocol`], which the view
//! reads), what each operation means and costs ([`Call`]), what a handle is called, what the clients' own view of an
//! object is judged as, and what programs report of one ([`ReportedEvent`]). Its constructors ask for what every recipe must
//! say, so the compiler names what a new kind forgets.
//!
//! What only one recipe has, such as the order of items or the votes of sites, is judged by rules of its own.

mod barrier;
mod config;
mod counter;
mod double_barrier;
mod election;
mod failures;
mod foreign;
mod group;
mod lock;
mod names;
mod permits;
mod persistent_node;
mod priority_lock;
mod queue;
mod reported;
mod revocable_lock;
mod shared_lock;
pub(crate) mod two_phase_commit;

use crate::evidence::{Evidence, Judged};
use crate::history::{Code, Failure, Kind, ObjectId, Seen, Sym, Verb};
use crate::scene::Scene;
use crate::view::{Part, Protocol};
pub use reported::{Meaning, ReportedEvent, ReportedItem};

/// The description of a recipe.
pub(crate) struct Recipe {
    /// Which znode plays which part, and how clients contend.
    pub(crate) protocol: Protocol,
    /// The operations; of two with the same verb, the first one counts.
    pub(crate) calls: &'static [&'static [Call]],
    /// The words for the roles of clients.
    pub(crate) roles: Roles,
    /// The operation that returns a handle which reports its state, and the name of the handle.
    pub(crate) handle: Option<(Verb, &'static str)>,
    /// How the clients' view of an object is judged.
    pub(crate) seen_as: SeenAs,
    /// How the reports of programs about an object are judged, and the events that they report.
    pub(crate) claimed_as: ClaimedAs,
    reported: &'static [&'static [ReportedEvent]],
    /// Whether as many clients hold an object at once as its size says.
    pub(crate) has_leases: bool,
    /// Whether a foreign client may put another object in the place of one, so that its znodes prove nothing.
    pub(crate) is_replaceable: bool,
}

/// The words for the roles of clients.
pub(crate) struct Roles {
    pub(crate) holder: &'static str,
    pub(crate) contender: &'static str,
    /// The verb for a client with the hold.
    pub(crate) holds: &'static str,
    /// What a client with the hold is.
    pub(crate) is: &'static str,
    /// The sentence for the absence of one.
    pub(crate) is_free: &'static str,
}

impl Roles {
    const PLAIN: Roles = Roles {
        holder: "holder",
        contender: "contender",
        holds: "hold",
        is: "the holder",
        is_free: "nobody holds it",
    };
}

/// The monitor that judges what clients saw of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeenAs {
    /// None.
    Nothing,
    /// Exclusive and shared holds.
    Holds,
    /// Items, first in first out.
    Fifo,
    /// Items, the more urgent first.
    MostUrgent,
}

/// The judge of what programs report of an object.
#[derive(Clone, Copy)]
pub(crate) enum ClaimedAs {
    /// None.
    Nothing,
    /// Holds that exclude each other.
    Holds,
    Barrier,
    DoubleBarrier,
    Queue,
    Counter,
    Partition,
    Cache,
    Group,
}

/// What an operation of a recipe means and costs.
pub(crate) struct Call {
    verb: Verb,
    /// The largest numbers of requests and of round trips of an undisturbed call: those of the most expensive option in
    /// `recipes/COST.md`. None for calls that wait for others.
    pub(crate) budget: Option<(u32, u32)>,
    /// The largest number of requests of a call that waits, and of requests for each wake-up.
    pub(crate) waiting: Option<(u32, u32)>,
    /// Whether its return as done is true; `None` if it reports nothing that is judged here.
    pub(crate) done: fn(&Evidence<'_>) -> Option<Judged>,
    /// The values that it hands out, if they are judged here.
    pub(crate) hands_out: &'static [Value],
    /// The reasons of failure that mean more than they mean everywhere.
    fails: &'static [(Failure, Lacks)],
}

/// The missing justification of a failure; `None` if it is justified.
type Lacks = fn(&Evidence<'_>) -> Option<String>;

/// A value that an operation hands out before it returns.
pub(crate) struct Value {
    pub(crate) seen: Seen,
    /// Its name in a sentence: "was told the results".
    pub(crate) what: &'static str,
    /// The contradiction in it, by its text and its number.
    pub(crate) untrue: fn(&Evidence<'_>, Sym, u64) -> Option<&'static str>,
}

impl Recipe {
    /// A recipe in which clients contend for holds.
    const fn of_holds(protocol: Protocol, calls: &'static [&'static [Call]]) -> Recipe {
        Recipe {
            protocol,
            calls,
            roles: Roles::PLAIN,
            handle: None,
            seen_as: SeenAs::Holds,
            claimed_as: ClaimedAs::Nothing,
            reported: &[],
            has_leases: false,
            is_replaceable: false,
        }
    }

    /// A recipe without contenders.
    const fn of_znodes(part: fn(&str) -> Part, calls: &'static [&'static [Call]]) -> Recipe {
        Recipe::of_holds(Protocol::uncontended(part), calls).seen_as(SeenAs::Nothing)
    }

    const fn with_roles(self, roles: Roles) -> Recipe {
        Recipe { roles, ..self }
    }

    const fn with_handle(self, verb: Verb, name: &'static str) -> Recipe {
        Recipe { handle: Some((verb, name)), ..self }
    }

    const fn seen_as(self, seen_as: SeenAs) -> Recipe {
        Recipe { seen_as, ..self }
    }

    const fn reported(self, claimed_as: ClaimedAs, reported: &'static [&'static [ReportedEvent]]) -> Recipe {
        Recipe { claimed_as, reported, ..self }
    }

    const fn with_leases(self) -> Recipe {
        Recipe { has_leases: true, ..self }
    }

    const fn replaceable(self) -> Recipe {
        Recipe { is_replaceable: true, ..self }
    }

    /// Whether clients put items and take them.
    pub(crate) fn has_items(&self) -> bool {
        matches!(self.seen_as, SeenAs::Fifo | SeenAs::MostUrgent)
    }

    /// The meaning of an operation; none if nothing is judged of it.
    pub(crate) fn call(&self, verb: Verb) -> Option<&'static Call> {
        self.calls.iter().copied().flatten().find(|call| call.verb == verb)
    }

    /// The missing justification of a failure.
    pub(crate) fn lacks(&self, evidence: &Evidence<'_>, failure: Failure) -> Option<String> {
        let own = self.call(evidence.verb).into_iter().flat_map(|call| call.fails);
        match own.into_iter().find(|(of, _)| *of == failure) {
            Some((_, lacks)) => lacks(evidence),
            None => failures::lacks(evidence, failure),
        }
    }

    /// Whether nothing is known about an object any more.
    pub(crate) fn proves_nothing(&self, scene: &Scene<'_>, object: ObjectId) -> bool {
        self.is_replaceable && scene.is_interfered_with(object)
    }
}

impl Call {
    const fn of(verb: Verb) -> Call {
        Call { verb, budget: None, waiting: None, done: |_| None, hands_out: &[], fails: &[] }
    }

    const fn costs(self, requests: u32, round_trips: u32) -> Call {
        Call { budget: Some((requests, round_trips)), ..self }
    }

    const fn waits(self, requests: u32, per_wake_up: u32) -> Call {
        Call { waiting: Some((requests, per_wake_up)), ..self }
    }

    const fn done(self, done: fn(&Evidence<'_>) -> Option<Judged>) -> Call {
        Call { done, ..self }
    }

    const fn hands_out(self, hands_out: &'static [Value]) -> Call {
        Call { hands_out, ..self }
    }

    const fn fails(self, fails: &'static [(Failure, Lacks)]) -> Call {
        Call { fails, ..self }
    }
}

impl Value {
    /// A value that a server's answer, or a notification, must have brought.
    const fn read(seen: Seen) -> Value {
        Value { seen, what: "a value", untrue: |evidence, _, _| unread(evidence) }
    }

    /// The absence of a value, which a server must have reported.
    const fn none(seen: Seen) -> Value {
        let untrue: fn(&Evidence<'_>, Sym, u64) -> Option<&'static str> =
            |evidence, _, _| (!evidence.has_read(Some(Code::NoNode))).then_some("no server has said so");
        Value { seen, what: "that there is none", untrue }
    }
}

/// The contradiction in a value that nothing has brought.
fn unread(evidence: &Evidence<'_>) -> Option<&'static str> {
    (!evidence.has_read(None)).then_some("no server has answered it since its call, or since the last value")
}

impl Kind {
    /// The description of the recipe.
    pub(crate) fn recipe(self) -> &'static Recipe {
        match self {
            Kind::Lock => &lock::LOCK,
            Kind::SharedLock => &shared_lock::SHARED_LOCK,
            Kind::RevocableLock => &revocable_lock::REVOCABLE_LOCK,
            Kind::PriorityLock => &priority_lock::PRIORITY_LOCK,
            Kind::Election => &election::ELECTION,
            Kind::Barrier => &barrier::BARRIER,
            Kind::DoubleBarrier => &double_barrier::DOUBLE_BARRIER,
            Kind::Queue => &queue::QUEUE,
            Kind::PriorityQueue => &queue::PRIORITY_QUEUE,
            Kind::TwoPhaseCommit => &two_phase_commit::TWO_PHASE_COMMIT,
            Kind::Names => &names::NAMES,
            Kind::Config => &config::CONFIG,
            Kind::Group => &group::GROUP,
            Kind::PersistentNode => &persistent_node::PERSISTENT_NODE,
            Kind::SharedCounter => &counter::SHARED_COUNTER,
            Kind::Permits => &permits::PERMITS,
            Kind::Semaphore => &foreign::SEMAPHORE,
            Kind::Counter => &foreign::COUNTER,
            Kind::Partition => &foreign::PARTITION,
            Kind::Cache => &foreign::CACHE,
        }
    }

    /// Whether clients of an object of this kind call an operation.
    pub fn has(self, verb: Verb) -> bool {
        self.recipe().call(verb).is_some()
    }

    /// The events that programs report of an object; none if their reports are not judged.
    pub fn reported_events(self) -> impl Iterator<Item = &'static ReportedEvent> {
        self.recipe().reported.iter().copied().flatten()
    }

    /// Whether as many clients hold an object at once as its size says.
    pub fn has_leases(self) -> bool {
        self.recipe().has_leases
    }

    /// Whether holders can be asked to release.
    pub fn is_revocable(self) -> bool {
        self.recipe().protocol.is_revocable()
    }

    /// The verb for a client with the hold.
    pub fn holds(self) -> &'static str {
        self.recipe().roles.holds
    }
}

/// The protocol of a kind, for the view.
pub(crate) fn protocol_of(kind: Kind) -> &'static Protocol {
    &kind.recipe().protocol
}

/// Every child of the object's directory represents a client.
fn child(below: &str) -> Part {
    if below.is_empty() || below.contains('/') { Part::Other } else { Part::Member }
}

/// The object is one znode.
fn itself(below: &str) -> Part {
    if below.is_empty() { Part::Itself } else { Part::Other }
}
