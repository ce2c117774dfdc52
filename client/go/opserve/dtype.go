package opserve

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	pb "opserve.dev/go/opserve/v1"
)

// A DType is the type of a tensor's elements. Its numbers are those of the protocol.
type DType int32

// The dtypes; the names are those of the opserve command. The zero DType is none of them.
const (
	F32  = DType(pb.DataType_DATA_TYPE_FLOAT32)
	F16  = DType(pb.DataType_DATA_TYPE_FLOAT16)
	BF16 = DType(pb.DataType_DATA_TYPE_BFLOAT16)
	F64  = DType(pb.DataType_DATA_TYPE_FLOAT64)
	I8   = DType(pb.DataType_DATA_TYPE_INT8)
	I16  = DType(pb.DataType_DATA_TYPE_INT16)
	I32  = DType(pb.DataType_DATA_TYPE_INT32)
	I64  = DType(pb.DataType_DATA_TYPE_INT64)
	U8   = DType(pb.DataType_DATA_TYPE_UINT8)
	U16  = DType(pb.DataType_DATA_TYPE_UINT16)
	U32  = DType(pb.DataType_DATA_TYPE_UINT32)
	U64  = DType(pb.DataType_DATA_TYPE_UINT64)
	Bool = DType(pb.DataType_DATA_TYPE_BOOL)
)

var dtypes = map[DType]struct {
	name string
	size int
}{
	F32: {"f32", 4}, F16: {"f16", 2}, BF16: {"bf16", 2}, F64: {"f64", 8},
	I8: {"i8", 1}, I16: {"i16", 2}, I32: {"i32", 4}, I64: {"i64", 8},
	U8: {"u8", 1}, U16: {"u16", 2}, U32: {"u32", 4}, U64: {"u64", 8}, Bool: {"bool", 1},
}

// Size is the size of an element in bytes, 0 for what is no dtype.
func (d DType) Size() int { return dtypes[d].size }

func (d DType) String() string {
	if known, ok := dtypes[d]; ok {
		return known.name
	}
	return fmt.Sprintf("dtype %d", int32(d))
}

// An Element is a Go type that elements of a tensor have.
type Element interface {
	float32 | float64 | Float16 | BFloat16 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | bool
}

// DTypeOf is the dtype of a Go type: DTypeOf[float32]() is F32.
func DTypeOf[E Element]() DType {
	switch any(*new(E)).(type) {
	case float32:
		return F32
	case float64:
		return F64
	case Float16:
		return F16
	case BFloat16:
		return BF16
	case int8:
		return I8
	case int16:
		return I16
	case int32:
		return I32
	case int64:
		return I64
	case uint8:
		return U8
	case uint16:
		return U16
	case uint32:
		return U32
	case uint64:
		return U64
	default:
		return Bool
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf is the memory of elements.
func bytesOf[E Element](elements []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(elements))), len(elements)*int(unsafe.Sizeof(*new(E))))
}

// elementsOf is memory as elements, in the byte order of the machine. The bytes are whole elements; they are copied where the
// machine could not read them in their place.
func elementsOf[E Element](data []byte) []E {
	size := int(unsafe.Sizeof(*new(E)))
	if len(data) == 0 {
		return []E{}
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%unsafe.Alignof(*new(E)) != 0 {
		aligned := make([]E, len(data)/size)
		copy(bytesOf(aligned), data)
		return aligned
	}
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/size)
}

// swapBytes turns elements of `size` bytes from one byte order to the other, in their place.
func swapBytes(data []byte, size int) {
	for start := 0; size > 1 && start+size <= len(data); start += size {
		for low, high := start, start+size-1; low < high; low, high = low+1, high-1 {
			data[low], data[high] = data[high], data[low]
		}
	}
}

// toWire is the memory of elements as it is sent: little-endian, without a copy where the machine is that.
func toWire(data []byte, size int) []byte {
	if littleEndian || size == 1 {
		return data
	}
	swapped := append([]byte(nil), data...)
	swapBytes(swapped, size)
	return swapped
}

// fromWire makes bytes that were received the machine's, in their place.
func fromWire(data []byte, dtype DType) {
	if dtype == Bool {
		for i, value := range data { // any byte but 0 is true; Go's bool has 0 and 1 only
			data[i] = min(value, 1)
		}
	}
	if !littleEndian {
		swapBytes(data, dtype.Size())
	}
}
