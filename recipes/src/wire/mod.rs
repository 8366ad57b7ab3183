//! ZooKeeper's wire protocol, as far as both of its sides share it: the encoding and the numbers.
//!
//! Nothing here knows a socket or a clock.
//!
//! | module | content |
//! |---|---|
//! | [`jute`] | the encoding: numbers, texts, buffers, lists |
//! | [`number`] | the numbers of operations, and the xids that mean something |

pub mod jute;
pub mod number;
