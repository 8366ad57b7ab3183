//! Pairs of calls on one object: one is polled a few times and then left alone, the other one must complete.
//!
//! A future that is left alone is kept and not polled: an arm of a `select!` that is taken up later, or a task that its
//! executor does not get round to. It hears nothing, since its waker wakes nobody.
//!
//! A scene makes the object anew for each try. Its calls are a table; a new method is a new line of it.

use super::{Client, Drops, Stage, dropping, play};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

/// A call that has begun.
pub type Calling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A call that can be tried.
pub struct Call<S> {
    pub name: &'static str,
    /// `None`: the other call has taken what this one needs, so that the compiler refuses the two together.
    pub begin: fn(&S) -> Option<Calling>,
    /// What somebody else does meanwhile, for a call that waits for it.
    pub meanwhile: fn(&S) -> Option<Calling>,
}

/// Where calls are tried in pairs.
pub trait Scene: Sized + Send + Sync + 'static {
    /// All calls of the object, and of what it has handed out.
    const CALLS: &'static [Call<Self>];

    /// Why the first call rightly holds up the second one, as the documentation says; `None`: it must not.
    fn inherent(_left: &str, _other: &str) -> Option<&'static str> {
        None
    }

    fn set(stage: Stage) -> impl Future<Output = Self> + Send;

    /// Whose calls they are.
    fn caller(&self) -> &Client;
}

/// What a scene lends to its calls: shared among several, or taken by one.
pub struct Part<T>(Mutex<Option<Arc<T>>>);

impl<T> Part<T> {
    pub fn new(part: T) -> Self {
        Part(Mutex::new(Some(Arc::new(part))))
    }

    pub fn share(&self) -> Option<Arc<T>> {
        self.0.lock().unwrap().clone()
    }

    pub fn take(&self) -> Option<T> {
        let mut part = self.0.lock().unwrap();
        match Arc::try_unwrap(part.take()?) {
            Ok(taken) => Some(taken),
            Err(shared) => {
                *part = Some(shared);
                None
            }
        }
    }
}

/// A line of the table: `call!(share lock.acquire())` for a method of `&self`, `take` for one of `self`, `change` for one of
/// `&mut self`. A call that waits for somebody else says for what: `call!(share guard.lost(), while deleted)`.
#[allow(unused_macros, reason = "other binaries share this folder, and try no pairs")]
macro_rules! call {
    (@line $part:ident . $method:ident $($within:ident)?, $begin:expr, $meanwhile:expr) => {
        $crate::common::left_alone::Call {
            name: concat!(stringify!($part), ".", stringify!($method) $(, " ", stringify!($within))?),
            begin: $begin,
            meanwhile: $meanwhile,
        }
    };
    (share $part:ident . $method:ident ( $($arg:expr),* ) $(, while $meanwhile:ident)?) => {
        call!(@line $part.$method, |scene| {
            let part = scene.$part.share()?;
            Some(Box::pin(async move {
                let _ended = part.$method($($arg),*).await;
            }))
        }, call!(@while $($meanwhile)?))
    };
    (share $part:ident . $method:ident ( $($arg:expr),* ) within $limit:expr) => {
        call!(@line $part.$method within, |scene| {
            let part = scene.$part.share()?;
            Some(Box::pin(async move {
                let _ended = part.$method($($arg),*).within($limit).await;
            }))
        }, |_| None)
    };
    (take $part:ident . $method:ident ( $($arg:expr),* ) $(, while $meanwhile:ident)?) => {
        call!(@line $part.$method, |scene| {
            let part = scene.$part.take()?;
            Some(Box::pin(async move {
                let _ended = part.$method($($arg),*).await;
            }))
        }, call!(@while $($meanwhile)?))
    };
    (take $part:ident . $method:ident ( $($arg:expr),* ) within $limit:expr) => {
        call!(@line $part.$method within, |scene| {
            let part = scene.$part.take()?;
            Some(Box::pin(async move {
                let _ended = part.$method($($arg),*).within($limit).await;
            }))
        }, |_| None)
    };
    (change $part:ident . $method:ident ( $($arg:expr),* ) $(, while $meanwhile:ident)?) => {
        call!(@line $part.$method, |scene| {
            let mut part = scene.$part.take()?;
            Some(Box::pin(async move {
                let _ended = part.$method($($arg),*).await;
            }))
        }, call!(@while $($meanwhile)?))
    };
    (@while) => { |_| None };
    (@while $meanwhile:ident) => { |scene| Some(scene.$meanwhile()) };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use call;

/// How long a call may take that waits for nobody, in simulated milliseconds.
const PATIENCE_MS: u64 = 30_000;

/// What happens between the two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Nothing,
    /// The connection breaks and comes back.
    Disconnect,
}

