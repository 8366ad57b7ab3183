//! A future that is left unpolled holds up no other call of the same object: all pairs of calls, recipe by recipe.

mod barriers;
mod commits;
mod locks;
mod queues;
mod values;
