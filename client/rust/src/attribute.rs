//! Attributes: the parameters of an operator that are no tensors.

use crate::proto::{self, attribute::Value};

/// The value of an attribute. Whatever converts into one may be given to [`Call::attribute`](crate::Call::attribute).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Attribute {
    /// An integer; also where a float is wanted.
    Int(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A list of integers.
    Ints(Vec<i64>),
    /// A list of numbers.
    Floats(Vec<f64>),
    /// A list of truths.
    Bools(Vec<bool>),
    /// The name of one of the attribute's values: `mean`.
    Name(String),
}

impl Attribute {
    pub(crate) fn message(&self, name: &str) -> proto::Attribute {
        let value = match self.clone() {
            Self::Int(value) => Value::IntValue(value),
            Self::Float(value) => Value::FloatValue(value),
            Self::Bool(value) => Value::BoolValue(value),
            Self::Ints(values) => Value::IntList(proto::Int64List { values }),
            Self::Floats(values) => Value::FloatList(proto::DoubleList { values }),
            Self::Bools(values) => Value::BoolList(proto::BoolList { values }),
            Self::Name(value) => Value::StringValue(value),
        };
        proto::Attribute { name: name.to_owned(), value: Some(value) }
    }
}

macro_rules! attribute_from {
    ($($type:ty => $kind:ident, $list:ident),*) => {$(
        impl From<$type> for Attribute {
            fn from(value: $type) -> Self {
                Self::$kind(value.into())
            }
        }

        impl From<&[$type]> for Attribute {
            fn from(values: &[$type]) -> Self {
                Self::$list(values.iter().map(|value| (*value).into()).collect())
            }
        }

        impl From<Vec<$type>> for Attribute {
            fn from(values: Vec<$type>) -> Self {
                values.as_slice().into()
            }
        }

        impl<const N: usize> From<[$type; N]> for Attribute {
            fn from(values: [$type; N]) -> Self {
                values.as_slice().into()
            }
        }
    )*};
}

attribute_from!(i32 => Int, Ints, i64 => Int, Ints, f32 => Float, Floats, f64 => Float, Floats, bool => Bool, Bools);

impl From<&str> for Attribute {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}
