//! The tests of the crate against a real server, and against servers that mean harm.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod fake;
#[cfg(all(feature = "half", feature = "ndarray"))]
mod guide;
mod hostile;
mod program;
mod retries;
mod security;
mod session;

use std::sync::Arc;

use opserve::Client;

/// A client of the shared server.
async fn connected() -> (Client, Arc<support::Server>) {
    let server = support::Server::shared();
    (Client::connect(server.target.as_str()).await.unwrap(), server)
}
