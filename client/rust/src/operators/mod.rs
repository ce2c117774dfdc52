//! Every operator as a type, whose constructor takes what the operator needs and whose methods set what it may have.
//!
//! An operator is generic over its tensors: [`Client::apply`](crate::Client::apply) runs one of [`Tensor`](crate::Tensor)s,
//! [`Stream::apply`](crate::Stream::apply) one of [`DeviceTensor`](crate::DeviceTensor)s, and
//! [`into_call`](Operator::into_call) makes a [`Call`] of it, for batches, plans and executors. One of [`Value`](crate::Value)s is a step of a
//! [`Program`](crate::Program). A call is an operator, too.

#[rustfmt::skip]
mod catalogue;

pub use catalogue::*;

use crate::call::Call;
use crate::error::Result;
use crate::outputs::Outputs;

/// One of the typed operators.
pub trait Operator: Send {
    /// What its inputs and outputs are: tensors of this machine or of a device, or values of a program.
    type Tensor: Send;
    /// Its output, or a struct with its outputs.
    type Outputs: Send;

    /// The call.
    fn into_call(self) -> Call<Self::Tensor>;

    /// What it gives, out of the outputs by name.
    fn outputs_of(outputs: &mut Outputs<Self::Tensor>) -> Result<Self::Outputs>;
}

impl<T: Send> Operator for Call<T> {
    type Tensor = T;
    type Outputs = Outputs<T>;

    fn into_call(self) -> Self {
        self
    }

    fn outputs_of(outputs: &mut Outputs<T>) -> Result<Outputs<T>> {
        Ok(Outputs { tensors: std::mem::take(&mut outputs.tensors), execution: outputs.execution.take() })
    }
}

/// Makes a type of an operator; of one output, or of several with a struct.
macro_rules! operator {
    ($name:ident, $output:literal) => {
        operator!($name, T, |outputs| outputs.take($output));
    };
    ($name:ident, $several:ident { $($output:ident),* }) => {
        operator!($name, $several<T>, |outputs| Ok($several { $($output: outputs.take(stringify!($output))?),* }));
    };
    ($name:ident, $outputs:ty, |$given:ident| $read:expr) => {
        impl<T: Send> crate::operators::Operator for $name<T> {
            type Tensor = T;
            type Outputs = $outputs;

            fn into_call(self) -> Call<T> {
                self.0
            }

            fn outputs_of($given: &mut crate::outputs::Outputs<T>) -> crate::error::Result<$outputs> {
                $read
            }
        }
    };
}
use operator;
