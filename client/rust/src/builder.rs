//! How a client connects.

use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Endpoint;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::target::Address;
use crate::transport::Transport;

const DEFAULT_TARGET: &str = "localhost:8500";
const DEFAULT_MAX_ANSWER_BYTES: usize = 1 << 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// What HTTP/2 may have under way of one answer, and of all on a connection: large answers do not wait for round trips.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;

/// How to speak TLS. Without certificates of its own it trusts the system's. Wants the feature `tls`.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    certificates: Option<Vec<u8>>,
    identity: Option<Identity>,
    server_name: Option<String>,
}

/// A certificate to show, and its key.
#[cfg_attr(not(feature = "tls"), allow(dead_code))]
#[derive(Clone)]
struct Identity {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Identity")
    }
}

impl Tls {
    /// TLS with the system's certificates.
    pub fn new() -> Self {
        Self::default()
    }

    /// The certificates, as PEM, that vouch for the server, in place of the system's.
    pub fn certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates = Some(pem.into());
        self
    }

    /// The certificate to show to the server, and its key, as PEM (mutual TLS).
    pub fn identity(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some(Identity { certificate: certificate.into(), key: key.into() });
        self
    }

    /// The name that the server's certificate must have, in place of the target's host.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    #[cfg(feature = "tls")]
    fn apply(&self, endpoint: Endpoint) -> Result<Endpoint> {
        use tonic::transport::{Certificate, ClientTlsConfig, Identity as TonicIdentity};

        let mut config = ClientTlsConfig::new();
        config = match &self.certificates {
            Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
            None => config.with_native_roots(),
        };
        if let Some(identity) = &self.identity {
            config = config.identity(TonicIdentity::from_pem(&identity.certificate, &identity.key));
        }
        if let Some(name) = &self.server_name {
            config = config.domain_name(name);
        }
        endpoint.tls_config(config).map_err(|error| {
            let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Error::argument("tls", "certificates and keys as PEM", cause)
        })
    }

    #[cfg(not(feature = "tls"))]
    fn apply(&self, _: Endpoint) -> Result<Endpoint> {
        Err(Error::argument("tls", "the crate with its feature `tls`", "the crate without it"))
    }
}

/// Says how to connect; made by [`Client::builder`].
///
/// ```no_run
/// use std::time::Duration;
///
/// use opserve::{Client, Tls};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::builder()
///     .target("gpu.example.org:8500")
///     .tls(Tls::new().certificates(std::fs::read("ca.pem")?))
///     .token(std::fs::read_to_string("token")?.trim())
///     .timeout(Duration::from_secs(5))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until connect()"]
pub struct Builder {
    targets: Vec<String>,
    tls: Option<Tls>,
    token: Option<String>,
    timeout: Option<Duration>,
    max_answer_bytes: usize,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { targets: Vec::new(), tls: None, token: None, timeout: None, max_answer_bytes: DEFAULT_MAX_ANSWER_BYTES }
    }

    /// Where a server is: `host:port`, `dns:///host:port`, `unix:path`, or several of these with commas between them. Given several
    /// times, or several at once: calls take turns, and go past servers that do not answer. Without a target: `$OPSERVE_TARGET`, else
    /// `localhost:8500`.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.targets.push(target.into());
        self
    }

    /// Encrypts.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sends a bearer token with each call: over TLS, or to this machine.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// How long each call may take with its retries; any time without it. [`Call::timeout`](crate::Call::timeout) is one call's own.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The largest answer that is taken, in bytes; 1 GiB unless given.
    pub fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_answer_bytes = bytes;
        self
    }

    /// Connects, and asks the server for its limits: an error where no server is there.
    pub async fn connect(self) -> Result<Client> {
        let client = self.connect_lazy()?;
        client.learn_limits().await?;
        Ok(client)
    }

    /// A client that connects with its first call. It does not know the server's limits, so a call whose inputs are larger than a
    /// message may be is refused. Wants a tokio runtime around it.
    pub fn connect_lazy(self) -> Result<Client> {
        let mut channels = Vec::new();
        for address in self.addresses()? {
            if self.token.is_some() && self.tls.is_none() && !address.is_local() {
                return Err(Error::argument(
                    "token",
                    "TLS on its way to another machine",
                    format!("clear text to {address:?}"),
                ));
            }
            let endpoint = self.endpoint(&address)?;
            channels.push(endpoint.connect_lazy());
        }
        let token = self.token.as_deref().map(bearer).transpose()?;
        Ok(Client::new(Transport::new(channels, token, self.timeout, self.max_answer_bytes)))
    }

    fn addresses(&self) -> Result<Vec<Address>> {
        if self.targets.is_empty() {
            let target = std::env::var("OPSERVE_TARGET").ok().filter(|target| !target.is_empty());
            return Address::list_of(target.as_deref().unwrap_or(DEFAULT_TARGET));
        }
        let lists = self.targets.iter().map(|target| Address::list_of(target));
        lists.collect::<Result<Vec<_>>>().map(|lists| lists.concat())
    }

    fn endpoint(&self, address: &Address) -> Result<Endpoint> {
        let endpoint = address
            .endpoint(self.tls.is_some())?
            .connect_timeout(CONNECT_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        match (&self.tls, address) {
            (None, _) => Ok(endpoint),
            (Some(_), Address::Unix(_)) => {
                Err(Error::argument("tls", "no TLS to a unix socket", format!("{address:?}")))
            }
            (Some(tls), Address::Host(_)) => tls.apply(endpoint),
        }
    }
}

fn bearer(token: &str) -> Result<MetadataValue<Ascii>> {
    let value = MetadataValue::try_from(format!("Bearer {token}"));
    let mut value = value.map_err(|_| Error::argument("token", "printable ASCII", "other characters"))?;
    value.set_sensitive(true);
    Ok(value)
}
