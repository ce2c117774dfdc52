//! Several operators in one call.

use std::fmt;
use std::sync::Arc;

use crate::call::Call;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::halves;
use crate::operators::Operator;
use crate::program_text;
use crate::proto::{self, tensor::Data};
use crate::tensor::Tensor;

/// Several operators in one call, each of inputs of the call or results of earlier steps; and the gradients of one of its values.
///
/// [`Call::of`] makes a call of it, which goes wherever a call goes. Its text is that of `opserve program`: it can be saved, shown and run.
///
/// ```no_run
/// use opserve::operators::{Addmm, MseLoss};
/// use opserve::{Call, Program, Tensor};
///
/// # async fn example(client: opserve::Client, x: Tensor, w: Tensor, b: Tensor, t: Tensor) -> opserve::Result<()> {
/// let mut program = Program::new();
/// let h = program.step("h", Addmm::new(program.input("b"), program.input("x"), program.input("w")))?;
/// let loss = program.step("loss", MseLoss::new(h, program.input("t")))?;
/// program.output("loss", &loss)?;
/// program.gradient(&loss, ["w", "b"])?;
/// let call = Call::of(&program).input("x", x).input("w", w).input("b", b).input("t", t);
/// let outputs = client.execute(call).await?; // loss, grad_w, grad_b
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Program(Arc<proto::Program>);

impl Program {
    /// A program without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// An input of the call.
    pub fn input(&self, name: impl Into<String>) -> Value {
        Value::named(name.into())
    }

    /// Adds a step: one of the typed [`operators`](crate::operators), or a `Call<Value>`. Gives the operator's first output.
    ///
    /// The name is the step's own among steps and inputs, without a dot; errors have it.
    pub fn step<O: Operator<Tensor = Value>>(&mut self, name: impl Into<String>, operator: O) -> Result<Value> {
        let (name, call) = (name.into(), operator.into_call());
        if call.program.is_some() || !call.dtypes.is_empty() {
            let got = if call.program.is_some() { "a program" } else { "an output's dtype" };
            return Err(Error::argument(&name, "an operator with inputs and attributes", got));
        }
        let inputs = call.inputs.into_iter().map(|(name, value)| proto::Tensor { name, ..value.0 }).collect();
        let attributes = call.attributes.iter().map(|(name, value)| value.message(name)).collect();
        self.message().steps.push(proto::Step { name: name.clone(), op: call.op, inputs, attributes });
        Ok(Value::named(name))
    }

    /// Has the call give a value, by this name: an input or a result of a step.
    pub fn output(&mut self, name: impl Into<String>, value: &Value) -> Result<()> {
        let value = value.whole("outputs")?.to_owned();
        self.message().outputs.push(proto::ProgramOutput { name: name.into(), value });
        Ok(())
    }

    /// Asks for the gradients of a value of one element with respect to inputs: that of `w` is the output `grad_w`.
    pub fn gradient<N: Into<String>>(
        &mut self,
        of: &Value,
        with_respect_to: impl IntoIterator<Item = N>,
    ) -> Result<()> {
        self.gradient_from(of, "", with_respect_to)
    }

    /// The same of a value of any shape, for which the gradient that comes in is the input `seed`.
    pub fn gradient_from<N: Into<String>>(
        &mut self,
        of: &Value,
        seed: impl Into<String>,
        with_respect_to: impl IntoIterator<Item = N>,
    ) -> Result<()> {
        let of = of.whole("gradient.of")?.to_owned();
        let with_respect_to = with_respect_to.into_iter().map(Into::into).collect();
        self.message().gradient =
            Some(proto::GradientRequest { of, with_respect_to, seed: seed.into(), ..Default::default() });
        Ok(())
    }

    /// Bounds the workspace of a program whose gradients were asked for: the server computes results again where keeping
    /// them until the gradients read them takes more bytes. 0 is no bound.
    ///
    /// # Errors
    ///
    /// No gradients were asked for.
    pub fn max_workspace(&mut self, bytes: i64) -> Result<()> {
        match &mut self.message().gradient {
            Some(gradient) => gradient.max_workspace_bytes = bytes,
            None => {
                return Err(Error::argument(
                    "max_workspace",
                    "a program whose gradients were asked for",
                    "one without",
                ));
            }
        }
        Ok(())
    }

    fn message(&mut self) -> &mut proto::Program {
        Arc::make_mut(&mut self.0)
    }

    pub(crate) fn shared(&self) -> Arc<proto::Program> {
        self.0.clone()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&program_text::of(&self.0))
    }
}

/// What a program computes with, without its elements: an input, a result of a step, a view of either; or a constant, which whatever
/// converts into a [`Tensor`] is.
#[derive(Clone)]
pub struct Value(proto::Tensor);

impl Value {
    fn named(name: String) -> Self {
        Self(proto::Tensor { data: Some(Data::Value(name)), ..Default::default() })
    }

