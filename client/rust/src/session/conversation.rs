//! The bidirectional RPC below a session: commands out, answers in, and which failure is told where.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;
use tonic::{Code, Streaming};

use super::gather::Gather;
use super::order::{Line, Order, Telling};
use super::outbox::{Outbox, Outgoing};
use crate::error::{Error, Result};
use crate::proto::{self, answer, command::Command, synchronize_command::Target};
use crate::transport::Transport;

const PATH: &str = "/opserve.v1.SessionService/Session";
/// Uploads wait while so many bytes wait to be sent.
const WAITING_BYTES: usize = 64 << 20;

/// A command that is not over, or whose outcome was not told yet.
struct Pending {
    line: Line,
    gather: Option<Gather>,
    telling: Telling,
    outcome: Option<Result<proto::Answer>>,
}

impl Pending {
    fn error(&self) -> Option<&Error> {
        self.outcome.as_ref().and_then(|outcome| outcome.as_ref().err())
    }
}

/// What came of a command that was waited for.
pub(crate) struct Told {
    pub(crate) answer: Option<answer::Answer>,
    pub(crate) gather: Option<Gather>,
}

#[derive(Default)]
struct State {
    last: u64,
    outbox: Option<UnboundedSender<Outgoing>>,
    reader: Option<AbortHandle>,
    pending: BTreeMap<u64, Pending>,
    info: Option<proto::SessionInfo>,
    is_draining: bool,
    ended: Option<Error>,
    waiting_bytes: usize,
    unanswered: usize,
}

/// Every command is answered; a failure that nobody waits for is kept until wait() of a later command tells it.
#[derive(Default)]
pub(crate) struct Conversation {
    state: Mutex<State>,
    changed: Notify,
}

