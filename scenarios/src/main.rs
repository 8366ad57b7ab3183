//! The program `zksim`: see [`zk_scenarios::cli`].

fn main() -> std::process::ExitCode {
    zk_scenarios::cli::main()
}
