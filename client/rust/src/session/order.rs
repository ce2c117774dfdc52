//! Commands before they are sent.

use std::panic::Location;
use std::time::Duration;

use bytes::Bytes;

use super::gather::Gather;
use crate::proto::command::Command;

/// A command to be sent.
pub(crate) struct Order {
    pub(crate) command: Command,
    pub(crate) data: Option<Bytes>,
    pub(crate) line: Line,
    pub(crate) timeout: Option<Duration>,
    pub(crate) gather: Option<Gather>,
    pub(crate) telling: Telling,
}

/// Where a command stands: its context and stream, 0 for none, and the place in the program that gave it.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) context: u64,
    pub(crate) stream: u64,
    pub(crate) place: &'static Location<'static>,
}

/// What becomes of a command's answer.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Telling {
    /// It is kept for who waits for it.
    Waited,
    /// A failure is kept for who waits behind it.
    FailureKept,
    /// Nobody is told: what ends an object that may never have been made.
    Nobody,
}

impl Order {
    pub(crate) fn new(command: Command, line: Line, telling: Telling) -> Self {
        Self { command, data: None, line, timeout: None, gather: None, telling }
    }
}
