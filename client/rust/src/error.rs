//! What a failed call tells.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status, TimeoutExpired};

use crate::proto::google::rpc;

/// The result of whatever may fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument is wrong.
    InvalidArgument,
    /// No operator, device or object of that name.
    NotFound,
    /// The server, the device or its product profile lacks it.
    Unsupported,
    /// The deadline passed.
    Timeout,
    /// No server there, it is stopping, or its device is gone.
    Unavailable,
    /// A bound on memory, calls in flight, time or a message's size was met.
    Resource,
    /// The call, or the session, was cancelled.
    Cancelled,
    /// The token is missing or unknown, or its roles do not cover the call.
    Permission,
    /// A device fault, a defect of opserve, or an answer that makes no sense.
    Internal,
}

/// A call, or a command of a session, that failed; or an argument that cannot be sent.
#[derive(Clone)]
pub struct Error(Box<Parts>);

#[derive(Clone)]
struct Parts {
    code: Code,
    message: String,
    info: rpc::ErrorInfo,
    retry: Retry,
    command: Option<(u64, &'static Location<'static>)>,
}

/// What the server says of another try.
#[derive(Clone, Copy, PartialEq)]
enum Retry {
    Unsaid,
    After(Duration),
    Never,
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self.code() {
            Code::InvalidArgument | Code::OutOfRange | Code::FailedPrecondition => ErrorKind::InvalidArgument,
            Code::NotFound => ErrorKind::NotFound,
            Code::Unimplemented => ErrorKind::Unsupported,
            Code::DeadlineExceeded => ErrorKind::Timeout,
            Code::Unavailable => ErrorKind::Unavailable,
            Code::ResourceExhausted => ErrorKind::Resource,
            Code::Cancelled => ErrorKind::Cancelled,
            Code::Unauthenticated | Code::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::Internal,
        }
    }

    /// gRPC's code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What is wrong in one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// A constant of docs/errors.md, as `OUT_OF_RANGE`; empty where the error is not the server's: nothing listens there, or an argument
    /// cannot be sent.
    pub fn reason(&self) -> &str {
        &self.0.info.reason
    }

    /// aclnn's status code: 161001, 161002, …
    pub fn aclnn_code(&self) -> Option<u32> {
        self.told("code").parse().ok()
    }

    /// The operator; empty where it is not known.
    pub fn operator(&self) -> &str {
        self.told("operator")
    }

    /// The input, attribute, output or limit that is wrong; empty where it is not known.
    pub fn parameter(&self) -> &str {
        self.told("parameter")
    }

    /// What was wanted, in words.
    pub fn want(&self) -> &str {
        self.told("want")
    }

    /// What came, in words.
    pub fn got(&self) -> &str {
        self.told("got")
    }

    /// When another try may succeed, where the server says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.0.retry {
            Retry::After(delay) => Some(delay),
            _ => None,
        }
    }

    /// The number of the session's command that failed.
    pub fn command(&self) -> Option<u64> {
        self.0.command.map(|(number, _)| number)
    }

    /// Where the program gave that command.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.0.command.map(|(_, place)| place)
    }

    fn told(&self, word: &str) -> &str {
        self.0.info.metadata.get(word).map_or("", String::as_str)
    }

    /// An argument of the program that cannot be sent.
    pub(crate) fn argument(parameter: &str, want: impl fmt::Display, got: impl fmt::Display) -> Self {
        let (want, got) = (want.to_string(), got.to_string());
        let mut error = Self::new(Code::InvalidArgument, format!("{parameter}: want {want}, got {got}"));
        let words = [("parameter", parameter.to_owned()), ("want", want), ("got", got)];
        error.0.info.metadata = words.map(|(name, value)| (name.to_owned(), value)).into();
        error
    }

    /// An answer that no server of this protocol sends.
    pub(crate) fn bad_answer(what: impl fmt::Display) -> Self {
        Self::new(Code::Internal, format!("the server's answer makes no sense: {what}"))
    }

    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, info) = (message.into(), rpc::ErrorInfo::default());
        Self(Box::new(Parts { code, message, info, retry: Retry::Unsaid, command: None }))
    }

    /// The error that a google.rpc.Status tells of.
    pub(crate) fn of_status(status: &rpc::Status) -> Self {
        let mut error = Self::new(Code::from_i32(status.code), status.message.clone());
        for detail in &status.details {
            let value = detail.value.as_slice();
            match detail.type_url.rsplit('/').next() {
                Some("google.rpc.ErrorInfo") => error.0.info = rpc::ErrorInfo::decode(value).unwrap_or_default(),
                Some("google.rpc.RetryInfo") => error.0.retry = retry_of(rpc::RetryInfo::decode(value).ok()),
                _ => {}
            }
        }
        error
    }

    /// The error with the command that failed, and where it was given.
    pub(crate) fn of_command(mut self, number: u64, place: &'static Location<'static>) -> Self {
        self.0.command = Some((number, place));
        self
    }

    /// Whether another try is of use, and after which time; `backoff` where the server does not say.
    pub(crate) fn wait_before_retry(&self, backoff: Duration) -> Option<Duration> {
        match self.0.retry {
            Retry::After(delay) => Some(delay),
            Retry::Unsaid if self.code() == Code::Unavailable => Some(backoff),
            _ => None,
        }
    }

    /// Whether the failure is one of the connection, or of the server as a whole.
    pub(crate) fn is_of_target(&self) -> bool {
        self.code() == Code::Unavailable
    }
}

