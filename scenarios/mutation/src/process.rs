//! Child processes with a limit of time.

use anyhow::Context;
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// The variable that activates a mutant.
pub const MUTANT: &str = "ZK_MUTANT";

/// The variable that names the file to which the numbers of reached mutants are appended.
pub const REACHED: &str = "ZK_MUTANT_REACHED";

/// Runs a command to its end; `None` if it was killed at the limit.
///
/// # Errors
///
/// It cannot be started.
pub async fn within(limit: Duration, mut command: Command) -> anyhow::Result<Option<Output>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().with_context(|| format!("{command:?} cannot be started"))?;
    match tokio::time::timeout(limit, child.wait_with_output()).await {
        Ok(output) => Ok(Some(output?)),
        Err(_) => Ok(None),
    }
}
