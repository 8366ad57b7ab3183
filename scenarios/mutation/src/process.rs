//! Child processes with a limit of time and of memory.

use anyhow::Context;
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// The variable that activates a mutant.
pub const MUTANT: &str = "ZK_MUTANT";

/// The variable that names the file to which the numbers of reached mutants are appended.
pub const REACHED: &str = "ZK_MUTANT_REACHED";

/// The address space of a judge in KiB: a mutant that never stops collecting must not take the machine's memory.
const MEMORY: &str = "8388608";

/// The same command with a limit of memory; where the shell has no such limit, without one.
pub fn with_little_memory(command: &Command) -> Command {
    let command = command.as_std();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v \"$0\" 2>&-; exec \"$@\"", MEMORY]).arg(command.get_program());
    limited.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    limited
}

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
