//! Arrays of ndarray as tensors, and tensors as arrays.

use ndarray::{Array, ArrayD, ArrayView, Dimension, IxDyn};

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::tensor::{Layout, Tensor};

impl Tensor {
    /// The elements as an array of ndarray, copied. Wants the feature `ndarray`.
    pub fn to_array<T: Element>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>()?;
        ArrayD::from_shape_vec(IxDyn(self.shape()), elements)
            .map_err(|error| Error::argument("shape", "one of ndarray's", error))
    }
}

/// Nothing is copied where the array fills its memory: a transposed one is sent with its strides.
impl<T: Element, D: Dimension> From<Array<T, D>> for Tensor {
    fn from(array: Array<T, D>) -> Self {
        let strides = array.strides().iter().map(|stride| usize::try_from(*stride).ok()).collect::<Option<Vec<_>>>();
        let strides = strides.filter(|_| array.as_slice_memory_order().is_some() && !array.is_empty());
        let Some(strides) = strides else { return copied(&array.view()) };
        let layout = Some(Layout { strides, offset: 0 }).filter(|_| !array.is_standard_layout());
        let (shape, count) = (array.shape().to_vec(), array.len());
        let (elements, offset) = array.into_raw_vec_and_offset();
        let offset = offset.unwrap_or(0);
        let filled = if elements.len() == count { elements } else { elements[offset..offset + count].to_vec() };
        made(Tensor::from_parts(T::DTYPE, shape, layout, T::into_bytes(filled)))
    }
}

/// The elements are copied.
impl<T: Element, D: Dimension> From<ArrayView<'_, T, D>> for Tensor {
    fn from(array: ArrayView<'_, T, D>) -> Self {
        copied(&array)
    }
}

/// The elements are copied.
impl<T: Element, D: Dimension> From<&Array<T, D>> for Tensor {
    fn from(array: &Array<T, D>) -> Self {
        copied(&array.view())
    }
}

fn copied<T: Element, D: Dimension>(array: &ArrayView<'_, T, D>) -> Tensor {
    made(Tensor::new(array.shape(), array.iter().copied().collect()))
}

/// An array has as many elements as its shape says.
fn made(tensor: Result<Tensor>) -> Tensor {
    tensor.unwrap_or_else(|error| unreachable!("{error}"))
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, arr2, s};

    use super::*;

    #[test]
    fn arrays_of_every_layout_keep_their_elements() {
        let array = arr2(&[[0i32, 1, 2], [3, 4, 5]]);
        let mut flipped = array.clone();
        flipped.invert_axis(Axis(1));
        let cut = array.clone().slice_move(s![1.., ..]);
        let columns = array.clone().slice_move(s![.., ..2]);
        for array in [array.clone(), array.reversed_axes(), flipped, cut, columns] {
            let elements: Vec<_> = array.iter().copied().collect();
            for tensor in [Tensor::from(&array), array.view().into(), array.clone().into()] {
                assert_eq!(tensor.shape(), array.shape());
                assert_eq!(tensor.to_vec::<i32>().unwrap(), elements);
                assert_eq!(tensor.to_array::<i32>().unwrap(), array.clone().into_dyn());
            }
        }
    }

    #[test]
    fn an_array_that_fills_its_memory_is_not_copied() {
        let array = arr2(&[[0i32, 1, 2], [3, 4, 5]]);
        let memory = array.as_ptr().cast::<u8>();
        let tensor = Tensor::from(array.reversed_axes());
        assert_eq!((tensor.bytes().as_ptr(), tensor.bytes().len()), (memory, 24));
    }
}
