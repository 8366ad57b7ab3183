//! Workloads that belong to no recipe. Each varies what the workloads of the recipes keep fixed.
//!
//! | module | varies |
//! |---|---|
//! | [`long_holds`], [`many_holds`] | how long a hold lasts, and how many one session has |
//! | [`guard_methods`] | which methods of a guard its holder calls, over every recipe that has guards |
//! | [`work_queues`], [`relaxed_queue`] | how a consumer takes items: in batches that outlive a round, or out of order |
//! | [`changing_data`] | the data of names and members, which change while others follow them |
//! | [`unlimited_waits`] | the wait at a barrier, which has no time limit |
//! | [`supervised`] | how long the work lasts: longer than a session |
//! | [`site_queries`] | what a site asks for beyond its vote |
//! | [`varied_options`] | the options of a configuration |
//! | [`exhausted_lines`], [`exhausted_queues`] | the sequence numbers of a directory, of which few or none are left |
//! | [`invalid_input`] | the input of the calls, which makes no sense |
//! | [`raw`] | the recipe: there is none, and ZooKeeper itself is judged |

pub mod changing_data;
pub mod exhausted_lines;
pub mod exhausted_queues;
pub mod guard_methods;
pub mod invalid_input;
pub mod long_holds;
pub mod many_holds;
pub mod raw;
pub mod relaxed_queue;
pub mod site_queries;
pub mod supervised;
pub mod unlimited_waits;
pub mod varied_options;
pub mod work_queues;

use crate::recipe::Recipe;

/// Former names of variations. Recordings and command lines may have them, also as the beginning of a mutant's name.
pub(crate) static FORMER_NAMES: &[(&str, &str)] = &[
    ("guards", "guard-methods"),
    ("services", "changing-data"),
    ("gates", "unlimited-waits"),
    ("ballots", "site-queries"),
    ("settings", "varied-options"),
    ("worn-lines", "exhausted-lines"),
    ("worn-queues", "exhausted-queues"),
    ("mistakes", "invalid-input"),
];

/// All variations.
pub(crate) static ALL: &[&Recipe] = &[
    &long_holds::RECIPE,
    &many_holds::RECIPE,
    &guard_methods::RECIPE,
    &work_queues::RECIPE,
    &changing_data::RECIPE,
    &unlimited_waits::RECIPE,
    &site_queries::RECIPE,
    &supervised::RECIPE,
    &varied_options::RECIPE,
    &exhausted_lines::RECIPE,
    &exhausted_queues::RECIPE,
    &relaxed_queue::RECIPE,
    &invalid_input::RECIPE,
    &raw::RECIPE,
];
