//! Workloads that belong to no recipe. Each varies what the workloads of the recipes keep fixed.
//!
//! | module | varies |
//! |---|---|
//! | [`long_holds`], [`many_holds`] | how long a hold lasts, and how many one session has |
//! | [`guards`] | which methods of a guard its holder calls, over every recipe that has guards |
//! | [`work_queues`], [`relaxed_queue`] | how a consumer takes items: in batches that outlive a round, or out of order |
//! | [`services`] | the data of names and members, which change while others follow them |
//! | [`gates`] | the wait at a barrier, which has no time limit |
//! | [`ballots`] | what a site asks for beyond its vote |
//! | [`settings`] | the options of a configuration |
//! | [`worn_lines`], [`worn_queues`] | the sequence numbers of a directory, of which few or none are left |
//! | [`mistakes`] | the input of the calls, which makes no sense |
//! | [`raw`] | the recipe: there is none, and ZooKeeper itself is judged |

pub mod ballots;
pub mod gates;
pub mod guards;
pub mod long_holds;
pub mod many_holds;
pub mod mistakes;
pub mod raw;
pub mod relaxed_queue;
pub mod services;
pub mod settings;
pub mod work_queues;
pub mod worn_lines;
pub mod worn_queues;

use crate::recipe::Recipe;

/// All variations.
pub(crate) static ALL: &[&Recipe] = &[
    &long_holds::RECIPE,
    &many_holds::RECIPE,
    &guards::RECIPE,
    &work_queues::RECIPE,
    &services::RECIPE,
    &gates::RECIPE,
    &ballots::RECIPE,
    &settings::RECIPE,
    &worn_lines::RECIPE,
    &worn_queues::RECIPE,
    &relaxed_queue::RECIPE,
    &mistakes::RECIPE,
    &raw::RECIPE,
];
