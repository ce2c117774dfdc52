//! Calls of operators.

use std::sync::Arc;
use std::time::Duration;

use crate::attribute::Attribute;
use crate::dtype::DType;
use crate::proto;
use crate::session::DeviceTensor;
use crate::tensor::{Spec, Tensor};

/// A call of an operator, or of a [`Program`](crate::Program): its inputs and attributes by the names of its schema.
///
/// The inputs of a `Call` are tensors of the program. Those of a [`DeviceCall`] lie on the server, and those of a `Call<Spec>` are
/// dtypes and shapes alone, for [`Client::plan`](crate::Client::plan). A `Call<Value>` is a step of a program. A clone shares the tensors' elements.
///
/// ```
/// use opserve::{Call, DType, Tensor};
///
/// let call: Call = Call::new("Hardshrink")
///     .input("self", Tensor::new([3], vec![1.0f32, -0.25, 0.75])?)
///     .attribute("lambd", 0.5)
///     .output_dtype("out", DType::Float16);
/// # Ok::<(), opserve::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until a client executes it"]
pub struct Call<T = Tensor> {
    pub(crate) op: String,
    /// In the place of the operator.
    pub(crate) program: Option<Arc<proto::Program>>,
    pub(crate) inputs: Vec<(String, T)>,
    pub(crate) attributes: Vec<(String, Attribute)>,
    pub(crate) outputs: Vec<(String, T)>,
    pub(crate) dtypes: Vec<(String, DType)>,
    pub(crate) device: String,
    pub(crate) report: bool,
    pub(crate) timeout: Option<Duration>,
}

/// A call on tensors that lie on the server, in a [`Session`](crate::Session).
pub type DeviceCall = Call<DeviceTensor>;

impl<T> Call<T> {
    /// A call of the operator of this name: `SmoothL1LossBackward`.
    pub fn new(op: impl Into<String>) -> Self {
        Self {
            op: op.into(),
            program: None,
            inputs: Vec::new(),
            attributes: Vec::new(),
            outputs: Vec::new(),
            dtypes: Vec::new(),
            device: String::new(),
            report: false,
            timeout: None,
        }
    }

    /// An input by its name. Optional ones may be left out.
    pub fn input(mut self, name: impl Into<String>, tensor: impl Into<T>) -> Self {
        self.inputs.push((name.into(), tensor.into()));
        self
    }

    /// An attribute by its name. Those with a default may be left out.
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Attribute>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }

    /// Asks for an output in another dtype than the one that the operator infers.
    pub fn output_dtype(mut self, name: impl Into<String>, dtype: DType) -> Self {
        self.dtypes.push((name.into(), dtype));
        self
    }

    /// The operator's name.
    pub fn op(&self) -> &str {
        &self.op
    }

    /// The same call of other tensors.
    pub(crate) fn with_tensors<U>(&self, mut other: impl FnMut(&T) -> U) -> Call<U> {
        let mut others =
            |tensors: &[(String, T)]| tensors.iter().map(|(name, tensor)| (name.clone(), other(tensor))).collect();
        Call {
            inputs: others(&self.inputs),
            outputs: others(&self.outputs),
            op: self.op.clone(),
            program: self.program.clone(),
            attributes: self.attributes.clone(),
            dtypes: self.dtypes.clone(),
            device: self.device.clone(),
            report: self.report,
            timeout: self.timeout,
        }
    }
}

impl Call {
    /// The device that is to run the call: `cpu:0`. The server's first without it.
    pub fn device(mut self, name: impl Into<String>) -> Self {
        self.device = name.into();
        self
    }

    /// Asks which device ran the call and how long that took: [`Outputs::execution`](crate::Outputs::execution).
    pub fn report_execution(mut self) -> Self {
        self.report = true;
        self
    }

    /// How long the call may take with its retries, in place of what the client allows. In a batch the client's time counts.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The call without its elements, to be planned.
    pub fn to_specs(&self) -> Call<Spec> {
        self.with_tensors(|tensor| tensor.spec().clone())
    }
}

impl DeviceCall {
    /// The tensor that an output is to be written to. Outputs without one are made.
    pub fn output(mut self, name: impl Into<String>, tensor: impl Into<DeviceTensor>) -> Self {
        self.outputs.push((name.into(), tensor.into()));
        self
    }
}
