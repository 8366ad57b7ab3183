//! `zksim control`: the verbs of the control API, from a shell.

mod answers;

use super::Output;
use crate::served::ControlApi;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value};
use std::process::ExitCode;
use zk_serve::command::{ACTIONS, QUESTIONS};

/// The time limit of an answer, in seconds: some answers wait for an election.
const LIMIT: u64 = 60;

/// The text below the help: the verbs, as in `CONTROL.md`.
const VERBS: &str = "\
Questions:
  status                               servers, sessions, pending faults
  sessions                             each client's session
  watches                              the watches that are armed
  tree          path                   the znodes
  history                              the history so far, for `judge`
  verdict       wait                   the verdict, and as exit status: 0, 1 broken, 2 unknown

Faults between a client and its server; the first five wait for a matching request:
  lose-reply    client op path count   the request is applied, and its reply is lost
  lose-request  client op path count   the request is lost
  delay-reply   for client op path count  the reply, and everything behind it, is late
  refuse        code client op path count  the server refuses the request
  lose-notification  client path count  the connection breaks before it arrives
  disconnect    client                 the connection breaks
  mute          client for             no packet of the client arrives
  deafen        client for             no packet to the client arrives
  partition     client for             no packet arrives, in either direction
  expire        client                 the session ends

Faults of servers:
  crash         server for             the process dies, until `start`
  start         server wait            a crashed server starts
  restart       server wait            the process dies and starts again
  pause         server for             the process stops, until `resume`
  resume        server wait            a paused server continues
  cut           server for, from to for  one from all others, or two from each other
  hold          from to for            packets are held until `release`
  lose-packets  from to for            packets are lost until `release`
  stall         server what for        a part of the server stalls
  release       server what, from to   ends a cut, a hold, a loss or a stall
  elect                                the leader crashes, another one is elected
  heal                                 ends all faults

Beliefs, and the end:
  name          client name            the client's name in findings
  report        client object kind event item, such as
                client=client-1 object=/locks/a kind=lock event=acquired
  process       client state           its process is stopped, running or gone
  quiesce                              no further event comes: waiting clients are judged now
  shutdown                             the ensemble ends

Fields:
  client        a session id (0x1000a2b3c4d0001) or a name (client-1);
                absent: any client, or all
  op            create, delete, exists, get, set, children, multi, sync, getAcl, setAcl,
                addWatch, removeWatches, closeSession
  path          the prefix of the request's path
  count         how many times; absent: once
  for           500ms, 2s, 5m
  server        a number from 0, in the order of the connect string; so are `from` and `to`
  code          throttled, quota-exceeded, access-denied, server-error
  what          disk, apply, commit; absent in `release`: all of that server
  wait          false: the answer comes at once, before the server serves;
                of `verdict`, true: it comes when everything is decided, within seconds

Examples:
  zksim control http://127.0.0.1:40004 lose-reply op=create path=/locks
  zksim control http://127.0.0.1:40004 crash server=1 for=5s
  zksim control http://127.0.0.1:40004 sessions --format json
  zksim control http://127.0.0.1:40004 verdict";

#[derive(Args)]
#[command(after_help = VERBS)]
pub(super) struct Control {
    /// The address on the second line of `zksim serve`, such as http://127.0.0.1:40004
    url: String,
    /// The command or question: one of those below
    verb: String,
    /// The fields of the verb, each as `key=value`
    #[arg(value_name = "KEY=VALUE")]
    fields: Vec<String>,
    #[command(flatten)]
    output: Output,
}

impl Control {
    /// Makes one request and prints the answer. The exit status of `verdict` is that of `serve --check` and `judge`.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let base = base(&self.url)?;
        let verb = self.verb.as_str();
        if !verbs().any(|known| known == verb) {
            return Err(unknown(verb, &self.fields));
        }
        let body = ask(&base, verb, fields(&self.fields)?)?;
        if verb == "history" {
            print!("{body}");
            return Ok(ExitCode::SUCCESS);
        }
        let said: Value = serde_json::from_str(&body).map_err(|_| no_control(&base))?;
        if said["settled"] == false {
            eprintln!("warning: no effect within 20 s");
        }
        if self.output.is_json() {
            print!("{body}");
        } else {
            print!("{}", answers::text(verb, &said));
        }
        if verb != "verdict" {
            return Ok(ExitCode::SUCCESS);
        }
        let status = said["exit_status"].as_u64().and_then(|status| u8::try_from(status).ok());
        Ok(ExitCode::from(status.ok_or_else(|| no_control(&base))?))
    }
}

