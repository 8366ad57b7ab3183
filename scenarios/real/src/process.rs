//! A thread with its own runtime, in the role of a process.
//!
//! All clients of a run share one process, so that one clock and one recorder give one order of events. Each client has a
//! [`Process`], which can be paused as a whole while the others run, like a process under SIGSTOP or garbage collection.

use std::future::Future;
use std::io;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task;

/// A thread on which tasks run, one at a time. Dropping it ends them.
pub struct Process {
    runtime: Handle,
    leave: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    ///
    /// The error of the operating system, if it cannot start a thread.
    pub fn start(name: &str) -> io::Result<Process> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (leave, left) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // A message and a dropped sender end it alike.
            let _ = runtime.block_on(left);
        })?;
        Ok(Process { runtime: handle, leave: Some(leave), thread: Some(thread) })
    }

    /// Starts a task on this process.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> task::JoinHandle<T> {
        self.runtime.spawn(task)
    }

    /// Pauses it for that time, or until the other end of `go_on` is dropped. `stopped` and `resumed` are called on its
    /// thread, right before and right after the pause.
    pub fn stand_still(
        &self,
        lasts: Duration,
        go_on: Receiver<()>,
        stopped: impl FnOnce() + Send + 'static,
        resumed: impl FnOnce() + Send + 'static,
    ) -> task::JoinHandle<()> {
        self.spawn(async move {
            stopped();
            // The task does not yield, so nothing else runs on this thread.
            let _ = go_on.recv_timeout(lasts);
            resumed();
        })
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.runtime.metrics().num_alive_tasks()
    }

    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.leave.take());
        if let Some(thread) = self.thread.take() {
            // The waiting caller has received the panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn while_it_stands_still_nothing_happens_there_and_then_everything_does() {
        let process = Process::start("p").unwrap();
        let (tell, told) = channel();
        let (go_on, held) = channel();
        let (first, second) = (tell.clone(), tell.clone());
        let still = move || first.send("stands").unwrap();
        process.stand_still(Duration::from_secs(60), held, still, move || second.send("goes on").unwrap());
        assert_eq!(told.recv(), Ok("stands"));
        process.spawn(async move { tell.send("works").unwrap() });
        assert!(told.try_recv().is_err(), "nobody works there");
        drop(go_on);
        assert_eq!([told.recv(), told.recv()], [Ok("goes on"), Ok("works")]);
    }

    #[test]
    fn who_leaves_takes_the_tasks_along() {
        let process = Process::start("p").unwrap();
        let task = process.spawn(std::future::pending::<()>());
        assert!(process.tasks() >= 1);
        drop(process);
        assert!(task.is_finished());
    }
}