    /// Another output of the step whose first output this is.
    pub fn output(&self, name: &str) -> Result<Self> {
        let step = self.whole("output")?;
        Ok(Self::named(format!("{step}.{name}")))
    }

    /// The elements in another shape, in their order. One extent may be -1; without any it is a scalar.
    pub fn reshape(&self, shape: impl Into<Vec<i64>>) -> Result<Self> {
        let shape = shape.into();
        let Self(dense) = self.dense("reshape")?;
        Ok(Self(proto::Tensor { scalar: shape.is_empty(), shape, ..dense.clone() }))
    }

    /// A view of the elements: `[i, j, …]` is element `offset + i * strides[0] + j * strides[1] + …`. A transposed matrix, a repeated row, a
    /// slice.
    pub fn view(&self, shape: impl Into<Vec<usize>>, strides: impl Into<Vec<usize>>, offset: usize) -> Result<Self> {
        let (shape, strides) = (shape.into(), strides.into());
        if strides.len() != shape.len() {
            return Err(Error::argument("strides", format!("{} strides", shape.len()), strides.len()));
        }
        let Self(dense) = self.dense("view")?;
        if matches!(dense.data, Some(Data::Values(_))) {
            return Err(Error::argument("view", "a value of the program", self));
        }
        let wide = |numbers: Vec<usize>| numbers.into_iter().map(|number| number as i64).collect();
        let (scalar, storage_offset) = (shape.is_empty(), offset as i64);
        Ok(Self(proto::Tensor { scalar, shape: wide(shape), strides: wide(strides), storage_offset, ..dense.clone() }))
    }

    /// This, where its elements lie in their order.
    fn dense(&self, parameter: &str) -> Result<&Self> {
        let is_dense = self.0.strides.is_empty() && self.0.storage_offset == 0;
        is_dense
            .then_some(self)
            .ok_or_else(|| Error::argument(parameter, "a value whose elements lie in their order", self))
    }

    /// The name of an input or of a result of a step.
    fn whole(&self, parameter: &str) -> Result<&str> {
        match &self.0.data {
            Some(Data::Value(name)) if self.0.shape.is_empty() && !self.0.scalar => Ok(name),
            _ => Err(Error::argument(parameter, "an input or a result of a step", self)),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&program_text::of_value(&self.0))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Value({self})")
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        let values = Some(Data::Values(values_of(tensor.dtype(), &tensor.dense_bytes())));
        let shape = tensor.shape().iter().map(|extent| *extent as i64).collect();
        Self(proto::Tensor { dtype: tensor.dtype().number(), shape, data: values, ..Default::default() })
    }
}

impl From<&Tensor> for Value {
    fn from(tensor: &Tensor) -> Self {
        tensor.clone().into()
    }
}

impl<T: Element> From<T> for Value {
    fn from(number: T) -> Self {
        Tensor::from(number).into()
    }
}

impl<T: Element> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        Tensor::from(elements).into()
    }
}

fn values_of(dtype: DType, bytes: &[u8]) -> proto::TensorValues {
    fn wide<T: Element, W>(bytes: &[u8], widen: impl Fn(T) -> W) -> Vec<W> {
        T::of_bytes(bytes).iter().map(|element| widen(*element)).collect()
    }
    let floats = |floats| proto::TensorValues { floats, ..Default::default() };
    let ints = |ints| proto::TensorValues { ints, ..Default::default() };
    match dtype {
        DType::Float32 => floats(wide::<f32, _>(bytes, f64::from)),
        DType::Float64 => floats(wide::<f64, _>(bytes, |element| element)),
        DType::Float16 => floats(wide::<u16, _>(bytes, |bits| halves::of_float16(bits).into())),
        DType::BFloat16 => floats(wide::<u16, _>(bytes, |bits| halves::of_bfloat16(bits).into())),
        DType::Int8 => ints(wide::<i8, _>(bytes, i64::from)),
        DType::Int16 => ints(wide::<i16, _>(bytes, i64::from)),
        DType::Int32 => ints(wide::<i32, _>(bytes, i64::from)),
        DType::Int64 => ints(wide::<i64, _>(bytes, |element| element)),
        DType::UInt8 => ints(wide::<u8, _>(bytes, i64::from)),
        DType::UInt16 => ints(wide::<u16, _>(bytes, i64::from)),
        DType::UInt32 => ints(wide::<u32, _>(bytes, i64::from)),
        DType::UInt64 => proto::TensorValues { uints: wide::<u64, _>(bytes, |element| element), ..Default::default() },
        DType::Bool => proto::TensorValues { bools: wide::<bool, _>(bytes, |element| element), ..Default::default() },
    }
}

impl<T> Call<T> {
    /// A call of a program, as it is now.
    pub fn of(program: &Program) -> Self {
        Self { program: Some(program.shared()), ..Self::new("Program") }
    }
}
