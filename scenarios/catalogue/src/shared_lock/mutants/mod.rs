//! Shared locks that are wrong in one step.

pub(crate) mod bend;
mod highest_reader;
mod later_writer;
mod literal_names;
mod lowest_writer;
mod readers_in_line;
mod writer_passes_readers;

use zk_harness::target::Target;

/// All of them.
pub(super) static ALL: &[&Target] = &[
    &later_writer::TARGET,
    &highest_reader::TARGET,
    &lowest_writer::TARGET,
    &literal_names::TARGET,
    &readers_in_line::TARGET,
    &writer_passes_readers::TARGET,
];