impl Conversation {
    pub(crate) async fn open(transport: &Transport) -> Result<Arc<Self>> {
        let talk = Arc::new(Self::default());
        let messages = || {
            let (sender, receiver) = unbounded_channel();
            talk.state().outbox = Some(sender);
            Outbox::new(receiver, talk.clone())
        };
        let answers = transport.stream(PATH, messages).await?;
        let reader = tokio::spawn(talk.clone().read(answers));
        talk.state().reader = Some(reader.abort_handle());
        talk.until(|state| state.info.map(|_| ())).await?;
        Ok(talk)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn info(&self) -> proto::SessionInfo {
        self.state().info.unwrap_or_default()
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.state().is_draining
    }

    // ---- commands out

    /// Sends a command; waits only while too much is under way.
    pub(crate) async fn send(&self, order: Order) -> Result<u64> {
        let mut order = Some(order);
        self.until(|state| {
            let has_room = state.waiting_bytes <= WAITING_BYTES && state.unanswered < state.max_unanswered();
            if !has_room || state.ended.is_some() {
                return None;
            }
            order.take().map(|order| state.put(order))
        })
        .await
    }

    /// Sends a small command at once.
    pub(crate) fn send_now(&self, order: Order) {
        self.state().put(order);
    }

    /// So many bytes of uploads have left.
    pub(crate) fn sent(&self, bytes: usize) {
        self.state().waiting_bytes -= bytes;
        self.changed.notify_waiters();
    }

    // ---- answers in

    async fn read(self: Arc<Self>, mut answers: Streaming<proto::SessionResponse>) {
        let ended = loop {
            let taken = match answers.message().await {
                Ok(Some(message)) => self.state().take_all(message),
                Ok(None) => Err(Error::new(Code::Cancelled, "the session is over")),
                Err(status) => Err(status.into()),
            };
            if let Err(error) = taken {
                break error;
            }
            self.changed.notify_waiters();
        };
        self.end(ended);
    }

    fn end(&self, error: Error) {
        let mut state = self.state();
        state.ended.get_or_insert(error);
        state.outbox = None;
        drop(state);
        self.changed.notify_waiters();
    }

    // ---- waiting

    /// What `condition` gives once it gives something, or what ended the session before.
    async fn until<T>(&self, mut condition: impl FnMut(&mut State) -> Option<T>) -> Result<T> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let mut state = self.state();
                if let Some(found) = condition(&mut state) {
                    return Ok(found);
                }
                if let Some(error) = &state.ended {
                    return Err(error.clone());
                }
            }
            changed.await;
        }
    }

    /// Sends a command and waits for its answer, whatever came before it.
    pub(crate) async fn ask(self: &Arc<Self>, order: Order) -> Result<Option<answer::Answer>> {
        let mut waiting = Waiting { talk: self, number: self.send(order).await? };
        let told = self.until(|state| state.tell_alone(waiting.number)).await;
        waiting.number = 0;
        told?.map(|told| told.answer)
    }

    /// Sends a command and waits for its answer. The error is the first failure among it and what came before it, on its stream or on
    /// none. Streams that a failure stopped go on with what comes behind.
    pub(crate) async fn wait(self: &Arc<Self>, order: Order) -> Result<Told> {
        let mut waiting = Waiting { talk: self, number: self.send(order).await? };
        let told = self.until(|state| state.tell(waiting.number)).await;
        waiting.number = 0;
        match told? {
            Ok(told) => Ok(told),
            Err((line, error)) => {
                self.forgive(line).await;
                Err(error)
            }
        }
    }

    /// Tells the server that a failure of a context was told, and drops those that only followed from it.
    async fn forgive(self: &Arc<Self>, line: Line) {
        if line.context == 0 {
            return;
        }
        let command = Command::Synchronize(proto::SynchronizeCommand { target: Some(Target::Context(line.context)) });
        let order = Order::new(command, Line { stream: 0, ..line }, Telling::Waited);
        let Ok(number) = self.send(order).await else { return };
        let mut waiting = Waiting { talk: self, number };
        let told = self.until(|state| state.tell_alone(number)).await;
        waiting.number = 0;
        if told.is_ok() {
            let mut state = self.state();
            state.pending.retain(|other, pending| {
                *other > number || pending.error().is_none_or(|error| error.reason() != "STREAM_FAILED")
            });
        }
    }

    // ---- the end

    /// Half-closes, waits for the server to finish what was sent, and tells the first failure that was not told.
    pub(crate) async fn finish(&self) -> Result<()> {
        self.state().outbox = None;
        let ended = self.until(|state| state.ended.clone()).await?;
        let pending = std::mem::take(&mut self.state().pending);
        let failed = pending.values().find_map(Pending::error);
        match failed {
            Some(error) => Err(error.clone()),
            None if pending.values().any(|pending| pending.outcome.is_none()) => Err(ended),
            None => Ok(()),
        }
    }

    /// Ends the RPC at once: the server drops what waits.
    pub(crate) fn cancel(&self) {
        let reader = self.state().reader.take();
        if let Some(reader) = reader {
            reader.abort();
        }
        self.end(Error::new(Code::Cancelled, "the session is over"));
    }
}

/// A wait for a command's answer; when the wait is given up the command is cancelled.
struct Waiting<'a> {
    talk: &'a Arc<Conversation>,
    number: u64, // 0 = the wait is over
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.number != 0 {
            self.talk.state().give_up(self.number);
        }
    }
}

impl State {
    fn max_unanswered(&self) -> usize {
        let queued = self.info.map_or(0, |info| info.max_queued_commands);
        usize::try_from(queued / 2).map_or(1, |half| half.max(1))
    }

