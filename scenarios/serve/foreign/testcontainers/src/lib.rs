//! Servers as processes, behind the part of the API of the crate `testcontainers` that the tests of the crate
//! `zookeeper-client` call.
//!
//! A container is one run of the command that the environment variable `FOREIGN_SERVER` holds, with the image's system
//! properties as arguments. The command prints the address of its server, and ends with its standard input.
//!
//! Configuration files, networks and health checks have no counterpart: a test that needs them does not run here.

/// What starts containers.
pub mod clients {
    use crate::core::{Container, RunnableImage};
    use crate::images::generic::GenericImage;

    /// A starter of processes.
    #[derive(Debug, Default)]
    pub struct Cli;

    impl Cli {
        /// Starts a server and waits until it serves.
        pub fn run(&self, image: impl Into<RunnableImage<GenericImage>>) -> Container<'_, GenericImage> {
            Container::start_new(image.into())
        }
    }
}

/// Images, and what runs them.
pub mod core {
    use std::io::{BufRead, BufReader, Error, ErrorKind, Result};
    use std::marker::PhantomData;
    use std::process::{Child, Command, Stdio};
    use std::sync::Mutex;
    use std::time::Duration;

    use crate::images::generic::GenericImage;

    /// How a container is found healthy. A process that has printed its address is.
    #[derive(Clone, Debug, Default)]
    pub struct Healthcheck;

    impl Healthcheck {
        /// Accepts a command, which is not run.
        pub fn with_cmd<W>(self, _command: impl IntoIterator<Item = W>) -> Self {
            self
        }

        /// Accepts an interval.
        pub fn with_interval(self, _interval: Duration) -> Self {
            self
        }

        /// Accepts a number of tries.
        pub fn with_retries(self, _retries: u32) -> Self {
            self
        }
    }

    /// What a start waits for.
    #[derive(Clone, Debug)]
    pub enum WaitFor {
        /// A healthy container.
        Healthcheck,
    }

    /// An image with its settings.
    #[derive(Debug)]
    pub struct RunnableImage<I> {
        pub(crate) image: I,
    }

    impl<I> RunnableImage<I> {
        /// Refuses a mounted file: no server here reads one.
        pub fn with_volume(self, (source, place): (&str, &str)) -> Self {
            panic!("{source} cannot be put at {place}: a server that is a process has no files of its own")
        }

        /// Refuses a network.
        pub fn with_network(self, network: &str) -> Self {
            panic!("there is no network {network}: a server that is a process listens on loopback")
        }
    }

    /// A running server.
    #[derive(Debug)]
    pub struct Container<'a, I> {
        process: Mutex<Child>,
        port: u16,
        starter: PhantomData<(&'a (), I)>,
    }

    impl Container<'_, GenericImage> {
        pub(crate) fn start_new(image: RunnableImage<GenericImage>) -> Self {
            let (process, port) = start(&image.image.properties).expect("FOREIGN_SERVER starts a server");
            Self { process: Mutex::new(process), port, starter: PhantomData }
        }
    }

    impl<I> Container<'_, I> {
        /// The port on which the server listens.
        pub fn get_host_port(&self, _inner: u16) -> u16 {
            self.port
        }

        /// Ends the server.
        pub fn stop(&self) {
            let mut process = self.process.lock().expect("no thread panics while it ends a server");
            drop(process.stdin.take());
            process.wait().expect("a child can be waited for");
        }

        /// Refuses to start an ended server: its state is gone.
        pub fn start(&self) {
            panic!("a server that has ended has no state to start from")
        }

        /// The server's log.
        pub fn stdout(&self) -> LogStream {
            LogStream
        }
    }

    impl<I> Drop for Container<'_, I> {
        fn drop(&mut self) {
            self.stop();
        }
    }

    /// The log of a server.
    #[derive(Debug)]
    pub struct LogStream;

    impl LogStream {
        /// Refuses to wait: the log is not kept.
        pub fn wait_for_message(self, message: &str) -> Result<()> {
            Err(Error::new(ErrorKind::Unsupported, format!("no log that could contain {message}")))
        }
    }

    fn start(properties: &[String]) -> Result<(Child, u16)> {
        let missing = |_| Error::new(ErrorKind::NotFound, "FOREIGN_SERVER is not set");
        let command = std::env::var("FOREIGN_SERVER").map_err(missing)?;
        let mut words = command.split(' ');
        let program = words.next().unwrap_or_default();
        let mut process = Command::new(program)
            .args(words)
            .args(properties)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = process.stdout.take().expect("it was asked for");
        BufReader::new(output).read_line(&mut address)?;
        let port = address.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port =
            port.ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("no address: {address:?}")))?;
        Ok((process, port))
    }
}

/// Images by name.
pub mod images {
    /// Any image.
    pub mod generic {
        use crate::core::{Healthcheck, RunnableImage, WaitFor};

        /// An image of ZooKeeper, of which the system properties matter.
        #[derive(Debug)]
        pub struct GenericImage {
            pub(crate) properties: Vec<String>,
        }

        impl GenericImage {
            /// An image, of whatever name and version.
            pub fn new(_name: &str, _tag: &str) -> Self {
                Self { properties: Vec::new() }
            }

            /// Takes the system properties out of the variable that holds them.
            pub fn with_env_var(mut self, name: &str, value: String) -> Self {
                if name == "SERVER_JVMFLAGS" {
                    self.properties = value.split_whitespace().map(str::to_owned).collect();
                }
                self
            }

            /// Accepts a health check.
            pub fn with_healthcheck(self, _check: Healthcheck) -> Self {
                self
            }

            /// Accepts what a start waits for.
            pub fn with_wait_for(self, _what: WaitFor) -> Self {
                self
            }
        }

        impl From<GenericImage> for RunnableImage<GenericImage> {
            fn from(image: GenericImage) -> Self {
                Self { image }
            }
        }
    }
}
