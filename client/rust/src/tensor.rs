//! Tensors of the program: what is sent, and what comes back.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};

/// A dtype and a shape: a tensor without its elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The element type.
    pub dtype: DType,
    /// The extents, outermost first; none is a scalar.
    pub shape: Vec<usize>,
}

impl Spec {
    /// A tensor of this dtype and shape.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// The number of elements; an error where it is beyond what memory could hold.
    pub fn len(&self) -> Result<usize> {
        self.size_bytes().map(|bytes| bytes / self.dtype.size_bytes())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The bytes of the elements.
    pub fn size_bytes(&self) -> Result<usize> {
        if self.is_empty() {
            return Ok(0);
        }
        let size = self.shape.iter().try_fold(self.dtype.size_bytes(), |bytes, extent| bytes.checked_mul(*extent));
        size.filter(|bytes| i64::try_from(*bytes).is_ok())
            .ok_or_else(|| Error::argument("shape", "fewer than 2^63 bytes", format!("{self}")))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{:?}", self.dtype, self.shape)
    }
}

/// Distances, in elements, of a tensor that is not dense.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub(crate) strides: Vec<usize>,
    pub(crate) offset: usize,
}

/// Elements with a dtype and a shape. They are never written to: a clone shares them.
#[derive(Clone)]
pub struct Tensor {
    spec: Spec,
    layout: Option<Layout>,
    bytes: Bytes,
}

impl Tensor {
    /// A dense tensor. The vector's memory is what is sent: nothing is copied.
    ///
    /// ```
    /// use opserve::{DType, Tensor};
    ///
    /// let x = Tensor::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!((x.dtype(), x.shape()), (DType::Float32, &[2, 2][..]));
    ///
    /// let error = Tensor::new([2, 3], vec![0i64; 4]).unwrap_err();
    /// assert_eq!(error.to_string(), "elements: want 6 elements for shape [2, 3], got 4");
    /// # Ok::<(), opserve::Error>(())
    /// ```
    pub fn new<T: Element>(shape: impl Into<Vec<usize>>, elements: Vec<T>) -> Result<Self> {
        let spec = Spec::new(T::DTYPE, shape);
        let want = spec.len()?;
        if elements.len() != want {
            let wanted = format!("{want} elements for shape {:?}", spec.shape);
            return Err(Error::argument("elements", wanted, elements.len()));
        }
        Ok(Self { spec, layout: None, bytes: T::into_bytes(elements) })
    }

    /// A dense tensor, of a copy of the elements.
    pub fn from_slice<T: Element>(shape: impl Into<Vec<usize>>, elements: &[T]) -> Result<Self> {
        Self::new(shape, elements.to_vec())
    }

    /// A dense tensor that has one value everywhere. Its element is sent once.
    pub fn full<T: Element>(shape: impl Into<Vec<usize>>, value: T) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() || shape.contains(&0) {
            let count = Spec::new(T::DTYPE, shape.clone()).len()?;
            return Self::new(shape, vec![value; count]);
        }
        let strides = vec![0; shape.len()];
        Self::from_parts(T::DTYPE, shape, Some(Layout { strides, offset: 0 }), T::into_bytes(vec![value]))
    }

    /// A tensor without dimensions.
    pub fn scalar<T: Element>(value: T) -> Self {
        Self { spec: Spec::new(T::DTYPE, []), layout: None, bytes: T::into_bytes(vec![value]) }
    }

    /// A dense tensor of bytes as they are sent: little-endian, elements side by side.
    pub fn from_bytes(dtype: DType, shape: impl Into<Vec<usize>>, bytes: impl Into<Bytes>) -> Result<Self> {
        Self::from_parts(dtype, shape.into(), None, bytes.into())
    }

    /// A view: element `[i, j, …]` is the storage's element `offset + i * strides[0] + j * strides[1] + …`. Distances are in elements,
    /// 0 repeats an element. All of the storage is sent.
    pub fn strided<T: Element>(
        shape: impl Into<Vec<usize>>,
        strides: impl Into<Vec<usize>>,
        offset: usize,
        storage: Vec<T>,
    ) -> Result<Self> {
        let layout = Layout { strides: strides.into(), offset };
        Self::from_parts(T::DTYPE, shape.into(), Some(layout), T::into_bytes(storage))
    }

    pub(crate) fn from_parts(dtype: DType, shape: Vec<usize>, layout: Option<Layout>, bytes: Bytes) -> Result<Self> {
        let spec = Spec { dtype, shape };
        let size = spec.size_bytes()?;
        let Some(layout) = layout else {
            if bytes.len() != size {
                return Err(Error::argument("bytes", format!("{size} bytes for {spec}"), bytes.len()));
            }
            return Ok(Self { spec, layout: None, bytes });
        };
        check_inside(&spec, &layout, bytes.len())?;
        Ok(Self { spec, layout: Some(layout), bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.spec.shape
    }

    /// Dtype and shape.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.spec.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.spec.is_empty()
    }

    /// The bytes that are sent, or came: of a dense tensor its elements, of a view its storage.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// The elements in row-major order. Those of a dense tensor whose bytes are aligned are not copied.
    pub fn elements<T: Element>(&self) -> Result<Cow<'_, [T]>> {
        if T::DTYPE != self.dtype() {
            return Err(Error::argument("elements", format!("elements of {}", self.dtype()), T::DTYPE));
        }
        let storage = T::of_bytes(&self.bytes);
        Ok(match &self.layout {
            None => storage,
            Some(layout) => Cow::Owned(gathered(&storage, self.shape(), layout)),
        })
    }

    /// A copy of the elements in row-major order.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.elements().map(Cow::into_owned)
    }

    /// The same elements side by side.
    pub(crate) fn dense_bytes(&self) -> Bytes {
        let Some(layout) = &self.layout else { return self.bytes.clone() };
        match self.dtype().size_bytes() {
            1 => u8::into_bytes(gathered(&u8::of_bytes(&self.bytes), self.shape(), layout)),
            2 => u16::into_bytes(gathered(&u16::of_bytes(&self.bytes), self.shape(), layout)),
            4 => u32::into_bytes(gathered(&u32::of_bytes(&self.bytes), self.shape(), layout)),
            _ => u64::into_bytes(gathered(&u64::of_bytes(&self.bytes), self.shape(), layout)),
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tensor({})", self.spec)
    }
}

