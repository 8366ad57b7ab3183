//! The reaper: no server outlives this process, even if a signal, a crash or SIGKILL ends it.
//!
//! A small shell reads a pipe from this process. 1. It receives the name of a folder, then the number of a server process. 2. On
//! the message of completion it exits. 3. If the pipe closes without that message, this process is dead, so the shell kills the
//! server and removes the folder. This needs no signal handler.
//!
//! This process may also be killed between the start of a server and the message about it. So a server starts behind a [`gate`]:
//! a shell that becomes the server on command, and exits if this process dies first.

use std::io::{Error, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The server's process id is trusted only while the folder is in its command line.
const SCRIPT: &str = r#"
folder= server=
while read -r word rest; do
    case $word in
        folder) folder=$rest ;;
        server) server=$rest ;;
        done) exit 0 ;;
    esac
done
[ "$folder" ] || exit 0
if [ "$server" ]; then
    if grep -qF -- "$folder" "/proc/$server/cmdline" 2>/dev/null ||
        ps -o args= -p "$server" 2>/dev/null | grep -qF -- "$folder"; then
        kill -KILL "$server"
    fi
fi
# A process that is being killed may make a file more.
rm -rf -- "$folder" || { sleep 1; rm -rf -- "$folder"; }
"#;

/// Watches over one folder, and one server in it, for as long as this value lives.
#[derive(Debug)]
pub(super) struct Reaper {
    shell: Child,
}

impl Reaper {
    /// Starts a reaper that watches nothing yet.
    pub(super) fn start() -> std::io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "zk-server-reaper"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A separate process group: a Ctrl-C in our terminal must not end the reaper, which is needed then.
            .process_group(0)
            .spawn()?;
        Ok(Reaper { shell })
    }

    /// Removes that folder if this process dies.
    pub(super) fn folder(&mut self, folder: &Path) -> std::io::Result<()> {
        let name = folder.as_os_str().as_bytes();
        if name.contains(&b'\n') {
            return Err(Error::other("a line break in the name of the folder for temporary files"));
        }
        self.tell(&[b"folder ", name, b"\n"].concat())
    }

    /// Kills that server, instead of the previous one, if this process dies.
    pub(super) fn server(&mut self, process: u32) -> std::io::Result<()> {
        self.tell(format!("server {process}\n").as_bytes())
    }

    fn tell(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.shell.stdin.as_mut().expect("the pipe is open until the end").write_all(line)
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // The shell may have exited already.
        let _ = self.tell(b"done\n");
        let _ = self.shell.wait();
    }
}

/// The exit status of the shell of a [`gate`] if the command does not exist.
pub(super) const NO_COMMAND: i32 = 127;

/// A command whose process runs `command` when [`open`]ed.
pub(super) fn gate(command: &Path) -> Command {
    let mut gate = Command::new("sh");
    gate.args(["-c", r#"read -r go && exec "$@" </dev/null"#, "zk-server-gate"])
        .arg(command)
        .stdin(Stdio::piped());
    gate
}

/// Lets a process through the gate.
pub(super) fn open(process: &mut Child) -> std::io::Result<()> {
    match process.stdin.take() {
        Some(mut gate) => gate.write_all(b"go\n"),
        None => Ok(()),
    }
}