    fn put(&mut self, order: Order) -> u64 {
        self.last += 1;
        let id = self.last;
        let Some(outbox) = &self.outbox else { return id };
        let timeout_ns =
            order.timeout.map_or(0, |timeout| i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX).max(1));
        let command = proto::Command { id, quiet: false, timeout_ns, command: Some(order.command) };
        self.waiting_bytes += order.data.as_ref().map_or(0, Bytes::len);
        self.unanswered += 1;
        let Order { line, gather, telling, .. } = order;
        self.pending.insert(id, Pending { line, gather, telling, outcome: None });
        // The receiver goes only with the RPC, whose end is told by `ended`.
        let _ = outbox.send(Outgoing { command, data: order.data });
        id
    }

    fn take_all(&mut self, message: proto::SessionResponse) -> Result<()> {
        message.answers.into_iter().try_for_each(|answer| self.take(answer, &message.raw))
    }

    fn take(&mut self, answer: proto::Answer, raw: &[Bytes]) -> Result<()> {
        let number = answer.id;
        if number == 0 {
            match answer.answer {
                Some(answer::Answer::Info(info)) => self.info = Some(info),
                Some(answer::Answer::Draining(_)) => self.is_draining = true,
                _ => {}
            }
            return Ok(());
        }
        let found = self.pending.get_mut(&number).filter(|pending| pending.outcome.is_none());
        let pending = found.ok_or_else(|| Error::bad_answer(format!("command {number} is not under way")))?;
        if let Some(answer::Answer::Chunk(chunk)) = &answer.answer {
            let bytes = raw.get(chunk.raw_index as usize);
            let place = bytes.zip(pending.gather.as_mut());
            let (bytes, gather) = place.ok_or_else(|| Error::bad_answer(format!("a chunk for command {number}")))?;
            gather.take(chunk.offset_bytes, bytes)?;
        }
        if !answer.more {
            self.finish(answer);
        }
        Ok(())
    }

    /// The last answer of a command.
    fn finish(&mut self, answer: proto::Answer) {
        self.unanswered -= 1;
        let number = answer.id;
        let failed = if answer.failed_command == 0 { number } else { answer.failed_command };
        let place = self.pending.get(&failed).or_else(|| self.pending.get(&number)).map(|pending| pending.line.place);
        let outcome = match (&answer.error, place) {
            (Some(status), Some(place)) => Err(Error::of_status(status).of_command(failed, place)),
            _ => Ok(answer),
        };
        let Some(pending) = self.pending.get_mut(&number) else { return };
        let is_kept = match pending.telling {
            Telling::Waited => true,
            Telling::FailureKept => outcome.is_err(),
            Telling::Nobody => false,
        };
        pending.outcome = Some(outcome);
        if !is_kept {
            self.pending.remove(&number);
        }
    }

    /// The outcome of a command alone.
    fn tell_alone(&mut self, number: u64) -> Option<Result<Told>> {
        self.pending.get(&number)?.outcome.as_ref()?;
        self.pending.remove(&number).and_then(told)
    }

    /// The outcome of a command once it and what came before it are over, with the first failure among them.
    fn tell(&mut self, number: u64) -> Option<std::result::Result<Told, (Line, Error)>> {
        let line = self.pending.get(&number).filter(|pending| pending.outcome.is_some())?.line;
        let before = || self.pending.range(..number).filter(|(_, other)| precedes(other.line, line));
        if before().any(|(_, other)| other.outcome.is_none()) {
            return None;
        }
        let own = self.pending.get(&number).map(|pending| (&number, pending));
        let failures = before().chain(own).filter_map(|(at, other)| Some((*at, other.line, other.error()?.clone())));
        let failures: Vec<_> = failures.collect();
        let first = failures.iter().min_by_key(|(at, _, error)| error.command().unwrap_or(*at));
        let first = first.map(|(_, line, error)| (*line, error.clone()));
        for (failed, ..) in failures {
            self.pending.remove(&failed);
        }
        let own = self.pending.remove(&number);
        match first {
            Some(failure) => Some(Err(failure)),
            None => own.and_then(told).map(|told| told.map_err(|error| (line, error))),
        }
    }

    /// Nobody waits for a command any more.
    fn give_up(&mut self, number: u64) {
        let Some(pending) = self.pending.get_mut(&number) else { return };
        pending.telling = Telling::Nobody;
        if pending.outcome.is_some() {
            self.pending.remove(&number);
            return;
        }
        if let Some(gather) = &mut pending.gather {
            gather.give_up();
        }
        let line = pending.line;
        self.put(Order::new(Command::Cancel(proto::CancelCommand { command: number }), line, Telling::Nobody));
    }
}

fn told(pending: Pending) -> Option<Result<Told>> {
    let gather = pending.gather;
    pending.outcome.map(|outcome| outcome.map(|answer| Told { answer: answer.answer, gather }))
}

/// Whether a command's failure is of concern to a later one.
fn precedes(other: Line, line: Line) -> bool {
    let is_same = |one: u64, another: u64| one == 0 || another == 0 || one == another;
    is_same(other.context, line.context) && is_same(other.stream, line.stream)
}
