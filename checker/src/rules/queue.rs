//! Queues and priority queues: QU-1 to QU-10.
//!
//! An item is a znode that a put created below the queue, with the argument of the put as its data. Arguments are
//! distinct, so the data identify it, and a returned item is identified by its text. Neither needs the names of znodes.

mod batch;
pub(super) mod consumers;
pub(super) mod items;
mod stock;

use crate::kinds::SeenAs;
use crate::rule::prelude::*;
use crate::scene::is_above;

/// Whether an object is a queue of either kind.
fn is_queue(tables: Tables<'_>, object: ObjectId) -> bool {
    let object = tables.objects.get(usize::from(object.0));
    object.is_some_and(|object| object.kind.recipe().has_items())
}

/// Whether items of an object are handed out in the order in which they were put.
fn is_fifo(object: &Object) -> bool {
    object.kind.recipe().seen_as == SeenAs::Fifo
}

/// Whether an operation hands items out.
fn gets(verb: Verb) -> bool {
    matches!(verb, Verb::Take | Verb::Claim)
}

/// Whether a path lies anywhere below another.
fn is_below(tables: Tables<'_>, path: &str, object: ObjectId) -> bool {
    let root = tables.objects.get(usize::from(object.0)).and_then(|object| tables.names.get(object.path));
    root.is_some_and(|root| is_above(root, path))
}
