package opserve

import (
	"context"
	"fmt"
	"slices"

	pb "opserve.dev/go/opserve/v1"
)

// A DeviceTensor is a tensor on a server's device, in a session.
type DeviceTensor struct {
	context *DeviceContext
	id      uint64
	spec    Tensor
	size    int // bytes of the buffer
}

// NewTensor is a tensor of zeros on the device.
func (c *DeviceContext) NewTensor(ctx context.Context, dtype DType, shape ...int) (*DeviceTensor, error) {
	spec := Spec(dtype, shape...)
	tensor, err := c.allocate(ctx, spec, spec.Len()*dtype.Size())
	return tensor, orNil(err)
}

// allocate is memory for a tensor of this description.
func (c *DeviceContext) allocate(ctx context.Context, like Tensor, size int) (*DeviceTensor, *Error) {
	if like.err != nil {
		return nil, like.err
	}
	spec := like
	spec.data, spec.spec = nil, true
	tensor := &DeviceTensor{context: c, id: c.session.ids.Add(1), spec: spec, size: size}
	allocate := &pb.AllocateCommand{Buffer: tensor.id, Context: c.id, SizeBytes: int64(size)}
	if err := c.session.give(ctx, &pb.Command{Command: &pb.Command_Allocate{Allocate: allocate}}); err != nil {
		return nil, err
	}
	return tensor, nil
}

// DType is the type of the elements.
func (t *DeviceTensor) DType() DType { return t.spec.dtype }

// Shape is the extent of every dimension, outermost first. It is the caller's to keep.
func (t *DeviceTensor) Shape() []int { return t.spec.Shape() }

// Len is the number of elements.
func (t *DeviceTensor) Len() int { return t.spec.Len() }

func (t *DeviceTensor) String() string { return t.spec.String() + " on a device" }

// Free frees the memory when the work that uses it has ended, and no executor is bound to it.
func (t *DeviceTensor) Free(ctx context.Context) error {
	free := &pb.FreeCommand{Buffer: t.id}
	return orNil(t.context.session.give(ctx, &pb.Command{Command: &pb.Command_Free{Free: free}}))
}

// message is the tensor as an executor's of that name.
func (t *DeviceTensor) message(name string) *pb.Tensor {
	return &pb.Tensor{Name: name, Dtype: pb.DataType(t.spec.dtype), Shape: int64s(t.spec.shape), Strides: int64s(t.spec.strides),
		StorageOffset: int64(t.spec.offset), Data: &pb.Tensor_Buffer{Buffer: &pb.BufferView{Buffer: t.id}}}
}

func (t *DeviceTensor) all() *pb.BufferRange {
	return &pb.BufferRange{Buffer: t.id, RowBytes: int64(t.size)}
}

// Upload is a copy of a tensor on the device. The elements may change when it returns.
func (s *Stream) Upload(ctx context.Context, from Tensor) (*DeviceTensor, error) {
	tensor, err := s.upload(ctx, from, clonedPiece)
	return tensor, orNil(err)
}

func (s *Stream) upload(ctx context.Context, from Tensor, piece func([]byte) []byte) (*DeviceTensor, *Error) {
	if err := hasElements(from); err != nil {
		return nil, err
	}
	tensor, err := s.context.allocate(ctx, from, len(from.data))
	if err != nil {
		return nil, err
	}
	return tensor, s.write(ctx, tensor, from.data, piece)
}

// Write overwrites a tensor on the device by one of the same dtype, shape and strides. The elements may change when it returns.
func (s *Stream) Write(ctx context.Context, to *DeviceTensor, from Tensor) error {
	if err := hasElements(from); err != nil {
		return err
	}
	if from.dtype != to.spec.dtype || !slices.Equal(from.shape, to.spec.shape) || len(from.data) != to.size ||
		!slices.Equal(from.strides, to.spec.strides) || from.offset != to.spec.offset {
		return mistake("SHAPE_MISMATCH", "a tensor like "+to.spec.String(), from.String())
	}
	return orNil(s.write(ctx, to, from.data, clonedPiece))
}

func hasElements(tensor Tensor) *Error {
	if tensor.err != nil {
		return tensor.err
	}
	if tensor.spec || tensor.isNone() {
		return mistake("MISSING_PARAMETER", "a tensor with elements", tensor.String())
	}
	return nil
}

func clonedPiece(data []byte) []byte { return slices.Clone(data) }

