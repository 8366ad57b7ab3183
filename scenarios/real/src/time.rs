//! Real time.

use std::time::Duration;

/// Real time passes.
#[expect(clippy::disallowed_methods, reason = "a real run happens in real time")]
pub(crate) async fn sleep(by: Duration) {
    tokio::time::sleep(by).await;
}
