//! `real`.
use clap::Args;
use std::process::ExitCode;
#[derive(Args)]
pub(super) struct Real {
    name: String,
}
impl Real {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("not yet {}", self.name)
    }
}
