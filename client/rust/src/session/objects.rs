//! The objects of a session. Each is freed on the server when the last clone of it is dropped.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::order::{Line, Order, Telling};
use super::stream::Stream;
use crate::call::DeviceCall;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::outputs::Outputs;
use crate::proto::{self, answer::Answer, command::Command, synchronize_command::Target, tensor::Data};
use crate::tensor::Spec;
use crate::wire;

/// An id on the server, what it belongs to, and the command that ends it.
pub(crate) struct Handle {
    pub(crate) session: Arc<Shared>,
    pub(crate) id: u64,
    pub(crate) context: u64,
    end: fn(u64) -> Command,
    /// An object lives no longer than its context.
    _context: Option<Arc<Handle>>,
}

impl Handle {
    /// Makes an object of a context by the command that `begin` gives for its id.
    fn in_context(
        context: &Context,
        place: &'static Location<'static>,
        begin: impl FnOnce(u64, u64) -> Command,
        end: fn(u64) -> Command,
    ) -> Arc<Self> {
        let parent = &context.handle;
        let id = parent.session.new_id();
        let line = Line { context: parent.id, stream: 0, place };
        parent.session.talk.send_now(Order::new(begin(id, parent.id), line, Telling::FailureKept));
        Arc::new(Self { session: parent.session.clone(), id, context: parent.id, end, _context: Some(parent.clone()) })
    }

    /// Where a command of this object, on no stream, stands.
    pub(crate) fn line(&self, place: &'static Location<'static>) -> Line {
        Line { context: self.context, stream: 0, place }
    }
}

impl Drop for Handle {
    #[track_caller]
    fn drop(&mut self) {
        let line = self.line(Location::caller());
        self.session.talk.send_now(Order::new((self.end)(self.id), line, Telling::Nobody));
    }
}

/// What becomes of a stream's commands behind one that failed, until the failure was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// They are not run.
    #[default]
    Stop,
    /// They run.
    Continue,
}

/// Streams, events, tensors and executors on one device. A clone is the same context.
#[derive(Clone)]
pub struct Context {
    handle: Arc<Handle>,
    device: Arc<str>,
}

impl Context {
    #[track_caller]
    pub(crate) fn new(session: &Arc<Shared>, device: String) -> Self {
        let id = session.new_id();
        let line = Line { context: id, stream: 0, place: Location::caller() };
        let begin = Command::CreateContext(proto::CreateContextCommand { context: id, device: device.clone() });
        session.talk.send_now(Order::new(begin, line, Telling::FailureKept));
        let end = |context| Command::DestroyContext(proto::DestroyContextCommand { context });
        let handle = Arc::new(Handle { session: session.clone(), id, context: id, end, _context: None });
        Self { handle, device: device.into() }
    }

    /// A stream: its work runs in order, and beside that of other streams.
    #[track_caller]
    pub fn stream(&self) -> Stream {
        self.stream_with(OnFailure::Stop)
    }

    /// A stream of which is said what becomes of commands behind one that failed.
    #[track_caller]
    pub fn stream_with(&self, on_failure: OnFailure) -> Stream {
        let on_failure = match on_failure {
            OnFailure::Stop => proto::OnFailure::Stop,
            OnFailure::Continue => proto::OnFailure::Continue,
        } as i32;
        let handle = Handle::in_context(
            self,
            Location::caller(),
            |stream, context| Command::CreateStream(proto::CreateStreamCommand { stream, context, on_failure }),
            |stream| Command::DestroyStream(proto::DestroyStreamCommand { stream }),
        );
        Stream::new(handle, self.clone())
    }

    /// A mark that streams record and wait for.
    #[track_caller]
    pub fn event(&self) -> Event {
        Event(Handle::in_context(
            self,
            Location::caller(),
            |event, context| Command::CreateEvent(proto::CreateEventCommand { event, context }),
            |event| Command::DestroyEvent(proto::DestroyEventCommand { event }),
        ))
    }

    /// A tensor on the device; zeros, as all new memory of a session.
    #[track_caller]
    pub fn zeros(&self, dtype: DType, shape: impl Into<Vec<usize>>) -> Result<DeviceTensor> {
        self.make(Spec::new(dtype, shape), Location::caller())
    }

    pub(crate) fn make(&self, spec: Spec, place: &'static Location<'static>) -> Result<DeviceTensor> {
        let size_bytes = spec.size_bytes()? as i64;
        let handle = Handle::in_context(
            self,
            place,
            |buffer, context| Command::Allocate(proto::AllocateCommand { buffer, context, size_bytes }),
            |buffer| Command::Free(proto::FreeCommand { buffer }),
        );
        Ok(DeviceTensor { handle, spec: Arc::new(spec) })
    }

    /// Phase one: an executor, which [`Stream::run`] runs as often as is wanted on the same tensors.
    ///
    /// Outputs that the call does not name are made here; the server is asked once for their dtypes and shapes.
    #[track_caller]
    pub fn executor(&self, call: DeviceCall) -> impl Future<Output = Result<Executor>> + Send {
        self.executor_at(call, Location::caller())
    }

