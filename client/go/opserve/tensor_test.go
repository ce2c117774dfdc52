package opserve

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"
)

func TestElementsAreNotCopied(t *testing.T) {
	elements := []float32{1, 2, 3, 4}
	tensor := TensorOf(elements, 2, 2)
	elements[3] = 9
	values, err := Values[float32](tensor)
	if err != nil || &values[0] != &elements[0] || values[3] != 9 {
		t.Errorf("got %v, %v", values, err)
	}
	if tensor.String() != "f32[2 2]" || tensor.Len() != 4 || len(tensor.Bytes()) != 16 {
		t.Errorf("got %v of %d elements in %d bytes", tensor, tensor.Len(), len(tensor.Bytes()))
	}
}

func checkElements[E Element](t *testing.T, dtype DType, elements ...E) {
	t.Helper()
	tensor := TensorOf(elements)
	values, err := Values[E](tensor)
	if err != nil || !slices.Equal(values, elements) || tensor.DType() != dtype || DTypeOf[E]() != dtype {
		t.Errorf("%v: got %v of %v, %v", dtype, values, tensor.DType(), err)
	}
	if size := int(unsafe.Sizeof(elements[0])); dtype.Size() != size {
		t.Errorf("%v has the size %d, want %d", dtype, dtype.Size(), size)
	}
}

func TestDTypes(t *testing.T) {
	checkElements[float32](t, F32, 1, -2)
	checkElements[float64](t, F64, 1, -2)
	checkElements[Float16](t, F16, 0x3C00)
	checkElements[BFloat16](t, BF16, 0x3F80)
	checkElements[int8](t, I8, -1)
	checkElements[int16](t, I16, -1)
	checkElements[int32](t, I32, -1)
	checkElements[int64](t, I64, math.MinInt64)
	checkElements[uint8](t, U8, 255)
	checkElements[uint16](t, U16, 1)
	checkElements[uint32](t, U32, 1)
	checkElements[uint64](t, U64, math.MaxUint64)
	checkElements(t, Bool, true, false)
	if len(dtypes) != 13 || DType(99).String() != "dtype 99" {
		t.Errorf("%d dtypes, %v", len(dtypes), DType(99))
	}
}

func TestMistakesOfTensors(t *testing.T) {
	four := []float32{1, 2, 3, 4}
	for want, tensor := range map[string]Tensor{
		"want 6 elements for the shape [2 3], got 4":                                 TensorOf(four, 2, 3),
		"want extents >= 0, got [-4 -1]":                                             TensorOf(four, -4, -1),
		"want at most 1152921504606846975 elements, got [4294967296 4294967296]":     TensorOf(four, 1<<32, 1<<32),
		"want 1 strides for the shape [2], got 2":                                    View(four, []int{2}, []int{1, 1}, 0),
		"want strides and an offset >= 0, got strides [-1], offset 3":                View(four, []int{2}, []int{-1}, 3),
		"want a view inside of 4 elements, got shape [2 2], strides [2 1], offset 1": View(four, []int{2, 2}, []int{2, 1}, 1),
		"want a view inside of 4 elements, got shape [9 9], strides [4611686018427387904 4611686018427387904], offset 0": View(
			four, []int{9, 9}, []int{1 << 62, 1 << 62}, 0),
		"want a dtype, got dtype 0": Spec(0, 2),
	} {
		var failed *Error
		if _, err := Values[float32](tensor); !errors.As(err, &failed) || failed.message() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, tensor := range []Tensor{View(four, []int{2, 2}, []int{1, 2}, 0), View(four, []int{2, 3}, []int{1, 0}, 2),
		View(four, []int{0}, []int{7}, 9), View(four, []int{}, []int{}, 3)} {
		if tensor.err != nil {
			t.Errorf("%v: %v", tensor, tensor.err)
		}
	}
}

func TestMistakesOfValues(t *testing.T) {
	for want, tensor := range map[string]Tensor{
		"want a tensor of f32, got none: the call has no output of that name":    {},
		"want a tensor of f32, got one of f16":                                   TensorOf([]Float16{1}),
		"want a dense tensor with elements, got f32[2]":                          Spec(F32, 2),
		"want a dense tensor with elements, got f32[1] of strides [1], offset 0": View([]float32{1}, []int{1}, []int{1}, 0),
	} {
		var failed *Error
		if _, err := Values[float32](tensor); !errors.As(err, &failed) || failed.message() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestByteOrder(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	swapBytes(data, 4)
	if !slices.Equal(data, []byte{4, 3, 2, 1, 8, 7, 6, 5}) {
		t.Errorf("got %v", data)
	}
	swapBytes(data, 1)
	if data[0] != 4 {
		t.Errorf("got %v", data)
	}
	defer func(order bool) { littleEndian = order }(littleEndian)
	littleEndian = false
	kept := []byte{1, 2}
	if sent := toWire(kept, 2); !slices.Equal(sent, []byte{2, 1}) || kept[0] != 1 {
		t.Errorf("sent %v of %v", sent, kept)
	}
	fromWire(kept, I16)
	if kept[0] != 2 {
		t.Errorf("got %v", kept)
	}
}

func TestBoolsAreZeroOrOne(t *testing.T) {
	data := []byte{0, 1, 2, 255}
	fromWire(data, Bool)
	if !slices.Equal(elementsOf[bool](data), []bool{false, true, true, true}) {
		t.Errorf("got %v", data)
	}
}

func TestElementsThatAreNotAligned(t *testing.T) {
	data := make([]byte, 17)
	data[1], data[9] = 1, 2
	if values := elementsOf[int64](data[1:]); !slices.Equal(values, []int64{1, 2}) {
		t.Errorf("got %v", values)
	}
}

func TestAttributes(t *testing.T) {
	attributes, err := Attrs{"a": true, "b": 1, "c": 1.5, "d": "mean", "e": []int{1, 2}, "f": []int64{}, "g": []float64{1},
		"h": []bool{true}, "i": nil, "j": float32(0.5), "k": int8(-1), "l": uint16(3), "m": int64(math.MinInt64)}.messages()
	if err != nil || len(attributes) != 12 {
		t.Fatalf("%d attributes, %v", len(attributes), err)
	}
	if a := attributes; !a[0].GetBoolValue() || a[1].GetIntValue() != 1 || a[2].GetFloatValue() != 1.5 || a[3].GetStringValue() != "mean" ||
		!slices.Equal(a[4].GetIntList().GetValues(), []int64{1, 2}) || a[5].GetIntList() == nil || a[6].GetFloatList() == nil ||
		!a[7].GetBoolList().GetValues()[0] || a[8].GetFloatValue() != 0.5 || a[9].GetIntValue() != -1 || a[10].GetIntValue() != 3 ||
		a[11].GetIntValue() != math.MinInt64 {
		t.Errorf("got %v", attributes)
	}
	call := NewCall("Relu", nil, Attrs{"x": struct{}{}})
	want := "opserve: INVALID_PARAMETER 161002: Relu: x: want a bool, a number, a name or a slice of bools or numbers, got struct {}"
	if _, err := call.request(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
