#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| zk_client::fuzz::client(bytes));
