//! Programs in the text form of docs/programs.md, to the character as `opserve program show` prints it.

use std::fmt::LowerExp;
use std::str::FromStr;

use crate::dtype::DType;
use crate::halves;
use crate::proto::{self, attribute, tensor::Data};

/// Digits that tell every binary32 from its neighbours.
const ENOUGH_DIGITS: usize = 9;

/// A step a line, the gradient that it asks for, its outputs.
pub(crate) fn of(program: &proto::Program) -> String {
    let mut lines: Vec<_> = program.steps.iter().map(of_step).collect();
    if let Some(asked) = &program.gradient {
        let seed = if asked.seed.is_empty() { String::new() } else { format!(" seed {}", asked.seed) };
        let bound = match asked.max_workspace_bytes {
            0 => String::new(),
            bytes => format!(" within {bytes}"),
        };
        lines.push(format!("gradient {}: {}{seed}{bound}", asked.of, asked.with_respect_to.join(", ")));
    }
    let outputs: Vec<_> = program.outputs.iter().map(|output| format!("{}={}", output.name, output.value)).collect();
    lines.push(format!("return {}", outputs.join(", ")));
    // Names that a server tells break no line, and move no terminal's cursor.
    let printable = |line: String| line.replace(char::is_control, "?") + "\n";
    lines.into_iter().map(printable).collect()
}

fn of_step(step: &proto::Step) -> String {
    let inputs = step.inputs.iter().map(|input| format!("{}={}", input.name, of_value(input)));
    let attributes = step.attributes.iter().map(|each| format!("{}={}", each.name, of_attribute(each)));
    format!("{} = {}({})", step.name, step.op, inputs.chain(attributes).collect::<Vec<_>>().join(", "))
}

/// An input of a step: a value as it is, a view of one, or a constant.
pub(crate) fn of_value(tensor: &proto::Tensor) -> String {
    let is_view = !tensor.shape.is_empty() || tensor.scalar;
    let shape = list(&tensor.shape, i64::to_string);
    let mut text = match &tensor.data {
        Some(Data::Values(values)) => {
            let dtype = DType::of_number(tensor.dtype);
            format!("{}{shape}{{{}}}", dtype.map_or("?", short_name), elements(dtype, values).join(","))
        }
        Some(Data::Value(name)) if is_view => format!("{name}{shape}"),
        Some(Data::Value(name)) => name.clone(),
        _ => String::new(),
    };
    let is_value = matches!(tensor.data, Some(Data::Value(_)));
    if !tensor.strides.is_empty() || (is_value && is_view && tensor.storage_offset != 0) {
        let strides = list(&tensor.strides, i64::to_string);
        text += &format!(".strides({})", &strides[1..strides.len() - 1]);
    }
    if tensor.storage_offset != 0 {
        text += &format!(".offset({})", tensor.storage_offset);
    }
    text
}

fn short_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Float32 => "f32",
        DType::Float16 => "f16",
        DType::BFloat16 => "bf16",
        DType::Float64 => "f64",
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::UInt8 => "u8",
        DType::UInt16 => "u16",
        DType::UInt32 => "u32",
        DType::UInt64 => "u64",
        DType::Bool => "b8",
    }
}

fn of_attribute(attribute: &proto::Attribute) -> String {
    use attribute::Value;
    match &attribute.value {
        Some(Value::IntValue(value)) => value.to_string(),
        Some(Value::FloatValue(value)) => of_double(value),
        Some(Value::BoolValue(value)) => value.to_string(),
        Some(Value::StringValue(value)) => value.clone(),
        Some(Value::IntList(values)) => list(&values.values, i64::to_string),
        Some(Value::BoolList(values)) => list(&values.values, bool::to_string),
        Some(Value::FloatList(values)) => list(&values.values, of_double),
        None => String::new(),
    }
}

fn list<T>(values: &[T], text: impl Fn(&T) -> String) -> String {
    format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(","))
}

fn elements(dtype: Option<DType>, values: &proto::TensorValues) -> Vec<String> {
    let number = |value: f64, exact: String| match dtype {
        Some(dtype @ (DType::Float32 | DType::Float16 | DType::BFloat16 | DType::Float64)) => of_float(value, dtype),
        Some(DType::Bool) => (value != 0.0).to_string(),
        _ => exact,
    };
    let floats = values.floats.iter().map(|value| number(*value, of_double(value)));
    let ints = values.ints.iter().map(|value| number(*value as f64, value.to_string()));
    let uints = values.uints.iter().map(|value| number(*value as f64, value.to_string()));
    floats.chain(ints).chain(uints).chain(values.bools.iter().map(bool::to_string)).collect()
}

fn of_double(value: &f64) -> String {
    of_float(*value, DType::Float64)
}

/// The shortest text that is read as the same number of the dtype.
fn of_float(value: f64, dtype: DType) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    match dtype {
        DType::Float16 => of_half(value, halves::float16),
        DType::BFloat16 => of_half(value, halves::bfloat16),
        DType::Float32 if (value as f32).is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        DType::Float32 => shorter((value as f32).into(), &nearest(value as f32)),
        _ => shorter(value, &nearest(value)),
    }
}

/// As few digits as are read as the same number, in Rust's notation; the even ones where it lies halfway between two of as many.
fn nearest<F: Copy + PartialEq + LowerExp + FromStr>(value: F) -> String {
    let shortest = format!("{value:e}");
    let even = format!("{value:.*e}", digits_of(&shortest).saturating_sub(1));
    if even.parse().is_ok_and(|read: F| read == value) { even } else { shortest }
}

fn digits_of(text: &str) -> usize {
    text.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
}

/// The shorter one of both notations; all digits of a large number, where they are no longer.
fn shorter(value: f64, text: &str) -> String {
    let (scientific, plain) = (scientific(text), plain(value, text));
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// With as many digits behind the point as Rust's notation has.
fn plain(value: f64, text: &str) -> String {
    let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0i64);
    let behind_point = usize::try_from(digits_of(text) as i64 - 1 - exponent).unwrap_or(0);
    format!("{value:.behind_point$}")
}

/// Rust's exponent, `1e5`, as C writes it: `1e+05`.
fn scientific(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |exponent| ("-", exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// With as few digits as `rounded` reads as the same number, written as C's `%g` does.
fn of_half(value: f64, rounded: fn(f32) -> f32) -> String {
    let half = rounded(value as f32);
    if half.is_infinite() {
        return if half > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let is_same = |text: &String| text.parse().is_ok_and(|read: f32| rounded(read) == half);
    let mut texts = (0..ENOUGH_DIGITS).map(|behind_point| format!("{half:.behind_point$e}"));
    let text = texts.find(is_same).unwrap_or_else(|| format!("{half:e}"));
    let exponent: i64 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= digits_of(&text) as i64 { scientific(&text) } else { plain(half.into(), &text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_tells_moves_no_cursor() {
        let values = proto::TensorValues { floats: vec![1.5], ..Default::default() };
        let input = proto::Tensor {
            name: "self".to_owned(),
            dtype: 99,
            data: Some(Data::Values(values)),
            ..Default::default()
        };
        let step = proto::Step { name: "a\x1b[2J\n".to_owned(), inputs: vec![input], ..Default::default() };
        let program = proto::Program { steps: vec![step, proto::Step::default()], ..Default::default() };
        assert_eq!(of(&program), "a?[2J? = (self=?[]{1.5})\n = ()\nreturn \n");
    }
}
