//! Fuzzes bodies, plan lines and report lines of the control API.

use super::sane::{Bench, Sane, TICK};
use crate::command::{Command, Refused};
use crate::control::{fields_of, from_query, reports_of};
use serde_json::{Value, json};

/// The first line is a verb. The rest is used as the body of its request, the query of its URL, and a line of a plan.
/// Valid commands are carried out on an ensemble of three with a client; after `heal`, the client must be answered.
pub fn control(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (verb, body) = text.split_once('\n').unwrap_or((&text, ""));
    let mut commands = Vec::new();
    let mut take = |read: Result<Command, Refused>| match read {
        Ok(command) => commands.push(command),
        Err(refused) => {
            assert!((400..500).contains(&refused.status), "{}", refused.status);
            assert!(!refused.why.is_empty());
        }
    };
    match fields_of(body.to_owned()) {
        Ok(Value::String(lines)) if verb == "report" => reports_of(&lines).for_each(&mut take),
        Ok(fields) => take(Command::read(verb, fields)),
        Err(refused) => take(Err(refused)),
    }
    take(Command::read(verb, from_query(body)));
    for line in body.lines().take(16) {
        take(Command::planned(line).map(|(_, command)| command));
    }
    if commands.is_empty() {
        return;
    }
    let (mut bench, mut sane) = (Bench::new(3), Sane::that_begins_again());
    sane.expect_answer(&mut bench);
    for command in commands.iter().take(16) {
        let done = bench.front.perform(command);
        // A refusal is an answer.
        let _ = bench.front.conclude(done, None);
        bench.pass(TICK / 4);
        sane.reads(&mut bench);
    }
    let heal = Command::read("heal", json!({})).expect("it has no fields");
    let done = bench.front.perform(&heal);
    // A refusal is an answer.
    let _ = bench.front.conclude(done, None);
    bench.pass(TICK);
    sane.expect_answer(&mut bench);
}
