//! One-shot calls, batches, plans and discovery.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::builder::Builder;
use crate::call::Call;
use crate::error::{Error, ErrorKind, Result};
use crate::operators::Operator;
use crate::outputs::Outputs;
use crate::plan::Plan;
use crate::proto;
use crate::session::{Session, execute_in_pieces};
use crate::tensor::{Spec, Tensor};
use crate::transport::{Transport, before};
use crate::wire;

macro_rules! path {
    ($method:literal) => {
        concat!("/opserve.v1.OperatorService/", $method)
    };
}

/// A client of one or several servers. A clone shares its connections; any number of tasks and threads may use it.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    transport: Transport,
    /// The largest message that the server takes, once it was asked.
    max_message_bytes: OnceLock<usize>,
}

impl Client {
    /// Connects to a target, such as `localhost:8500`, with the defaults of [`Client::builder`].
    pub async fn connect(target: impl Into<String>) -> Result<Self> {
        Self::builder().target(target).connect().await
    }

    /// Says how to connect: TLS, a token, time limits, several targets.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn new(transport: Transport) -> Self {
        Self(Arc::new(Shared { transport, max_message_bytes: OnceLock::new() }))
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.0.transport
    }

    pub(crate) async fn learn_limits(&self) -> Result<()> {
        let told = self.info().await?.max_message_bytes;
        let bytes = usize::try_from(told).ok().filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or_else(|| Error::bad_answer(format!("max_message_bytes is {told}")))?;
        self.0.max_message_bytes.get_or_init(|| bytes);
        Ok(())
    }

    /// Runs a call.
    ///
    /// One whose inputs or outputs are larger than a message may be goes through a [`Session`] of its own, in pieces.
    ///
    /// Errors: what the server says of the call, each with the parameter, what was wanted and what came. A call is tried up to four
    /// times where no server answers, or where one says when it will have room, as long as its time allows.
    pub async fn execute(&self, call: Call) -> Result<Outputs> {
        let mut raw = Vec::new();
        let message = wire::call_message(&call, &mut raw)?;
        let size = raw.iter().map(Bytes::len).sum::<usize>() + wire::HEADER_BYTES;
        let deadline = self.transport().deadline(call.timeout);
        let is_small = self.0.max_message_bytes.get().is_none_or(|limit| size <= *limit);
        if is_small {
            let request = proto::ExecuteRequest { call: Some(message), raw, ..Default::default() };
            let answer = self.transport().unary(path!("Execute"), request, deadline).await;
            match answer {
                Err(error) if wants_pieces(&error) => {}
                answer => return read_execution(answer?),
            }
        }
        before(deadline, Box::pin(execute_in_pieces(self, call))).await
    }

    /// Runs one of the typed [`operators`](crate::operators).
    ///
    /// ```no_run
    /// use opserve::operators::{Reduction, SmoothL1Loss};
    ///
    /// # async fn example(client: opserve::Client) -> opserve::Result<()> {
    /// let loss = client.apply(SmoothL1Loss::new(vec![1.0f32, 2.0], vec![1.5f32, 4.0]).reduction(Reduction::Sum)).await?;
    /// assert_eq!(loss.to_vec::<f32>()?, [1.625]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn apply<O: Operator<Tensor = Tensor>>(&self, operator: O) -> Result<O::Outputs> {
        let mut outputs = self.execute(operator.into_call()).await?;
        O::outputs_of(&mut outputs)
    }

    /// Runs many calls that travel in one message: small ones cost a fraction of what they cost alone. Each has its own result, in the
    /// order of the calls. The error is that of the batch as a whole.
    pub async fn execute_batch(&self, calls: impl IntoIterator<Item = Call>) -> Result<Vec<Result<Outputs>>> {
        let mut request = proto::ExecuteBatchRequest::default();
        for call in calls {
            request.calls.push(wire::call_message(&call, &mut request.raw)?);
        }
        let sent = request.calls.len();
        let deadline = self.transport().deadline(None);
        let answer: proto::ExecuteBatchResponse =
            self.transport().unary(path!("ExecuteBatch"), request, deadline).await?;
        if answer.results.len() != sent {
            return Err(Error::bad_answer(format!("{} results of {sent} calls", answer.results.len())));
        }
        let results = answer.results.into_iter().map(|result| match result.error {
            Some(status) => Ok(Err(Error::of_status(&status))),
            None => wire::outputs_of(result.outputs, &answer.raw, result.execution).map(Ok),
        });
        results.collect()
    }

    /// Phase one alone (GetWorkspaceSize): checks all that can be known without elements, and tells the outputs, the workspace and the
    /// time that an execution is expected to take.
    ///
    /// ```no_run
    /// use opserve::{Call, DType, Spec};
    ///
    /// # async fn example(client: opserve::Client) -> opserve::Result<()> {
    /// let x = Spec::new(DType::Float32, [64, 1000]);
    /// let call = Call::new("L1Loss").input("self", x.clone()).input("target", x).attribute("reduction", "none");
    /// let plan = client.plan(call).await?;
    /// assert_eq!((plan.outputs[0].1.shape.as_slice(), plan.output_bytes), (&[64, 1000][..], 256_000));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan(&self, call: Call<Spec>) -> Result<Plan> {
        let request = proto::GetWorkspaceSizeRequest { call: Some(wire::plan_message(&call)?) };
        let deadline = self.transport().deadline(call.timeout);
        Plan::of_answer(self.transport().unary(path!("GetWorkspaceSize"), request, deadline).await?)
    }

    /// The server's version and limits.
    pub async fn info(&self) -> Result<proto::GetServerInfoResponse> {
        self.ask(path!("GetServerInfo"), proto::GetServerInfoRequest {}).await
    }

    /// Schemas and documentation of all operators.
    pub async fn operators(&self) -> Result<Vec<proto::OperatorSchema>> {
        let request = proto::ListOperatorsRequest::default();
        let answer: proto::ListOperatorsResponse = self.ask(path!("ListOperators"), request).await?;
        Ok(answer.operators)
    }

    /// Schema and documentation of one operator.
    pub async fn operator(&self, name: impl Into<String>) -> Result<proto::OperatorSchema> {
        let names = vec![name.into()];
        let answer: proto::ListOperatorsResponse =
            self.ask(path!("ListOperators"), proto::ListOperatorsRequest { names }).await?;
        answer.operators.into_iter().next().ok_or_else(|| Error::bad_answer("no operator came"))
    }

    /// The devices that the server holds; the first is the default.
    pub async fn devices(&self) -> Result<Vec<proto::Device>> {
        let answer: proto::ListDevicesResponse = self.ask(path!("ListDevices"), proto::ListDevicesRequest {}).await?;
        Ok(answer.devices)
    }

    /// What the server has counted since it started.
    pub async fn statistics(&self) -> Result<proto::GetStatisticsResponse> {
        self.ask(path!("GetStatistics"), proto::GetStatisticsRequest {}).await
    }

    /// Opens a session, which keeps tensors on the server.
    pub async fn session(&self) -> Result<Session> {
        Session::open(self.clone()).await
    }

    async fn ask<E, D>(&self, path: &'static str, request: E) -> Result<D>
    where
        E: prost::Message + Clone + 'static,
        D: prost::Message + Default + 'static,
    {
        self.transport().unary(path, request, self.transport().deadline(None)).await
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Client")
    }
}

/// Whether a call was refused as its answer would not fit a message.
fn wants_pieces(error: &Error) -> bool {
    error.kind() == ErrorKind::Resource && error.parameter() == "max_message_bytes"
}

fn read_execution(answer: proto::ExecuteResponse) -> Result<Outputs> {
    wire::outputs_of(answer.outputs, &answer.raw, answer.execution)
}
