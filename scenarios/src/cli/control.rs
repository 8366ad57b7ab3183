//! `zksim control`: the verbs of the control API, from a shell.

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, Value};
use std::process::ExitCode;
use zk_checker::Verdict;
use zk_serve::command::QUESTIONS;

/// How long an answer may take, in seconds: some wait for an election.
const LIMIT: u64 = 60;

#[derive(Args)]
pub(super) struct Control {
    /// The address that `zksim serve` prints on its second line, such as http://127.0.0.1:40004
    url: String,
    /// A verb: `status`, `sessions`, `lose-reply`, `crash`, `heal`, `verdict`, ... A wrong one shows all
    verb: String,
    /// The fields of the verb, such as `op=create`, `path=/locks`, `server=1`, `for=5s`
    fields: Vec<String>,
}

impl Control {
    /// Makes one request and prints the answer. The exit status of `verdict` is that of the verdict.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let base = self.url.strip_prefix("control ").unwrap_or(&self.url).trim_end_matches('/');
        let fields = self.fields.iter().map(|pair| field(pair)).collect::<anyhow::Result<Map<_, _>>>()?;
        let url = format!("{base}/{}", self.verb);
        let request = if QUESTIONS.contains(&self.verb.as_str()) {
            fields.iter().fold(minreq::get(url), |request, (key, value)| {
                request.with_param(key, value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
            })
        } else {
            minreq::post(url).with_body(Value::Object(fields).to_string())
        };
        let response = request
            .with_timeout(LIMIT)
            .send()
            .with_context(|| format!("no answer from the control API at {base}"))?;
        let body = response.as_str().context("the answer is not text")?;
        if response.status_code != 200 {
            let said: Option<Value> = serde_json::from_str(body).ok();
            let why = said.as_ref().and_then(|said| said["error"].as_str()).unwrap_or(body).trim();
            bail!("{why}");
        }
        if self.verb != "verdict" {
            print!("{body}");
            return Ok(ExitCode::SUCCESS);
        }
        let said: Value = serde_json::from_str(body).context("the answer is not JSON")?;
        print!("{}", said["text"].as_str().unwrap_or(body));
        let verdict = said["verdict"].as_str().and_then(Verdict::from_name);
        Ok(super::status(verdict.context("the answer has no verdict")?))
    }
}

/// Reads `server=1` or `path=/locks`.
fn field(pair: &str) -> anyhow::Result<(String, Value)> {
    let (key, value) =
        pair.split_once('=').with_context(|| format!("{pair:?} is not a field such as path=/locks"))?;
    // Only these are numbers; the name of a client may look like one.
    let is_number = matches!(key, "server" | "from" | "to" | "count");
    let number = value.parse::<u64>().ok().filter(|_| is_number);
    Ok((key.to_owned(), number.map_or_else(|| value.into(), Value::from)))
}