    pub(crate) async fn executor_at(&self, call: DeviceCall, place: &'static Location<'static>) -> Result<Executor> {
        let mut specs = call.with_tensors(|tensor| tensor.spec().clone());
        specs.device = self.device.to_string();
        let plan = self.handle.session.plan(specs).await?;
        let mut tensors = Vec::new();
        for (name, spec) in &plan.outputs {
            let given = call.outputs.iter().find(|(other, _)| other == name).map(|(_, tensor)| tensor.clone());
            let tensor = given.map_or_else(|| self.make(spec.clone(), place), Ok)?;
            tensors.push((name.clone(), tensor));
        }
        let bound = DeviceCall { outputs: tensors, ..call };
        let message = wire::header(&bound, |tensor| {
            let view = proto::BufferView { buffer: tensor.handle.id, offset_bytes: 0 };
            Ok(proto::Tensor { data: Some(Data::Buffer(view)), ..wire::described(&tensor.spec)? })
        })?;
        let handle = Handle::in_context(
            self,
            place,
            |executor, context| {
                let call = Some(message);
                Command::CreateExecutor(proto::CreateExecutorCommand { executor, context, call, repeatable: true })
            },
            |executor| Command::DestroyExecutor(proto::DestroyExecutorCommand { executor }),
        );
        let outputs = Outputs { tensors: bound.outputs, execution: None };
        let workspace_bytes = plan.workspace_bytes;
        Ok(Executor { handle, outputs, workspace_bytes })
    }

    /// Waits until all streams have done what is on them. The error is the first failure.
    #[track_caller]
    pub fn synchronize(&self) -> impl Future<Output = Result<()>> + Send {
        let line = self.handle.line(Location::caller());
        let target = Some(Target::Context(self.handle.id));
        let order = Order::new(Command::Synchronize(proto::SynchronizeCommand { target }), line, Telling::Waited);
        async { self.handle.session.talk.wait(order).await.map(|_| ()) }
    }

    /// What the session holds on the device, and what it may.
    #[track_caller]
    pub fn memory(&self) -> impl Future<Output = Result<proto::MemoryState>> + Send {
        let command = Command::QueryMemory(proto::QueryMemoryCommand { context: self.handle.id });
        let order = Order::new(command, self.handle.line(Location::caller()), Telling::Waited);
        async {
            match self.handle.session.talk.ask(order).await? {
                Some(Answer::Memory(memory)) => Ok(memory),
                _ => Err(Error::bad_answer("of another kind than query_memory")),
            }
        }
    }
}

/// A dense tensor on the device. A clone is the same tensor.
#[derive(Clone)]
pub struct DeviceTensor {
    pub(crate) handle: Arc<Handle>,
    spec: Arc<Spec>,
}

impl DeviceTensor {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.spec.shape
    }

    /// Dtype and shape.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}

impl From<&DeviceTensor> for DeviceTensor {
    fn from(tensor: &DeviceTensor) -> Self {
        tensor.clone()
    }
}

/// A planned call on tensors of a context.
pub struct Executor {
    pub(crate) handle: Arc<Handle>,
    outputs: Outputs<DeviceTensor>,
    workspace_bytes: u64,
}

impl Executor {
    /// The tensor that an output is written to.
    pub fn output(&self, name: &str) -> Result<&DeviceTensor> {
        self.outputs.get(name)
    }

    /// The tensors that the outputs are written to.
    pub fn outputs(&self) -> &Outputs<DeviceTensor> {
        &self.outputs
    }

    /// Scratch memory that an execution takes, out of the session's.
    pub fn workspace_bytes(&self) -> u64 {
        self.workspace_bytes
    }
}

/// Reached when all that was on the stream, as the event was recorded there, has ended. A clone is the same event.
#[derive(Clone)]
pub struct Event(pub(crate) Arc<Handle>);

impl Event {
    /// Whether it was reached.
    #[track_caller]
    pub fn is_reached(&self) -> impl Future<Output = Result<bool>> + Send {
        let command = Command::QueryEvent(proto::QueryEventCommand { event: self.0.id });
        let order = Order::new(command, self.0.line(Location::caller()), Telling::Waited);
        async {
            match self.0.session.talk.ask(order).await? {
                Some(Answer::Event(state)) => Ok(state.reached),
                _ => Err(Error::bad_answer("of another kind than query_event")),
            }
        }
    }

    /// Waits until it was reached. Failures on the stream are told by the stream's own [`synchronize`](Stream::synchronize).
    #[track_caller]
    pub fn synchronize(&self) -> impl Future<Output = Result<()>> + Send {
        let target = Some(Target::Event(self.0.id));
        let command = Command::Synchronize(proto::SynchronizeCommand { target });
        let order = Order::new(command, self.0.line(Location::caller()), Telling::Waited);
        async { self.0.session.talk.ask(order).await.map(|_| ()) }
    }

    /// The time from when `start` was reached; none where that was later. Both must have been reached.
    #[track_caller]
    pub fn elapsed_since(&self, start: &Event) -> impl Future<Output = Result<Option<Duration>>> + Send {
        let command = Command::QueryElapsedTime(proto::QueryElapsedTimeCommand { start: start.0.id, end: self.0.id });
        let order = Order::new(command, self.0.line(Location::caller()), Telling::Waited);
        async {
            match self.0.session.talk.ask(order).await? {
                Some(Answer::ElapsedTime(time)) => Ok(u64::try_from(time.elapsed_ns).ok().map(Duration::from_nanos)),
                _ => Err(Error::bad_answer("of another kind than query_elapsed_time")),
            }
        }
    }
}

macro_rules! debug {
    ($($type:ident: $handle:tt),*) => {$(
        impl std::fmt::Debug for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, concat!(stringify!($type), "({})"), self.$handle.id)
            }
        }
    )*};
}

debug!(Context: handle, DeviceTensor: handle, Executor: handle, Event: 0);
