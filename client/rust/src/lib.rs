//! Operators and their gradients on an [opserve](https://opserve.dev) server: tensors go there by gRPC, gradients come back.
//!
//! ```no_run
//! use opserve::{Call, Client, Tensor};
//!
//! # async fn example() -> opserve::Result<()> {
//! let client = Client::connect("localhost:8500").await?;
//! let x = Tensor::new([4, 2], (0..8u8).map(f32::from).collect())?;
//! let call = Call::new("SmoothL1LossBackward")
//!     .input("grad_out", 1.0f32)
//!     .input("self", x)
//!     .input("target", Tensor::full([4, 2], 1.0f32)?)
//!     .attribute("reduction", "none")
//!     .attribute("beta", 1.0);
//! let outputs = client.execute(call).await?;
//! assert_eq!(outputs["grad_input"].to_vec::<f32>()?, [-1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Client`] makes calls: [`execute`](Client::execute), [`execute_batch`](Client::execute_batch), [`plan`](Client::plan), and
//!   [`apply`](Client::apply), which takes the typed [`operators`].
//! - [`Program`] is several operators in one call, and the gradients of one of its values.
//! - [`Session`] keeps tensors on the server, with streams, events and executors.
//! - [`Error`] says what was wrong: the parameter, what was wanted and what came.
//! - [`proto`] has the messages of the protocol, which discovery answers with.
//!
//! Everything is asynchronous and runs on [tokio](https://docs.rs/tokio). All types are `Send` and `Sync`: any number of tasks and
//! threads may share a client or a session. A future that is dropped cancels its call.
//!
//! Features: `tls` (on unless turned off), `ndarray` ([`Tensor::to_array`]), `half` (`half::f16` and `half::bf16` as elements).

mod attribute;
mod builder;
mod call;
mod client;
mod codec;
mod dtype;
mod error;
mod halves;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod operators;
mod outputs;
mod plan;
mod program;
mod program_text;
#[allow(missing_docs)]
pub mod proto;
mod session;
mod target;
mod tensor;
mod transport;
#[cfg(test)]
mod vectors;
mod wire;

pub use attribute::Attribute;
pub use builder::{Builder, Tls};
pub use call::{Call, DeviceCall};
pub use client::Client;
pub use dtype::{DType, Element};
pub use error::{Error, ErrorKind, Result};
pub use operators::Operator;
pub use outputs::{Execution, Outputs};
pub use plan::{Plan, ProgramPlan};
pub use program::{Program, Value};
pub use session::{Context, DeviceTensor, Event, Executor, OnFailure, Session, Stream};
pub use tensor::{Spec, Tensor};
pub use tonic::Code;
