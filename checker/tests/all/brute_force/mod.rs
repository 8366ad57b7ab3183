//! The monitors against brute force: every small history, and many random ones, judged by trying all orders.
//!
//! 100,000 random histories of each object in every run; `ZKSIM_HISTORIES=1000000` for more.

mod agree;
mod exhaustive;
mod forged;
mod objects;
mod random;

use objects::*;

macro_rules! objects {
    ($($object:ident => $every:ident, $random:ident;)+) => {
        $(
            #[test]
            fn $every() {
                exhaustive::every_history::<$object>();
            }

            #[test]
            fn $random() {
                random::random_histories::<$object>();
            }
        )+
    };
}

objects! {
    Lock => every_small_history_of_a_lock, random_histories_of_a_lock;
    SharedLock => every_small_history_of_a_shared_lock, random_histories_of_a_shared_lock;
    Semaphore => every_small_history_of_a_semaphore, random_histories_of_a_semaphore;
    Office => every_small_history_of_an_office, random_histories_of_an_office;
    FifoQueue => every_small_history_of_a_queue, random_histories_of_a_queue;
    PriorityQueue => every_small_history_of_a_priority_queue, random_histories_of_a_priority_queue;
    Cell => every_small_history_of_a_register, random_histories_of_a_register;
    Counter => every_small_history_of_a_counter, random_histories_of_a_counter;
}
