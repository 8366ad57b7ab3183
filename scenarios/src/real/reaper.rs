//! Sees to it that no server outlives this process, however that ends: by a signal, by a crash, or killed outright.
//!
//! A small shell waits for a line from us. 1. The line comes: all is well, it goes away. 2. The pipe closes without one:
//! we are gone, so it kills the server and removes its folder. Nothing in this process has to run for that, no signal
//! handler is taken.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `$1` is the server's process id, `$2` its folder. The id is trusted only while the folder stands in its command line.
const SCRIPT: &str = r#"
read line && exit 0
if grep -qF -- "$2" "/proc/$1/cmdline" 2>/dev/null || ps -o args= -p "$1" 2>/dev/null | grep -qF -- "$2"; then
    kill -KILL "$1"
fi
rm -rf -- "$2"
"#;

/// Watches over one server for as long as this value lives.
#[derive(Debug)]
pub(super) struct Reaper {
    shell: Child,
}

impl Reaper {
    pub(super) fn watch(server: u32, folder: &Path) -> std::io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "zk-server-reaper", &server.to_string()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of a Ctrl-C in our terminal, which is when it is needed.
            .process_group(0)
            .spawn()?;
        Ok(Reaper { shell })
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // If the shell is gone already there is nobody to tell.
        if let Some(mut pipe) = self.shell.stdin.take() {
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.shell.wait();
    }
}
