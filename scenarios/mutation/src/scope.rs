//! The packages that can be mutated.

/// What is mutated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// The recipes and the trait that they stand on.
    Recipes,
    /// The client for a real ensemble: sockets and requests.
    Client,
    /// The session machine and the encoding.
    Protocol,
    /// The checker.
    Checker,
}

/// Left out: a fuzzer's entry, and code that decides nothing (spans, events, metrics).
const LEFT_OUT: [&str; 3] =
    ["recipes/client/src/fuzz.rs", "recipes/client/src/fuzz/", "recipes/src/observe/"];

impl Scope {
    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Recipes => "recipes",
            Scope::Client => "client",
            Scope::Protocol => "protocol",
            Scope::Checker => "checker",
        }
    }

    /// The package that is mutated.
    pub fn package(self) -> &'static str {
        match self {
            Scope::Recipes => "zk-recipes",
            Scope::Client => "zk-client",
            Scope::Protocol => "zk-protocol",
            Scope::Checker => "zk-checker",
        }
    }

    /// The folder of that package.
    pub fn folder(self) -> &'static str {
        match self {
            Scope::Recipes => "recipes",
            Scope::Client => "recipes/client",
            Scope::Protocol => "recipes/protocol",
            Scope::Checker => "checker",
        }
    }

    /// Whether a file is mutated.
    pub fn contains(self, file: &str) -> bool {
        file.starts_with(&format!("{}/src/", self.folder()))
            && !LEFT_OUT.iter().any(|start| file.starts_with(start))
    }
}
