//! How calls travel: targets, deadlines, retries.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::Message;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::tokio_stream::Stream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};

use crate::codec::MessageCodec;
use crate::error::{Error, Result};

/// A call is tried this often, and at least once on each target; the waits between double from the first, unless the server says how
/// long.
const TRIES: usize = 4;
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How long calls go past a target that did not answer, where there are others.
const AVOIDED: Duration = Duration::from_secs(1);

/// One target's connection, and until when calls go past it.
struct Target {
    channel: Channel,
    avoided_until: Mutex<Option<Instant>>,
}

impl Target {
    fn is_avoided(&self) -> bool {
        let until = self.avoided_until.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        until.is_some_and(|until| Instant::now() < until)
    }

    fn avoid(&self) {
        let mut until = self.avoided_until.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *until = Some(Instant::now() + AVOIDED);
    }
}

/// The connections of a client. Tasks share it.
pub(crate) struct Transport {
    targets: Vec<Target>,
    next: AtomicUsize,
    token: Option<MetadataValue<Ascii>>,
    timeout: Option<Duration>,
    max_answer_bytes: usize,
}

impl Transport {
    pub(crate) fn new(
        channels: Vec<Channel>,
        token: Option<MetadataValue<Ascii>>,
        timeout: Option<Duration>,
        max_answer_bytes: usize,
    ) -> Self {
        let targets = channels.into_iter().map(|channel| Target { channel, avoided_until: Mutex::new(None) });
        Self { targets: targets.collect(), next: AtomicUsize::new(0), token, timeout, max_answer_bytes }
    }

    /// When a call that begins now must be over.
    pub(crate) fn deadline(&self, timeout: Option<Duration>) -> Option<Instant> {
        timeout.or(self.timeout).map(|timeout| Instant::now() + timeout)
    }

    /// Makes a unary call. All of them may be retried.
    pub(crate) async fn unary<E, D>(&self, path: &'static str, message: E, deadline: Option<Instant>) -> Result<D>
    where
        E: Message + 'static,
        D: Message + Default + 'static,
    {
        let tries = TRIES.max(self.targets.len());
        let message = Arc::new(message);
        let mut backoff = FIRST_WAIT;
        for tried in 1.. {
            let target = self.pick();
            let attempt = pin!(self.try_once(target, path, message.clone(), deadline));
            let error = match before(deadline, attempt).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(wait) = error.wait_before_retry(jittered(backoff)).filter(|_| tried < tries) else {
                return Err(error);
            };
            if error.is_of_target() && self.targets.len() > 1 {
                target.avoid();
            }
            let has_others = error.is_of_target() && error.retry_after().is_none() && tried < self.targets.len();
            let wait = if has_others { Duration::ZERO } else { wait };
            if deadline.is_some_and(|deadline| Instant::now() + wait >= deadline) {
                return Err(error);
            }
            sleep(wait).await;
            if !has_others {
                backoff *= 2;
            }
        }
        unreachable!("the last try returns")
    }

    async fn try_once<E, D>(
        &self,
        target: &Target,
        path: &'static str,
        message: Arc<E>,
        deadline: Option<Instant>,
    ) -> Result<D>
    where
        E: Message + 'static,
        D: Message + Default + 'static,
    {
        let mut grpc = self.grpc(target);
        grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let mut request = self.authorized(Request::new(message));
        if let Some(deadline) = deadline {
            request.set_timeout(whole_millis(deadline.saturating_duration_since(Instant::now())));
        }
        let answer = grpc.unary(request, PathAndQuery::from_static(path), MessageCodec::<Arc<E>, E, D>::new()).await?;
        Ok(answer.into_inner())
    }

    /// Opens a bidirectional stream on one of the targets, the first that answers.
    pub(crate) async fn stream<E, D, S>(
        &self,
        path: &'static str,
        mut messages: impl FnMut() -> S,
    ) -> Result<Streaming<D>>
    where
        E: Message + 'static,
        D: Message + Default + 'static,
        S: Stream<Item = E> + Send + 'static,
    {
        let mut tried = 1;
        loop {
            let target = self.pick();
            let mut grpc = self.grpc(target);
            let request = self.authorized(Request::new(messages()));
            let opened = match grpc.ready().await {
                Ok(()) => {
                    grpc.streaming(request, PathAndQuery::from_static(path), MessageCodec::<E, E, D>::new()).await
                }
                Err(error) => Err(Status::from_error(error.into())),
            };
            let error = match opened {
                Ok(answers) => return Ok(answers.into_inner()),
                Err(status) => Error::from(status),
            };
            if !error.is_of_target() || tried >= self.targets.len() {
                return Err(error);
            }
            target.avoid();
            tried += 1;
        }
    }

    fn grpc(&self, target: &Target) -> Grpc<Channel> {
        Grpc::new(target.channel.clone()).max_decoding_message_size(self.max_answer_bytes)
    }

    fn authorized<M>(&self, mut request: Request<M>) -> Request<M> {
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }

    /// The target whose turn it is, but for those that did not answer lately.
    fn pick(&self) -> &Target {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let in_turn = |step| &self.targets[(first.wrapping_add(step)) % self.targets.len()];
        (0..self.targets.len()).map(in_turn).find(|target| !target.is_avoided()).unwrap_or_else(|| in_turn(0))
    }
}

/// A timeout for the server, which rounding makes the same from call to call: HTTP/2 sends a header that it knows in one byte. Here
/// the exact deadline ends the call.
fn whole_millis(timeout: Duration) -> Duration {
    Duration::from_millis(timeout.as_micros().div_ceil(1000).try_into().unwrap_or(u64::MAX))
}

/// What a future gives, or an error where the deadline passes first.
pub(crate) async fn before<T>(deadline: Option<Instant>, future: impl Future<Output = Result<T>>) -> Result<T> {
    let Some(deadline) = deadline else { return future.await };
    let late = || Error::new(Code::DeadlineExceeded, "the deadline passed before an answer came");
    timeout_at(deadline, future).await.unwrap_or_else(|_| Err(late()))
}

/// A wait that differs by up to a fifth, so that clients do not come back all at once.
fn jittered(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) % 401;
    wait.mul_f64(0.8 + random as f64 / 1000.0)
}
