//! Values ↔ messages, with the checks of what a server answers.

use bytes::Bytes;

use crate::call::Call;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::outputs::Outputs;
use crate::proto::{self, tensor::Data};
use crate::tensor::{Spec, Tensor};

/// What a call's message has besides its tensors' bytes at most, with room to spare: what is larger goes through a session.
pub(crate) const HEADER_BYTES: usize = 1 << 16;

/// The Call of a message, whose tensors' bytes become entries of `raw`.
pub(crate) fn call_message(call: &Call, raw: &mut Vec<Bytes>) -> Result<proto::Call> {
    header(call, |tensor| {
        let mut message = described(tensor.spec())?;
        if let Some(layout) = tensor.layout() {
            message.strides = layout.strides.iter().map(|stride| *stride as i64).collect();
            message.storage_offset = layout.offset as i64;
        }
        let index = u32::try_from(raw.len()).map_err(|_| Error::argument("inputs", "fewer tensors", raw.len()))?;
        message.data = Some(Data::RawIndex(index));
        raw.push(tensor.bytes().clone());
        Ok(message)
    })
}

/// The Call of a message for phase one.
pub(crate) fn plan_message(call: &Call<Spec>) -> Result<proto::Call> {
    header(call, described)
}

/// The Call of a message; `describe` says where its tensors' elements are.
pub(crate) fn header<T>(call: &Call<T>, mut describe: impl FnMut(&T) -> Result<proto::Tensor>) -> Result<proto::Call> {
    let mut named = |tensors: &[(String, T)]| -> Result<Vec<proto::Tensor>> {
        let described =
            tensors.iter().map(|(name, tensor)| Ok(proto::Tensor { name: name.clone(), ..describe(tensor)? }));
        described.collect()
    };
    let inputs = named(&call.inputs)?;
    let mut outputs = named(&call.outputs)?;
    for (name, dtype) in &call.dtypes {
        match outputs.iter_mut().find(|output| output.name == *name) {
            Some(output) => output.dtype = dtype.number(),
            None => outputs.push(proto::Tensor { name: name.clone(), dtype: dtype.number(), ..Default::default() }),
        }
    }
    let program = call.program.as_deref().cloned();
    Ok(proto::Call {
        op: if program.is_some() { String::new() } else { call.op.clone() },
        program,
        inputs,
        attributes: call.attributes.iter().map(|(name, value)| value.message(name)).collect(),
        outputs,
        device: call.device.clone(),
        report_execution: call.report,
    })
}

/// A tensor's dtype and shape.
pub(crate) fn described(spec: &Spec) -> Result<proto::Tensor> {
    let extent =
        |extent: &usize| i64::try_from(*extent).map_err(|_| Error::argument("shape", "extents below 2^63", spec));
    let shape = spec.shape.iter().map(extent).collect::<Result<_>>()?;
    Ok(proto::Tensor { dtype: spec.dtype.number(), shape, ..Default::default() })
}

/// An output's name, dtype and shape.
pub(crate) fn spec_of(message: proto::Tensor) -> Result<(String, Spec)> {
    let bad = |what: String| Error::bad_answer(format!("output {} has {what}", message.name));
    let dtype = DType::of_number(message.dtype).ok_or_else(|| bad(format!("the dtype {}", message.dtype)))?;
    let extents = message.shape.iter().map(|extent| usize::try_from(*extent).ok()).collect::<Option<Vec<_>>>();
    let spec = extents.map(|shape| Spec { dtype, shape }).filter(|spec| spec.size_bytes().is_ok());
    let spec = spec.ok_or_else(|| bad(format!("the shape {:?}", message.shape)))?;
    Ok((message.name, spec))
}

/// A size or time of an answer.
pub(crate) fn size_of(what: &str, number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Error::bad_answer(format!("{what} is {number}")))
}

/// The outputs of an ExecuteResponse or of a BatchResult; they look into the entries of `raw`.
pub(crate) fn outputs_of(
    messages: Vec<proto::Tensor>,
    raw: &[Bytes],
    execution: Option<proto::Execution>,
) -> Result<Outputs> {
    let tensors = messages.into_iter().map(|message| output_of(message, raw)).collect::<Result<_>>()?;
    Ok(Outputs { tensors, execution: execution.map(Into::into) })
}

fn output_of(message: proto::Tensor, raw: &[Bytes]) -> Result<(String, Tensor)> {
    let bytes = match message.data {
        Some(Data::RawIndex(index)) => raw.get(index as usize).cloned(),
        None => Some(Bytes::new()),
        Some(_) => None,
    };
    let bytes = bytes.ok_or_else(|| Error::bad_answer(format!("output {} has no bytes", message.name)))?;
    let (name, spec) = spec_of(message)?;
    let came = bytes.len();
    let tensor = Tensor::from_bytes(spec.dtype, spec.shape.clone(), bytes);
    let tensor = tensor.map_err(|_| Error::bad_answer(format!("output {name} is {spec} and has {came} bytes")))?;
    Ok((name, tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(dtype: i32, shape: &[i64], data: Option<Data>) -> proto::Tensor {
        proto::Tensor { name: "out".to_owned(), dtype, shape: shape.to_vec(), data, ..Default::default() }
    }

    #[test]
    fn outputs_that_make_no_sense_are_refused() {
        let raw = [Bytes::from_static(&[0; 8])];
        let first = || Some(Data::RawIndex(0));
        for (message, what) in [
            (output(99, &[2], first()), "the dtype 99"),
            (output(1, &[-2], first()), "the shape [-2]"),
            (output(1, &[i64::MAX, 4], first()), "the shape"),
            (output(1, &[3], first()), "out is float32[3] and has 8 bytes"),
            (output(1, &[2], None), "out is float32[2] and has 0 bytes"),
            (output(1, &[2], Some(Data::RawIndex(1))), "has no bytes"),
            (output(1, &[2], Some(Data::Chunked(proto::Chunked {}))), "has no bytes"),
        ] {
            let error = outputs_of(vec![message], &raw, None).unwrap_err();
            assert!(error.message().contains(what), "{error}");
        }
        let outputs = outputs_of(vec![output(1, &[2], first()), output(1, &[0], None)], &raw, None).unwrap();
        assert_eq!(outputs["out"].shape(), [2]);
    }
}
