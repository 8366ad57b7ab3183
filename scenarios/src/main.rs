//! The program `zksim`: see [`zk_scenarios::cli`].

#[cfg(target_feature = "crt-static")]
compile_error!(
    "zksim cannot be linked statically: the simulator's runtime looks the system's clock up in the dynamic C library"
);

/// A run makes thousands of small allocations that live as long as it does, on many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    zk_scenarios::cli::main()
}