/// A control API at an address, for other modules.
pub(super) struct Http {
    base: String,
}

impl Http {
    /// The control API at the address that `zksim serve` prints.
    pub(super) fn at(url: &str) -> anyhow::Result<Http> {
        Ok(Http { base: base(url)? })
    }
}

impl ControlApi for Http {
    fn ask(&self, verb: &str, fields: Value) -> Result<Value, String> {
        let Value::Object(fields) = fields else { unreachable!("fields are those of an object") };
        let body = ask(&self.base, verb, fields).map_err(|why| why.to_string())?;
        serde_json::from_str(&body).map_err(|_| no_control(&self.base).to_string())
    }
}

fn verbs() -> impl Iterator<Item = &'static str> {
    ACTIONS.into_iter().chain(QUESTIONS)
}

/// The base address, without a trailing slash or the word `control`.
fn base(url: &str) -> anyhow::Result<String> {
    let said = url.trim();
    let address = said.strip_prefix("control ").unwrap_or(said).trim_end_matches('/');
    if let Some(rest) = address.strip_prefix("https://") {
        bail!("the control API speaks HTTP without TLS: its address is http://{rest}");
    }
    let host = address.strip_prefix("http://").unwrap_or(address);
    let port =
        host.rsplit_once(':').and_then(|(name, port)| port.parse::<u16>().ok().filter(|_| !name.is_empty()));
    if port.is_none() || host.contains(['/', ',', ' ']) {
        bail!("{url:?} is not the address of a control API, such as http://127.0.0.1:40004");
    }
    Ok(format!("http://{host}"))
}

/// Makes the request. Returns the body of a good answer.
fn ask(base: &str, verb: &str, fields: Map<String, Value>) -> anyhow::Result<String> {
    let url = format!("{base}/{verb}");
    let request = if QUESTIONS.contains(&verb) {
        fields.iter().fold(minreq::get(url), |request, (key, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            request.with_param(escaped(key), escaped(&text))
        })
    } else {
        minreq::post(url).with_body(Value::Object(fields).to_string())
    };
    let response = match request.with_timeout(LIMIT).send() {
        Ok(response) => response,
        Err(minreq::Error::IoError(why)) => bail!("no answer from {base}: {why}"),
        // Another program listens there, such as a ZooKeeper server.
        Err(_) => return Err(no_control(base)),
    };
    let body = response.as_str().map_err(|_| no_control(base))?;
    if response.status_code == 200 {
        return Ok(body.to_owned());
    }
    let said: Option<Value> = serde_json::from_str(body).ok();
    let why = said.as_ref().and_then(|said| said["error"].as_str());
    Err(why.map_or_else(|| no_control(base), |why| anyhow!("{why}")))
}

fn no_control(base: &str) -> anyhow::Error {
    anyhow!("{base} is not a control API: its address is on the second line of `zksim serve`")
}

/// The error about an unknown verb.
fn unknown(verb: &str, fields: &[String]) -> anyhow::Error {
    if verb.contains("://") {
        return anyhow!("the address comes before the verb");
    }
    // The verb may have been written as two words.
    let words =
        std::iter::once(verb).chain(fields.iter().map(String::as_str).take_while(|word| !word.contains('=')));
    let joined = words.collect::<Vec<_>>().join("-").to_lowercase().replace(['_', ' '], "-");
    let near = verbs().find(|known| *known == joined).or_else(|| super::nearest(verb, verbs()));
    match near {
        Some(near) => anyhow!("there is no verb {verb:?}; did you mean {near:?}?"),
        None => anyhow!("there is no verb {verb:?}; there are {}", verbs().collect::<Vec<_>>().join(", ")),
    }
}

/// Reads `server=1 path=/locks`.
fn fields(pairs: &[String]) -> anyhow::Result<Map<String, Value>> {
    let mut fields = Map::new();
    for pair in pairs {
        if pair.trim_start().starts_with(['{', '[']) {
            bail!("fields are written as key=value, such as server=1, and not as JSON: {pair}");
        }
        let (key, value) =
            pair.split_once('=').with_context(|| format!("{pair:?} is not a field such as path=/locks"))?;
        // All other fields are texts; the name of a client may look like a number.
        let read = match key {
            "server" | "from" | "to" | "count" => value.parse::<i64>().ok().map(Value::from),
            "wait" => value.parse::<bool>().ok().map(Value::from),
            _ => None,
        };
        if fields.insert(key.to_owned(), read.unwrap_or_else(|| value.into())).is_some() {
            bail!("{key} is given twice");
        }
    }
    Ok(fields)
}

/// Escapes a text for the query of a URL.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