impl<T: Element> From<T> for Tensor {
    fn from(value: T) -> Self {
        Self::scalar(value)
    }
}

impl<T: Element> From<Vec<T>> for Tensor {
    fn from(elements: Vec<T>) -> Self {
        let spec = Spec::new(T::DTYPE, [elements.len()]);
        Self { spec, layout: None, bytes: T::into_bytes(elements) }
    }
}

impl From<&Tensor> for Tensor {
    fn from(tensor: &Tensor) -> Self {
        tensor.clone()
    }
}

/// Refuses a view of which not every element lies in its storage.
fn check_inside(spec: &Spec, layout: &Layout, storage_bytes: usize) -> Result<()> {
    if layout.strides.len() != spec.shape.len() {
        return Err(Error::argument("strides", format!("{} strides", spec.shape.len()), layout.strides.len()));
    }
    let size = spec.dtype.size_bytes();
    if !storage_bytes.is_multiple_of(size) {
        return Err(Error::argument("storage", format!("a multiple of {size} bytes"), storage_bytes));
    }
    if spec.is_empty() {
        return Ok(());
    }
    let mut pairs = spec.shape.iter().zip(&layout.strides);
    let last = pairs.try_fold(layout.offset, |at, (extent, stride)| at.checked_add((extent - 1).checked_mul(*stride)?));
    let count = storage_bytes / size;
    if last.is_none_or(|last| last >= count) {
        let wanted = format!("a view inside its storage of {count} elements");
        return Err(Error::argument("strides", wanted, format!("{:?} from {} on", layout.strides, layout.offset)));
    }
    Ok(())
}

/// The elements of a view in row-major order.
fn gathered<T: Copy>(storage: &[T], shape: &[usize], layout: &Layout) -> Vec<T> {
    let count = shape.iter().product();
    let mut elements = Vec::with_capacity(count);
    let mut index = vec![0; shape.len()];
    let mut at = layout.offset;
    while elements.len() < count {
        elements.push(storage[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += layout.strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= layout.strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_gathered_in_row_major_order() {
        let transposed = Tensor::strided([3, 2], [1, 3], 0, (0..6).collect::<Vec<i32>>()).unwrap();
        assert_eq!(transposed.to_vec::<i32>().unwrap(), [0, 3, 1, 4, 2, 5]);
        let behind = Tensor::strided([2], [0], 1, vec![1.0f64, 2.0]).unwrap();
        assert_eq!(behind.to_vec::<f64>().unwrap(), [2.0, 2.0]);
        let bytes = transposed.dense_bytes();
        assert_eq!(*i32::of_bytes(&bytes), [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn a_view_beyond_its_storage_is_refused() {
        for (strides, offset) in [([1, 3], 1), ([2, 3], 0), ([usize::MAX, 3], 0), ([1, 3], usize::MAX)] {
            let error = Tensor::strided([3, 2], strides, offset, vec![0u8; 6]).unwrap_err();
            assert_eq!((error.parameter(), error.want()), ("strides", "a view inside its storage of 6 elements"));
        }
        assert_eq!(Tensor::strided([3], [1, 1], 0, vec![0u8; 6]).unwrap_err().got(), "2");
    }

    #[test]
    fn sizes_that_no_memory_has_are_refused() {
        let spec = Spec::new(DType::Float64, [usize::MAX, 2]);
        assert_eq!(spec.size_bytes().unwrap_err().parameter(), "shape");
        assert_eq!(Spec::new(DType::Float64, [usize::MAX, 0]).size_bytes().unwrap(), 0);
        assert!(Tensor::from_bytes(DType::Float32, [2], vec![0; 7]).is_err());
    }

    #[test]
    fn full_holds_one_element() {
        let ones = Tensor::full([4, 2], 1.0f32).unwrap();
        assert_eq!((ones.bytes().len(), ones.len()), (4, 8));
        assert_eq!(ones.to_vec::<f32>().unwrap(), [1.0; 8]);
        assert!(Tensor::full([0, 3], 1.0f32).unwrap().is_empty());
        assert_eq!(Tensor::full([], 2u8).unwrap().to_vec::<u8>().unwrap(), [2]);
    }

    #[test]
    fn elements_of_another_dtype_are_refused() {
        let error = Tensor::scalar(1.0f32).to_vec::<f64>().unwrap_err();
        assert_eq!(error.to_string(), "elements: want elements of float32, got float64");
    }
}
