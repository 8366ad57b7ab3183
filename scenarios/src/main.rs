//! The program `zksim`: see [`zk_scenarios::cli`].

/// A run is thousands of small allocations that live as long as it does, on as many threads as there are.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    zk_scenarios::cli::main()
}
