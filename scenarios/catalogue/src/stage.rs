//! The stage of this catalogue's stories: the harness's stage, with clients that have the recipes' vocabulary.
//!
//! Every action is a call of [`does`](zk_harness::stage::Actor::does): an operation of a recipe, in the client's own
//! process and in the journal. A recipe's own words, such as `acquires`, are methods on [`Actor`] in the file
//! `words.rs` of its folder: each calls `does` with the verb, the object, and the belief that follows. A word that
//! *begins* an operation (`asks`, `puts`) returns a future at once; the word that *completes* it (`acquires`) awaits
//! that future.

#[cfg(test)]
mod tests;

use std::ops::Deref;
use zk_harness::stage;

/// A stage whose clients have the recipes' vocabulary.
#[derive(Clone)]
pub struct Stage(stage::Stage);

impl From<stage::Stage> for Stage {
    fn from(stage: stage::Stage) -> Stage {
        Stage(stage)
    }
}

impl Deref for Stage {
    type Target = stage::Stage;

    fn deref(&self) -> &stage::Stage {
        &self.0
    }
}

impl Stage {
    /// A client with a session.
    pub async fn client(&self, name: &str) -> Actor {
        Actor(self.0.client(name).await)
    }
}

/// A client of a story, with the recipes' vocabulary.
#[derive(Clone)]
pub struct Actor(stage::Actor);

impl Deref for Actor {
    type Target = stage::Actor;

    fn deref(&self) -> &stage::Actor {
        &self.0
    }
}
