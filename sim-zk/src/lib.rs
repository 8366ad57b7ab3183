pub mod world {}