/// Tries all pairs of a scene's calls, the first of them polled so many times, from not at all to its end.
pub fn none_holds_up_another<S: Scene>() {
    let completes: Vec<bool> = S::CALLS.iter().map(completes_alone::<S>).collect();
    let mut tried = 0;
    for left in S::CALLS {
        for (other, completes) in S::CALLS.iter().zip(&completes) {
            if !completes || S::inherent(left.name, other.name).is_some() {
                continue;
            }
            for between in [Between::Nothing, Between::Disconnect] {
                for polls in 0.. {
                    assert!(polls < 100, "{} ends one day", left.name);
                    match try_pair(left, other, polls, between) {
                        Tried::Impossible | Tried::Ended => break,
                        Tried::Waits if polls > 0 => break,
                        Tried::GoesOn | Tried::Waits => tried += 1,
                    }
                }
            }
        }
    }
    assert!(tried > 0, "there is something to try");
}

/// Whether a call completes if nobody else calls.
fn completes_alone<S: Scene>(call: &'static Call<S>) -> bool {
    play(move |stage| async move {
        let scene = S::set(stage.clone()).await;
        let calling = (call.begin)(&scene).expect("nobody has taken it");
        completes(&stage, &scene, call, calling).await
    })
}

async fn completes<S: Scene>(stage: &Stage, scene: &S, call: &Call<S>, calling: Calling) -> bool {
    let meanwhile = (call.meanwhile)(scene);
    let both = async move {
        let mut calling = calling;
        if let Some(meanwhile) = meanwhile {
            if poll_once(&mut calling) {
                return;
            }
            meanwhile.await;
        }
        calling.await;
    };
    dropping(Drops::Later(PATIENCE_MS), stage, scene.caller(), both).await.is_some()
}

fn poll_once(calling: &mut Calling) -> bool {
    calling.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

enum Tried {
    /// The two calls cannot be made together.
    Impossible,
    /// The first call came to its end.
    Ended,
    /// It was left in the middle.
    GoesOn,
    /// It was left in the middle, and the last poll did not change anything that can be seen.
    Waits,
}

fn try_pair<S: Scene>(
    left: &'static Call<S>,
    other: &'static Call<S>,
    polls: usize,
    between: Between,
) -> Tried {
    play(move |stage| async move {
        let scene = S::set(stage.clone()).await;
        let Some(mut calling) = (left.begin)(&scene) else { return Tried::Impossible };
        let Some(beside) = (other.begin)(&scene) else { return Tried::Impossible };
        let mut tried = Tried::GoesOn;
        for _ in 0..polls {
            let mark = stage.mark();
            if poll_once(&mut calling) {
                return Tried::Ended;
            }
            tried = if stage.mark() == mark { Tried::Waits } else { Tried::GoesOn };
            stage.settle().await;
        }
        if between == Between::Disconnect {
            scene.caller().is_disconnected().await;
            scene.caller().is_connected_again().await;
        }
        let (a, b) = (left.name, other.name);
        let completes = completes(&stage, &scene, other, beside).await;
        assert!(completes, "{b} waits for {a}, polled {polls} times and left alone; {between:?} in between");
        // Taken up later, it goes on.
        dropping(Drops::Later(PATIENCE_MS), &stage, scene.caller(), calling).await;
        tried
    })
}
