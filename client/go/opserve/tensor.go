package opserve

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/grpc/codes"
)

// A Tensor is a dtype, a shape, and elements in memory: an argument that looks into a slice of the program's, or a result that
// has memory of its own. Copies of a Tensor share the elements. The zero Tensor is none: an optional input that is left out, or
// an output that there is not.
type Tensor struct {
	dtype   DType
	shape   []int
	strides []int // nil = dense row-major
	offset  int   // in elements
	data    []byte
	spec    bool // without elements
	err     *Error
}

// TensorOf is a tensor of these elements in row-major order; without a shape it has one dimension. Nothing is copied: the
// elements must not change before the call that the tensor is for has returned. A shape that does not go with the elements is
// an error of that call.
func TensorOf[E Element](elements []E, shape ...int) Tensor {
	if len(shape) == 0 {
		shape = []int{len(elements)}
	}
	t := Tensor{dtype: DTypeOf[E](), shape: slices.Clone(shape), data: bytesOf(elements)}
	count, err := countOf(shape)
	if err != nil {
		t.err = err
	} else if count != len(elements) {
		t.err = mistake("SHAPE_MISMATCH", fmt.Sprintf("%d elements for the shape %v", count, shape), fmt.Sprint(len(elements)))
	}
	return t
}

// Scalar is a tensor of one element, without dimensions.
func Scalar[E Element](value E) Tensor {
	return Tensor{dtype: DTypeOf[E](), shape: []int{}, data: bytesOf([]E{value})}
}

// View is a tensor whose neighbours along each dimension are `strides` elements apart, its first element being
// elements[offset]: a transposed matrix, a column, a broadcast row. All that lies between is sent, too.
func View[E Element](elements []E, shape, strides []int, offset int) Tensor {
	t := Tensor{dtype: DTypeOf[E](), shape: slices.Clone(shape), strides: slices.Clone(strides), offset: offset, data: bytesOf(elements)}
	count, err := countOf(shape)
	switch {
	case err != nil:
		t.err = err
	case len(strides) != len(shape):
		t.err = mistake("SHAPE_MISMATCH", fmt.Sprintf("%d strides for the shape %v", len(shape), shape), fmt.Sprint(len(strides)))
	case offset < 0 || slices.ContainsFunc(strides, func(stride int) bool { return stride < 0 }):
		t.err = mistake("OUT_OF_RANGE", "strides and an offset >= 0", fmt.Sprintf("strides %v, offset %d", strides, offset))
	case count > 0 && !reaches(shape, strides, offset, len(elements)):
		t.err = mistake("OUT_OF_RANGE", fmt.Sprintf("a view inside of %d elements", len(elements)),
			fmt.Sprintf("shape %v, strides %v, offset %d", shape, strides, offset))
	}
	return t
}

// reaches tells whether every element of a view is one of `count`.
func reaches(shape, strides []int, offset, count int) bool {
	left := count - 1 - offset
	for i, extent := range shape {
		if left < 0 || (extent > 1 && strides[i] > left/(extent-1)) {
			return false
		}
		left -= (extent - 1) * strides[i]
	}
	return left >= 0
}

// Spec is a tensor without elements, for Plan.
func Spec(dtype DType, shape ...int) Tensor {
	t := Tensor{dtype: dtype, shape: append([]int{}, shape...), spec: true}
	_, t.err = countOf(shape)
	if dtype.Size() == 0 {
		t.err = mistake("DTYPE_UNSUPPORTED", "a dtype", dtype.String())
	}
	return t
}

// DType is the type of the elements.
func (t Tensor) DType() DType { return t.dtype }

// Shape is the extent of every dimension, outermost first; a scalar has none. It is the caller's to keep.
func (t Tensor) Shape() []int { return slices.Clone(t.shape) }

// Len is the number of elements.
func (t Tensor) Len() int {
	count, _ := countOf(t.shape)
	if t.dtype == 0 {
		return 0
	}
	return count
}

// Bytes is the memory of the elements, in the byte order of the machine; of a View all that it looks into.
func (t Tensor) Bytes() []byte { return t.data }

func (t Tensor) String() string {
	text := fmt.Sprintf("%v%v", t.dtype, t.shape)
	if t.strides != nil {
		text += fmt.Sprintf(" of strides %v, offset %d", t.strides, t.offset)
	}
	return text
}

func (t Tensor) isNone() bool { return t.dtype == 0 && t.err == nil }

// Values is the elements of a dense tensor, such as each output of a call: Values[float32](result.Outputs["out"]). They are not
// copied. It is an error to ask for another type than the tensor's dtype has.
func Values[E Element](t Tensor) ([]E, error) {
	want := DTypeOf[E]()
	switch {
	case t.err != nil:
		return nil, t.err
	case t.dtype == 0:
		return nil, mistake("MISSING_PARAMETER", "a tensor of "+want.String(), "none: the call has no output of that name")
	case t.dtype != want:
		return nil, mistake("DTYPE_UNSUPPORTED", "a tensor of "+want.String(), "one of "+t.dtype.String())
	case t.spec || t.strides != nil:
		return nil, mistake("INVALID_PARAMETER", "a dense tensor with elements", t.String())
	}
	return elementsOf[E](t.data), nil
}

// countOf is the number of elements of a shape.
func countOf(shape []int) (int, *Error) {
	count, empty := 1, false
	for _, extent := range shape {
		if extent < 0 {
			return 0, mistake("OUT_OF_RANGE", "extents >= 0", fmt.Sprint(shape))
		}
		if empty = empty || extent == 0; empty {
			continue
		}
		if count > math.MaxInt/8/extent {
			return 0, mistake("OUT_OF_RANGE", fmt.Sprintf("at most %d elements", math.MaxInt/8), fmt.Sprint(shape))
		}
		count *= extent
	}
	if empty {
		count = 0
	}
	return count, nil
}

// mistake is an error of an argument that is not sent. The caller's name for the argument comes later (Error.of).
func mistake(reason, want, got string) *Error {
	code := 161002
	if reason == "MISSING_PARAMETER" {
		code = 161001
	}
	return &Error{Code: codes.InvalidArgument, Reason: reason, AclnnCode: code, Want: want, Got: got}
}