fn retry_of(info: Option<rpc::RetryInfo>) -> Retry {
    let delay = info.and_then(|info| info.retry_delay).unwrap_or_default();
    match (u64::try_from(delay.seconds), u32::try_from(delay.nanos)) {
        (Ok(seconds), Ok(nanos)) if nanos < 1_000_000_000 => Retry::After(Duration::new(seconds, nanos)),
        _ => Retry::Never,
    }
}

/// What the trailing metadata says of another try; a number that is negative, or none, forbids one.
fn pushback_of(status: &Status) -> Retry {
    let Some(value) = status.metadata().get("grpc-retry-pushback-ms") else { return Retry::Unsaid };
    let milliseconds = value.to_str().ok().and_then(|text| text.parse().ok());
    milliseconds.map_or(Retry::Never, |milliseconds| Retry::After(Duration::from_millis(milliseconds)))
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let pushback = pushback_of(&status);
        let details = rpc::Status::decode(status.details()).ok().filter(|_| !status.details().is_empty());
        let mut error = match details {
            Some(details) => Self::of_status(&details),
            None => Self::new(code_of(&status), message_of(&status)),
        };
        if pushback != Retry::Unsaid {
            error.0.retry = pushback;
        }
        error
    }
}

/// What caused a status, from the nearest on.
fn causes(status: &Status) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(status.source(), |cause| (*cause).source())
}

/// The code of a status without details. One with a cause was made here: the time was over, or the connection failed.
fn code_of(status: &Status) -> Code {
    match status.code() {
        Code::Cancelled if causes(status).any(|cause| cause.is::<TimeoutExpired>()) => Code::DeadlineExceeded,
        Code::Unknown | Code::Internal | Code::Cancelled if causes(status).next().is_some() => Code::Unavailable,
        Code::OutOfRange if status.message().contains("message length too large") => Code::ResourceExhausted,
        code => code,
    }
}

/// The message, with the causes that it does not name.
fn message_of(status: &Status) -> String {
    causes(status).fold(status.message().to_owned(), |message, cause| match cause.to_string() {
        text if message.contains(&text) => message,
        text if message.is_empty() => text,
        text => format!("{message}: {text}"),
    })
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.reason().is_empty() {
            write!(formatter, "{}", self.reason())?;
            if let Some(code) = self.aclnn_code() {
                write!(formatter, " {code}")?;
            }
            write!(formatter, ": ")?;
        } else if self.parameter().is_empty() {
            write!(formatter, "{:?}: ", self.code())?;
        }
        write!(formatter, "{}", self.message())?;
        match self.0.command {
            Some((number, place)) => write!(formatter, " (command {number}, given at {place})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error({self})")
    }
}

impl StdError for Error {}
