//! What a call gives.

use std::ops::Index;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::proto;
use crate::tensor::Tensor;

/// How a call was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The device that ran it: `cpu:0`.
    pub device: String,
    /// From when the server had read the call until it began to run.
    pub queued: Duration,
    /// While it ran.
    pub executed: Duration,
}

impl From<proto::Execution> for Execution {
    fn from(message: proto::Execution) -> Self {
        let time = |ns: i64| Duration::from_nanos(u64::try_from(ns).unwrap_or(0));
        Self { queued: time(message.queued_ns), executed: time(message.executed_ns), device: message.device }
    }
}

/// An operator's outputs by name, in the order of its schema. One that was masked out has the shape `[0]`.
///
/// Those of [`Client::execute`](crate::Client::execute) look into the answer's bytes, which live as long as one of them does; those of
/// [`Stream::execute`](crate::Stream::execute) lie on the server.
#[derive(Clone, Debug)]
pub struct Outputs<T = Tensor> {
    pub(crate) tensors: Vec<(String, T)>,
    pub(crate) execution: Option<Execution>,
}

impl<T> Outputs<T> {
    /// The output of this name; an error where the operator has none.
    pub fn get(&self, name: &str) -> Result<&T> {
        let found = self.tensors.iter().find(|(other, _)| other == name);
        found.map(|(_, tensor)| tensor).ok_or_else(|| {
            let names: Vec<_> = self.names().collect();
            Error::argument("output", format!("one of {}", names.join(", ")), format!("{name:?}"))
        })
    }

    /// Takes the output of this name.
    pub fn take(&mut self, name: &str) -> Result<T> {
        self.get(name)?;
        let at = self.names().position(|other| other == name).unwrap_or_default();
        Ok(self.tensors.remove(at).1)
    }

    /// The outputs' names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.iter().map(|(name, _)| name.as_str())
    }

    /// The outputs with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// How the call was executed, where it asked by [`Call::report_execution`](crate::Call::report_execution).
    pub fn execution(&self) -> Option<&Execution> {
        self.execution.as_ref()
    }
}

impl<T> Index<&str> for Outputs<T> {
    type Output = T;

    /// # Panics
    ///
    /// Where there is no output of this name; [`Outputs::get`] gives an error.
    fn index(&self, name: &str) -> &T {
        self.get(name).unwrap_or_else(|error| panic!("{error}"))
    }
}
