//! Nothing but the bench in `benches/`.
