//! Where servers are.

use tonic::transport::Endpoint;

use crate::error::{Error, Result};

const FORMS: &str = "host:port, dns:///host:port or unix:path";

/// One server's address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Address {
    /// `host:port`. The name is looked up at each connecting, and its addresses are tried in turn.
    Host(String),
    /// The path of a unix socket.
    Unix(String),
}

impl Address {
    /// The addresses of a text: one, or several with commas between them.
    pub(crate) fn list_of(text: &str) -> Result<Vec<Self>> {
        text.split(',').map(|part| Self::of(part.trim())).collect()
    }

    fn of(text: &str) -> Result<Self> {
        let bad = || Error::argument("target", FORMS, format!("{text:?}"));
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err(bad()) } else { Ok(Self::Unix(path.to_owned())) };
        }
        let host = text.strip_prefix("dns:///").or_else(|| text.strip_prefix("dns:")).unwrap_or(text);
        let (name, port) = host.rsplit_once(':').ok_or_else(bad)?;
        let is_bracketed = name.starts_with('[') && name.ends_with(']');
        let has_bad_character = name.contains(['/', '@', '?', '#', ' ']) || (name.contains(':') && !is_bracketed);
        if name.is_empty() || has_bad_character || port.parse::<u16>().is_err() {
            return Err(bad());
        }
        Ok(Self::Host(host.to_owned()))
    }

    /// Whether nobody else can read what goes there.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Host(host) => {
                let name = host.rsplit_once(':').map_or("", |(name, _)| name);
                ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            }
        }
    }

    pub(crate) fn endpoint(&self, is_encrypted: bool) -> Result<Endpoint> {
        let uri = match self {
            Self::Unix(path) => format!("unix:{path}"),
            Self::Host(host) if is_encrypted => format!("https://{host}"),
            Self::Host(host) => format!("http://{host}"),
        };
        Endpoint::from_shared(uri.clone())
            .map_err(|error| Error::argument("target", FORMS, format!("{uri:?}: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_grpc_are_read() {
        let host = |text: &str| Address::Host(text.to_owned());
        let unix = |text: &str| Address::Unix(text.to_owned());
        for (text, address) in [
            ("localhost:8500", host("localhost:8500")),
            ("dns:///gpu.example.org:1", host("gpu.example.org:1")),
            ("dns:gpu.example.org:1", host("gpu.example.org:1")),
            ("[::1]:8500", host("[::1]:8500")),
            ("unix:socket", unix("socket")),
            ("unix:///run/opserve", unix("/run/opserve")),
        ] {
            assert_eq!(Address::list_of(text).unwrap(), [address]);
        }
        assert_eq!(Address::list_of("a:1, b:2").unwrap(), [host("a:1"), host("b:2")]);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "localhost", "localhost:", ":1", "::1:8500", "http://a:1", "a:65536", "unix:", "a:1,,b:1", "u@a:1"]
        {
            let error = Address::list_of(text).unwrap_err();
            assert_eq!((error.parameter(), error.want()), ("target", FORMS), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        for (text, is_local) in [
            ("localhost:1", true),
            ("[::1]:1", true),
            ("unix:s", true),
            ("10.0.0.1:1", false),
            ("localhost.org:1", false),
        ] {
            assert_eq!(Address::of(text).unwrap().is_local(), is_local, "{text}");
        }
    }
}
