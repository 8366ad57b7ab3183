//! The parts that recipes are made of. A part does not know which recipe uses it.
//!
//! | part | used by | must not know |
//! |---|---|---|
//! | [`parents`]: directories that are missing | every recipe with a directory | what stands in the directory |
//! | [`locked`]: mutexes that ignore poisoning | other parts, `election`, `two_phase_commit` | what they protect |
//! | [`naming`]: names of sequential znodes | `lock`, `shared_lock`, `revocable_lock`, `priority_lock`, `semaphore`, `election`, `double_barrier`, `queue` | sessions and requests |
//! | [`retry`]: connection loss, overloaded servers | every recipe | what a request asks for |
//! | [`select`]: deadlines, and the first of two futures | every recipe that waits | why the work is dropped |
//! | [`barrier_read`]: a read behind a settling write | `names`, `config`, [`claim`] | what the znode means |
//! | [`contenders`]: the queue of waiters | the locks, `election`, `queue` | what the first contender is granted |
//! | [`owned_node`]: the caller's own znode, watched | [`tenure`], `revocable_lock`, `priority_lock` | whether the znode stands for a hold or for a wait |
//! | [`promotion`]: a grant that replaces a waiter's znode | `priority_lock`, `semaphore` | who may be granted |
//! | [`tenure`]: a hold, its loss, its fenced writes | the locks, `election`, [`claim`] | how the hold was won |
//! | [`hold_methods`]: methods that holds share | the locks, `election`, `double_barrier`, `names`, `group` | how the hold was won |
//! | [`lock_methods`]: methods that locks share | `lock`, `shared_lock`, `revocable_lock`, `election` | what a guard holds |
//! | [`revoke`]: asking or forcing an owner to release | `revocable_lock`, `priority_lock` | how the owner learns of it |
//! | [`claim`]: exclusive names | `names`, `group` | what the name is for |
//! | [`watch_loop`]: the values of one znode, as they change | `config`, `names` | who writes the value |
//! | [`setters`]: options that grow | every recipe with options | what the options mean |
//! | [`followed`]: changes as a stream | `config`, `names`, `group`, `election` | what changes |
//! | [`watched`]: a state that futures wait for | `supervisor` | what the state means |
//! | [`receipt`]: writes that happen exactly once | `queue`, `priority_queue` | what is written |

pub(crate) mod barrier_read;
pub(crate) mod claim;
pub(crate) mod contenders;
pub(crate) mod followed;
pub(crate) mod hold_methods;
pub(crate) mod lock_methods;
pub(crate) mod locked;
pub(crate) mod naming;
pub(crate) mod owned_node;
pub(crate) mod parents;
pub(crate) mod promotion;
pub(crate) mod receipt;
pub(crate) mod retry;
pub(crate) mod revoke;
pub(crate) mod select;
pub(crate) mod setters;
pub(crate) mod tenure;
pub(crate) mod watch_loop;
pub(crate) mod watched;
