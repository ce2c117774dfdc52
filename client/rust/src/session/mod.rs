//! Sessions: tensors that stay on the server, and work on them that nothing waits for.

mod conversation;
mod gather;
mod objects;
mod order;
mod outbox;
mod stream;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use prost::Message;

use crate::call::{Call, DeviceCall};
use crate::client::Client;
use crate::error::Result;
use crate::outputs::Outputs;
use crate::plan::Plan;
use crate::proto;
use crate::tensor::Spec;
use crate::wire;
use conversation::Conversation;
pub use objects::{Context, DeviceTensor, Event, Executor, OnFailure};
pub use stream::Stream;

const MAX_PLANS: usize = 512;

/// Resident state on the devices of a server, in one RPC: contexts, streams, events, tensors, executors.
///
/// Nothing waits for the server but what gives an answer: [`Stream::download`], `synchronize`, queries. Other calls of a stream wait
/// only while too much is under way. A command that failed is told by the next of its stream (or context) that waits; its error says
/// where in the program the command was given. Objects are freed on the server when they are dropped.
///
/// Any number of tasks may use a session. [`close`](Session::close) finishes what was given; a session that is dropped drops what
/// waits. Either frees everything.
///
/// ```no_run
/// use opserve::{DType, DeviceCall, Spec, Tensor};
///
/// # async fn example(client: opserve::Client) -> opserve::Result<()> {
/// let session = client.session().await?;
/// let context = session.context();
/// let stream = context.stream();
/// let x = stream.tensor(Tensor::new([3], vec![1.0f32, -0.25, 0.75])?).await?;
/// let call = DeviceCall::new("Hardshrink").input("self", &x).attribute("lambd", 0.5);
/// let hardshrink = context.executor(call).await?;
/// stream.run(&hardshrink).await?;
/// let out = stream.download(hardshrink.output("out")?).await?;
/// assert_eq!(out.to_vec::<f32>()?, [1.0, 0.0, 0.75]);
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
pub struct Session(Arc<Shared>);

/// What the objects of a session share.
pub(crate) struct Shared {
    talk: Arc<Conversation>,
    client: Client,
    last_id: AtomicU64,
    plans: Mutex<HashMap<Vec<u8>, Arc<Plan>>>,
}

impl Session {
    pub(crate) async fn open(client: Client) -> Result<Self> {
        let talk = Conversation::open(client.transport()).await?;
        Ok(Self(Arc::new(Shared { talk, client, last_id: AtomicU64::new(0), plans: Mutex::default() })))
    }

    /// A context on the server's first device.
    #[track_caller]
    pub fn context(&self) -> Context {
        self.context_on("")
    }

    /// A context on a device: `cpu:0`.
    #[track_caller]
    pub fn context_on(&self, device: impl Into<String>) -> Context {
        Context::new(&self.0, device.into())
    }

    /// The session's limits.
    pub fn info(&self) -> proto::SessionInfo {
        self.0.talk.info()
    }

    /// Whether the server said that it is stopping: it ends the session once nothing is under way.
    pub fn is_draining(&self) -> bool {
        self.0.talk.is_draining()
    }

    /// Finishes what was given and frees everything. The error is the first failure that was not told.
    pub async fn close(self) -> Result<()> {
        self.0.talk.finish().await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.0.talk.cancel();
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Session")
    }
}

impl Shared {
    fn new_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Phase one of a call; the server is asked once for each dtype and shape.
    async fn plan(&self, call: Call<Spec>) -> Result<Arc<Plan>> {
        let key = wire::plan_message(&call)?.encode_to_vec();
        if let Some(plan) = self.plans().get(&key) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(self.client.plan(call).await?);
        let mut plans = self.plans();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(key, plan.clone());
        Ok(plan)
    }

    fn plans(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, Arc<Plan>>> {
        self.plans.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Runs a call that is larger than a message: its tensors go and come in pieces.
pub(crate) async fn execute_in_pieces(client: &Client, call: Call) -> Result<Outputs> {
    let session = client.session().await?;
    let context = session.context_on(&call.device);
    let stream = context.stream();
    let (attributes, dtypes, program) = (call.attributes, call.dtypes, call.program);
    let mut here = DeviceCall { attributes, dtypes, program, ..DeviceCall::new(call.op) };
    for (name, tensor) in call.inputs {
        here.inputs.push((name, stream.tensor(tensor).await?));
    }
    let results = stream.execute(here).await?;
    let mut tensors = Vec::new();
    for (name, tensor) in results.iter() {
        tensors.push((name.to_owned(), stream.download(tensor).await?));
    }
    session.close().await?;
    Ok(Outputs { tensors, execution: None })
}
