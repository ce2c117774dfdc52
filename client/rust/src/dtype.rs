//! Element types.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::proto::DataType;

/// The element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of a binary32.
    BFloat16,
    /// IEEE 754 binary64.
    Float64,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 8 bits.
    UInt8,
    /// Unsigned, 16 bits.
    UInt16,
    /// Unsigned, 32 bits.
    UInt32,
    /// Unsigned, 64 bits.
    UInt64,
    /// One byte, 0 or 1.
    Bool,
}

const TABLE: [(DType, DataType, usize, &str); 13] = [
    (DType::Float32, DataType::Float32, 4, "float32"),
    (DType::Float16, DataType::Float16, 2, "float16"),
    (DType::BFloat16, DataType::Bfloat16, 2, "bfloat16"),
    (DType::Float64, DataType::Float64, 8, "float64"),
    (DType::Int8, DataType::Int8, 1, "int8"),
    (DType::Int16, DataType::Int16, 2, "int16"),
    (DType::Int32, DataType::Int32, 4, "int32"),
    (DType::Int64, DataType::Int64, 8, "int64"),
    (DType::UInt8, DataType::Uint8, 1, "uint8"),
    (DType::UInt16, DataType::Uint16, 2, "uint16"),
    (DType::UInt32, DataType::Uint32, 4, "uint32"),
    (DType::UInt64, DataType::Uint64, 8, "uint64"),
    (DType::Bool, DataType::Bool, 1, "bool"),
];

impl DType {
    /// Bytes of an element.
    pub fn size_bytes(self) -> usize {
        TABLE[self as usize].2
    }

    /// Its name: `float32`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].3
    }

    /// Its number in messages.
    pub(crate) fn number(self) -> i32 {
        TABLE[self as usize].1 as i32
    }

    /// The dtype of a number in a message.
    pub(crate) fn of_number(number: i32) -> Option<Self> {
        TABLE.iter().find(|row| row.1 as i32 == number).map(|row| row.0)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that elements of tensors may have: the numbers, `bool`, and with the feature `half` its `f16` and `bf16`.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype of such elements.
    const DTYPE: DType;

    /// The elements' bytes as they are sent; where the machine is little-endian they are the vector's own.
    #[doc(hidden)]
    fn into_bytes(elements: Vec<Self>) -> Bytes;

    /// The elements of bytes that came: the bytes themselves where they are aligned and the machine is little-endian.
    #[doc(hidden)]
    fn of_bytes(bytes: &[u8]) -> Cow<'_, [Self]>;
}

/// A vector whose memory is given to a message.
struct Owned<T>(Vec<T>);

impl<T: bytemuck::NoUninit> AsRef<[u8]> for Owned<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

macro_rules! number {
    ($($type:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$dtype;

            fn into_bytes(elements: Vec<Self>) -> Bytes {
                if cfg!(target_endian = "little") {
                    return Bytes::from_owner(Owned(elements));
                }
                elements.iter().flat_map(|element| element.to_le_bytes()).collect()
            }

            fn of_bytes(bytes: &[u8]) -> Cow<'_, [Self]> {
                if cfg!(target_endian = "little")
                    && let Ok(elements) = bytemuck::try_cast_slice(bytes)
                {
                    return Cow::Borrowed(elements);
                }
                let (elements, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                elements.iter().map(|element| Self::from_le_bytes(*element)).collect()
            }
        }
    )*};
}

number!(f32 => Float32, f64 => Float64, i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, u8 => UInt8, u16 => UInt16,
        u32 => UInt32, u64 => UInt64);
#[cfg(feature = "half")]
number!(half::f16 => Float16, half::bf16 => BFloat16);

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn into_bytes(elements: Vec<Self>) -> Bytes {
        Bytes::from_owner(Owned(elements))
    }

    fn of_bytes(bytes: &[u8]) -> Cow<'_, [Self]> {
        bytes.iter().map(|byte| *byte != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index);
            assert_eq!(DType::of_number(row.0.number()), Some(row.0));
        }
        assert_eq!(DType::of_number(0), None);
        assert_eq!(DType::of_number(14), None);
    }

    #[test]
    fn elements_of_bytes_that_are_not_aligned_are_copied() {
        let bytes = f32::into_bytes(vec![0.0, 1.0, -2.5]);
        for start in 0..4 {
            let mut shifted = vec![0; start];
            shifted.extend_from_slice(&bytes);
            assert_eq!(*f32::of_bytes(&shifted[start..]), [0.0, 1.0, -2.5]);
        }
    }

    #[test]
    fn any_byte_that_is_not_0_is_true() {
        assert_eq!(*bool::of_bytes(&[0, 1, 2]), [false, true, true]);
    }

    #[cfg(feature = "half")]
    #[test]
    fn half_types_are_two_bytes() {
        let bytes = half::bf16::into_bytes(vec![half::bf16::from_f32(1.0)]);
        assert_eq!(bytes[..], [0x80, 0x3F]);
        assert_eq!(half::f16::into_bytes(vec![half::f16::from_f32(1.0)])[..], [0x00, 0x3C]);
    }
}
