//! Where the stories of this catalogue are played: the stage of the harness, and clients that know the recipes' words.
//!
//! What any client does is [`does`](zk_harness::stage::Actor::does): an operation of a recipe, in the client's own process and
//! in the journal. A recipe's own words, such as `acquires`, are methods on [`Actor`] in the file `words.rs` of its folder: each a
//! call of `does`, with the verb, the object, and what the client then believes. A word for what is *begun* gives a future and
//! returns at once (`asks`, `puts`); the word for having *done* it awaits that (`acquires`).

#[cfg(test)]
mod tests;

use std::ops::Deref;
use zk_harness::stage;

/// A stage on which clients know the recipes' words.
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

/// A client of a story, who knows the recipes' words.
#[derive(Clone)]
pub struct Actor(stage::Actor);

impl Deref for Actor {
    type Target = stage::Actor;

    fn deref(&self) -> &stage::Actor {
        &self.0
    }
}