func samePiece(data []byte) []byte { return data }

// write uploads in pieces of the size that the server recommends.
func (s *Stream) write(ctx context.Context, to *DeviceTensor, data []byte, piece func([]byte) []byte) *Error {
	data = toWire(data, to.spec.dtype.Size())
	chunk := s.context.session.chunkBytes()
	for start := 0; start < len(data); start += chunk {
		part := data[start:min(start+chunk, len(data))]
		place := &pb.BufferRange{Buffer: to.id, OffsetBytes: int64(start), RowBytes: int64(len(part))}
		upload := &pb.UploadCommand{Stream: s.id, Destination: place}
		if err := s.give(ctx, &pb.Command{Command: &pb.Command_Upload{Upload: upload}}, piece(part)); err != nil {
			return err
		}
	}
	return nil
}

// chunkBytes is the size of the pieces in which tensors are sent.
func (s *Session) chunkBytes() int {
	info := s.Info()
	return int(max(1<<12, min(info.GetRecommendedChunkBytes(), info.GetMaxMessageBytes()/2, 1<<30)))
}

// Fill sets every element to that of a scalar.
func (s *Stream) Fill(ctx context.Context, to *DeviceTensor, value Tensor) error {
	if err := hasElements(value); err != nil {
		return err
	}
	if value.dtype != to.spec.dtype || len(value.data) != value.dtype.Size() {
		return mistake("DTYPE_UNSUPPORTED", "a scalar of "+to.spec.dtype.String(), value.String())
	}
	if to.size == 0 {
		return nil
	}
	fill := &pb.FillCommand{Destination: to.all(), Pattern: slices.Clone(toWire(value.data, value.dtype.Size())), Stream: s.id}
	return orNil(s.give(ctx, &pb.Command{Command: &pb.Command_Fill{Fill: fill}}, nil))
}

// Copy overwrites a tensor by another one of as many bytes, on the device.
func (s *Stream) Copy(ctx context.Context, to, from *DeviceTensor) error {
	copying := &pb.CopyCommand{Source: from.all(), Destination: to.all(), Stream: s.id}
	return orNil(s.give(ctx, &pb.Command{Command: &pb.Command_Copy{Copy: copying}}, nil))
}

// Download brings a tensor here. It waits for what was given to the stream before, and tells the first failure.
func (s *Stream) Download(ctx context.Context, from *DeviceTensor) (Tensor, error) {
	tensor := from.spec
	tensor.spec, tensor.data = false, make([]byte, from.size)
	if err := s.read(ctx, from, tensor.data); err != nil {
		return Tensor{}, err
	}
	return tensor, nil
}

// DownloadInto is Stream.Download to these elements, of which there must be as many.
func DownloadInto[E Element](ctx context.Context, s *Stream, from *DeviceTensor, elements []E) error {
	into := bytesOf(elements)
	if from.spec.dtype != DTypeOf[E]() || len(into) != from.size {
		return mistake("SHAPE_MISMATCH", fmt.Sprintf("%d elements of %v", from.size/from.spec.dtype.Size(), from.spec.dtype),
			fmt.Sprintf("%d of %v", len(elements), DTypeOf[E]()))
	}
	return orNil(s.read(ctx, from, into))
}

// read downloads the memory of a tensor.
func (s *Stream) read(ctx context.Context, from *DeviceTensor, into []byte) *Error {
	received, take := chunksInto(into)
	download := &pb.DownloadCommand{Source: from.all(), Stream: s.id}
	asked := &command{message: &pb.Command{Command: &pb.Command_Download{Download: download}}, stream: s.id, onChunk: take}
	if _, err := s.ask(ctx, asked); err != nil {
		return err
	}
	if *received != len(into) {
		return badAnswer("%d of %d bytes came", *received, len(into))
	}
	fromWire(into, from.spec.dtype)
	return nil
}

// chunksInto takes a download's chunks, which come in order, and counts their bytes.
func chunksInto(into []byte) (received *int, take func(int64, int, *incoming) *Error) {
	received = new(int)
	return received, func(offset int64, entry int, message *incoming) *Error {
		size := message.raw[entry].size
		if offset != int64(*received) || size > len(into)-*received {
			return badAnswer("a chunk is out of place")
		}
		message.copyEntry(entry, into[*received:*received+size])
		*received += size
		return nil
	}
}
