//! Work in order.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::gather::Gather;
use super::objects::{Context, DeviceTensor, Event, Executor, Handle};
use super::order::{Line, Order, Telling};
use crate::call::DeviceCall;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::operators::Operator;
use crate::outputs::Outputs;
use crate::proto::{self, answer::Answer, command::Command, synchronize_command::Target};
use crate::tensor::Tensor;

const MIN_CHUNK_BYTES: usize = 1 << 12;

/// Work of a context in order. A clone is the same stream. When the last one is dropped, what waits on the stream is dropped, too.
///
/// What its methods give runs in the stream's turn; but for [`download`](Stream::download), [`synchronize`](Stream::synchronize) and
/// [`is_idle`](Stream::is_idle) they wait only while too much is under way, and their error is the end of the session. A command that
/// fails stops those behind it until that was told.
#[derive(Clone)]
pub struct Stream {
    handle: Arc<Handle>,
    context: Context,
    timeout: Option<Duration>,
}

impl Stream {
    pub(crate) fn new(handle: Arc<Handle>, context: Context) -> Self {
        Self { handle, context, timeout: None }
    }

    /// The same stream, each of whose commands may wait for its turn and run for as long as this. One that is late fails, which marks the
    /// stream as any failure does.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self.clone() }
    }

    /// A copy of a tensor on the device.
    #[track_caller]
    pub fn tensor(&self, tensor: impl Into<Tensor>) -> impl Future<Output = Result<DeviceTensor>> + Send {
        let (tensor, place) = (tensor.into(), Location::caller());
        async move {
            let made = self.context.make(tensor.spec().clone(), place)?;
            self.upload_at(&made, tensor, place).await?;
            Ok(made)
        }
    }

    /// Writes a tensor of the same dtype and shape to the device, in pieces.
    #[track_caller]
    pub fn upload(&self, to: &DeviceTensor, tensor: impl Into<Tensor>) -> impl Future<Output = Result<()>> + Send {
        self.upload_at(to, tensor.into(), Location::caller())
    }

    async fn upload_at(&self, to: &DeviceTensor, tensor: Tensor, place: &'static Location<'static>) -> Result<()> {
        if tensor.spec() != to.spec() {
            return Err(Error::argument("tensor", to.spec(), tensor.spec()));
        }
        let mut data = tensor.dense_bytes();
        let chunk = self.chunk_bytes();
        let mut offset = 0;
        while !data.is_empty() {
            let part = data.split_to(chunk.min(data.len()));
            let destination = range(to, offset, part.len());
            offset += part.len();
            let upload = proto::UploadCommand { destination, stream: self.handle.id, raw_index: 0 };
            let order = self.order(Command::Upload(upload), place, Telling::FailureKept);
            self.handle.session.talk.send(Order { data: Some(part), ..order }).await?;
        }
        Ok(())
    }

    /// Sets every element.
    #[track_caller]
    pub fn fill<T: Element>(&self, tensor: &DeviceTensor, value: T) -> impl Future<Output = Result<()>> + Send {
        let place = Location::caller();
        async move {
            if T::DTYPE != tensor.dtype() {
                return Err(Error::argument("value", tensor.dtype(), T::DTYPE));
            }
            let size = tensor.spec().size_bytes()?;
            if size == 0 {
                return Ok(());
            }
            let pattern = T::into_bytes(vec![value]).to_vec();
            let fill = proto::FillCommand { destination: range(tensor, 0, size), pattern, stream: self.handle.id };
            self.give(Command::Fill(fill), place).await
        }
    }

    /// Copies a tensor of as many bytes, on the device.
    #[track_caller]
    pub fn copy(&self, from: &DeviceTensor, to: &DeviceTensor) -> impl Future<Output = Result<()>> + Send {
        let place = Location::caller();
        async move {
            let source = range(from, 0, from.spec().size_bytes()?);
            let destination = range(to, 0, to.spec().size_bytes()?);
            let copy = proto::CopyCommand { source, destination, stream: self.handle.id };
            self.give(Command::Copy(copy), place).await
        }
    }

    /// Phase two: runs an executor.
    #[track_caller]
    pub fn run(&self, executor: &Executor) -> impl Future<Output = Result<()>> + Send {
        let command =
            proto::RunExecutorCommand { executor: executor.handle.id, stream: self.handle.id, ..Default::default() };
        self.give(Command::RunExecutor(command), Location::caller())
    }

    /// Both phases: plans a call and runs it. Gives its outputs, which lie on the device, without waiting for them.
    #[track_caller]
    pub fn execute(&self, call: DeviceCall) -> impl Future<Output = Result<Outputs<DeviceTensor>>> + Send {
        let place = Location::caller();
        async move {
            let executor = self.context.executor_at(call, place).await?;
            let run = proto::RunExecutorCommand {
                executor: executor.handle.id,
                stream: self.handle.id,
                ..Default::default()
            };
            self.give(Command::RunExecutor(run), place).await?;
            Ok(executor.outputs().clone())
        }
    }

    /// Runs one of the typed [`operators`](crate::operators), as [`execute`](Stream::execute) does.
    #[track_caller]
    pub fn apply<O: Operator<Tensor = DeviceTensor>>(&self, operator: O) -> impl Future<Output = Result<O::Outputs>> {
        let executed = self.execute(operator.into_call());
        async { O::outputs_of(&mut executed.await?) }
    }

    /// The elements of a tensor. Waits for them. The error is the first failure on the stream.
    #[track_caller]
    pub fn download(&self, tensor: &DeviceTensor) -> impl Future<Output = Result<Tensor>> + Send {
        let place = Location::caller();
        async move {
            let size = tensor.spec().size_bytes()?;
            let source = range(tensor, 0, size);
            let download = proto::DownloadCommand { source, stream: self.handle.id, ..Default::default() };
            let order = self.order(Command::Download(download), place, Telling::Waited);
            let order = Order { gather: Some(Gather::new(size)), ..order };
            let told = self.handle.session.talk.wait(order).await?;
            let bytes = told.gather.ok_or_else(|| Error::bad_answer("a download without bytes"))?.finish()?;
            Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes)
        }
    }

    /// Marks this place in the stream's work.
    #[track_caller]
    pub fn record(&self, event: &Event) -> impl Future<Output = Result<()>> + Send {
        let command = proto::RecordEventCommand { event: event.0.id, stream: self.handle.id };
        self.give(Command::RecordEvent(command), Location::caller())
    }

    /// What comes later on this stream runs once the event was reached.
    #[track_caller]
    pub fn wait(&self, event: &Event) -> impl Future<Output = Result<()>> + Send {
        let command = proto::WaitEventCommand { event: event.0.id, stream: self.handle.id };
        self.give(Command::WaitEvent(command), Location::caller())
    }

    /// Waits until all that is on the stream is done. The error is the first failure.
    #[track_caller]
    pub fn synchronize(&self) -> impl Future<Output = Result<()>> + Send {
        let target = Some(Target::Stream(self.handle.id));
        let command = Command::Synchronize(proto::SynchronizeCommand { target });
        let order = self.order(command, Location::caller(), Telling::Waited);
        async { self.handle.session.talk.wait(order).await.map(|_| ()) }
    }

    /// Whether nothing runs and nothing waits.
    #[track_caller]
    pub fn is_idle(&self) -> impl Future<Output = Result<bool>> + Send {
        let command = Command::QueryStream(proto::QueryStreamCommand { stream: self.handle.id });
        let order = self.order(command, Location::caller(), Telling::Waited);
        async {
            match self.handle.session.talk.ask(order).await? {
                Some(Answer::Stream(state)) => Ok(state.idle),
                _ => Err(Error::bad_answer("of another kind than query_stream")),
            }
        }
    }

    async fn give(&self, command: Command, place: &'static Location<'static>) -> Result<()> {
        let order = self.order(command, place, Telling::FailureKept);
        self.handle.session.talk.send(order).await.map(|_| ())
    }

    fn order(&self, command: Command, place: &'static Location<'static>, telling: Telling) -> Order {
        let line = Line { context: self.handle.context, stream: self.handle.id, place };
        Order { timeout: self.timeout, ..Order::new(command, line, telling) }
    }

    /// What an upload has at most: half of what a message may have.
    fn chunk_bytes(&self) -> usize {
        let info = self.handle.session.talk.info();
        let bytes = info.recommended_chunk_bytes.min(info.max_message_bytes / 2);
        usize::try_from(bytes).map_or(MIN_CHUNK_BYTES, |bytes| bytes.max(MIN_CHUNK_BYTES))
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Stream({})", self.handle.id)
    }
}

fn range(tensor: &DeviceTensor, offset: usize, bytes: usize) -> Option<proto::BufferRange> {
    Some(proto::BufferRange {
        buffer: tensor.handle.id,
        offset_bytes: offset as i64,
        row_bytes: bytes as i64,
        ..Default::default()
    })
}
