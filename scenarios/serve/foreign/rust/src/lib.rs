//! What programs on any crate share: lines of what was checked, and the control API.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a program waits for anything.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Prints what was found, and ends the program if it is not what was expected.
pub fn expect(what: &str, got: impl Debug, want: impl Debug) {
    let (got, want) = (format!("{got:?}"), format!("{want:?}"));
    println!("{what}: {got}");
    if got != want {
        fail(&format!("{what}: expected {want}"));
    }
}

/// Ends the program.
pub fn fail(text: &str) -> ! {
    println!("FAILED {text}");
    std::process::exit(1)
}

/// The connect string and the address of the control API, from the command line.
pub fn arguments() -> (String, String) {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(connect), Some(control)) => (connect, control),
        _ => {
            eprintln!("CONNECT CONTROL");
            std::process::exit(2)
        }
    }
}

/// Restarts a member, and waits until all serve again.
pub fn restart(control: &str, server: usize) {
    ask(control, "POST", "/restart", &format!("{{\"server\": {server}}}"));
    let begin = Instant::now();
    loop {
        let status = ask(control, "GET", "/status", "");
        if !status.contains("\"down\"") && !status.contains("\"looking\"") {
            return;
        }
        if begin.elapsed() > DEADLINE {
            fail(&format!("restart: not all members serve: {status}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ask(control: &str, method: &str, target: &str, body: &str) -> String {
    let address = control.trim_start_matches("http://");
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = String::new();
    let asked = TcpStream::connect(address)
        .and_then(|mut stream| stream.write_all(request.as_bytes()).map(|()| stream))
        .and_then(|mut stream| stream.read_to_string(&mut answer));
    if asked.is_err() || !answer.contains(" 200 ") {
        fail(&format!("control API: {method} {target}: {asked:?} {answer}"));
    }
    answer
}
