package opserve

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "opserve.dev/go/opserve/v1"
)

// inPieces is a message as gRPC gives it, in pieces of `size` bytes.
func inPieces(data []byte, size int) mem.BufferSlice {
	var pieces mem.BufferSlice
	for len(data) > 0 {
		part := min(size, len(data))
		pieces = append(pieces, mem.SliceBuffer(data[:part]))
		data = data[part:]
	}
	return pieces
}

// received is a message that came in pieces of `size` bytes.
func received(t testing.TB, data []byte, size int) *incoming {
	t.Helper()
	var message incoming
	if err := (codec{}).Unmarshal(inPieces(data, size), &message); err != nil {
		t.Fatal(err)
	}
	return &message
}

func sampleAnswer(t testing.TB) []byte {
	t.Helper()
	large := bytes.Repeat([]byte{0, 0, 128, 63}, 1000)
	data, err := proto.Marshal(&pb.ExecuteResponse{
		Outputs: []*pb.Tensor{
			{Name: "out", Dtype: pb.DataType_DATA_TYPE_FLOAT32, Shape: []int64{10, 100}, Data: &pb.Tensor_RawIndex{RawIndex: 1}},
			{Name: "mask", Dtype: pb.DataType_DATA_TYPE_BOOL, Shape: []int64{3}, Data: &pb.Tensor_RawIndex{RawIndex: 0}},
			{Name: "none", Dtype: pb.DataType_DATA_TYPE_FLOAT16, Shape: []int64{0}}},
		Execution: &pb.Execution{Device: "cpu:0", ExecutedNs: 7},
		Raw:       [][]byte{{1, 0, 7}, large},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnswersInPieces(t *testing.T) {
	data := sampleAnswer(t)
	for _, size := range []int{1, 2, 3, 7, 100, 1 << 14} {
		message := received(t, data, size)
		result, err := readAnswer(message)
		if err != nil {
			t.Fatal(err)
		}
		values, failed := Values[float32](result.Outputs["out"])
		if failed != nil || len(values) != 1000 || values[999] != 1 {
			t.Errorf("got %d values, %v", len(values), failed)
		}
		mask, failed := Values[bool](result.Outputs["mask"])
		if failed != nil || !mask[0] || mask[1] || !mask[2] {
			t.Errorf("got %v, %v", mask, failed)
		}
		if none := result.Outputs["none"]; none.Len() != 0 || none.DType() != F16 || result.Execution.GetExecutedNs() != 7 {
			t.Errorf("got %v", result)
		}
		message.free()
	}
}

func readAnswer(message *incoming) (*Result, *Error) {
	var response pb.ExecuteResponse
	if err := message.read(&response); err != nil {
		return nil, err
	}
	return message.result(&Call{}, response.GetOutputs(), response.GetExecution())
}

func answerWith(t *testing.T, raw [][]byte, outputs ...*pb.Tensor) []byte {
	t.Helper()
	data, err := proto.Marshal(&pb.ExecuteResponse{Outputs: outputs, Raw: raw})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func output(dtype pb.DataType, index uint32, shape ...int64) *pb.Tensor {
	return &pb.Tensor{Name: "out", Dtype: dtype, Shape: shape, Data: &pb.Tensor_RawIndex{RawIndex: index}}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	const f32 = pb.DataType_DATA_TYPE_FLOAT32
	four := [][]byte{{1, 2, 3, 4}}
	other := output(f32, 0, 1)
	other.Name = "other"
	for want, data := range map[string][]byte{
		"a field is longer than the message":               {rawKey, 0xFF, 1},
		"a number without an end":                          {0xFF},
		"a field of kind 3":                                {0x0B, 0x0C},
		"it is no ExecuteResponse":                         {0x0A, 1, 0xFF},
		"more than 65536 entries of raw":                   bytes.Repeat([]byte{rawKey, 0}, maxAnswerEntries+1),
		"more than 16777216 bytes besides raw":             make64(0x12, maxAnswerHeaderBytes),
		"output out has no bytes":                          answerWith(t, nil, output(f32, 0, 1)),
		"output out of shape [2] has 4 bytes":              answerWith(t, four, output(f32, 0, 2)),
		"output out has dtype 0":                           answerWith(t, four, output(0, 0, 1)),
		"output out has dtype 77":                          answerWith(t, four, output(77, 0, 1)),
		"output out has the shape [-1]":                    answerWith(t, four, output(f32, 0, -1)),
		"output out has the shape [4294967296 4294967296]": answerWith(t, four, output(f32, 0, 1<<32, 1<<32)),
		"output out comes twice":                           answerWith(t, append(four, four...), output(f32, 0, 1), output(f32, 1, 1)),
		"output other has the bytes of another":            answerWith(t, four, output(f32, 0, 1), other),
	} {
		for _, size := range []int{1, 1 << 20} {
			if size == 1 && len(data) > 1<<20 {
				continue
			}
			_, err := readAnswer(received(t, data, size))
			if err == nil || !strings.HasSuffix(err.Message, want) {
				t.Errorf("want %q, got %v", want, err)
			}
		}
	}
}

// make64 is a message of one delimited field.
func make64(key byte, size int) []byte {
	return append(protowire.AppendVarint([]byte{key}, uint64(size)), make([]byte, size)...)
}

func TestMessagesAreWhatProtobufWrites(t *testing.T) {
	small, large := []byte{1, 2, 3}, bytes.Repeat([]byte{7}, smallEntryBytes+1)
	call := NewCall("Relu", Inputs{"a": TensorOf(small), "b": TensorOf(large), "c": TensorOf([]uint8{}), "d": Scalar(uint8(9))}, nil)
	request, err := call.request()
	if err != nil {
		t.Fatal(err)
	}
	parts, failed := codec{}.Marshal(request)
	if failed != nil {
		t.Fatal(failed)
	}
	if len(parts) != 3 || &parts[1].ReadOnlyData()[0] != &large[0] {
		t.Errorf("%d parts: large entries are not to be copied", len(parts))
	}
	data := parts.Materialize()
	var message pb.ExecuteRequest
	if err := proto.Unmarshal(data, &message); err != nil {
		t.Fatal(err)
	}
	if len(data) != request.size() || proto.Size(&message) != len(data) {
		t.Errorf("%d bytes, size %d", len(data), request.size())
	}
	if len(message.GetRaw()) != 4 || !bytes.Equal(message.GetRaw()[1], large) || message.GetRaw()[3][0] != 9 || len(message.GetRaw()[2]) != 0 {
		t.Errorf("got %d entries", len(message.GetRaw()))
	}
	if inputs := message.GetCall().GetInputs(); len(inputs) != 4 || inputs[3].GetRawIndex() != 3 || len(inputs[3].GetShape()) != 0 {
		t.Errorf("got %v", inputs)
	}
}

// FuzzAnswer reads bytes as answers: whatever they are, in whatever pieces they come, what is read is what protobuf reads, and no
// more memory than came is taken for elements.
func FuzzAnswer(f *testing.F) {
	f.Add(sampleAnswer(f), 3)
	f.Add([]byte{rawKey, 2, 1, 2, 0x0A, 0}, 1)
	f.Add([]byte{0x0B, 0x0C}, 1)
	f.Fuzz(func(t *testing.T, data []byte, pieces int) {
		message := received(t, data, 1+max(0, pieces%64))
		defer message.free()
		result, err := readAnswer(message)
		readSession(received(t, data, 1+max(0, pieces%64)))
		var whole pb.ExecuteResponse
		failed := proto.Unmarshal(data, &whole)
		if err != nil {
			return
		}
		if failed != nil {
			t.Fatalf("protobuf says %v", failed)
		}
		if len(message.raw) != len(whole.GetRaw()) || len(result.Names) != len(whole.GetOutputs()) {
			t.Fatalf("%d entries and %d outputs, want %d and %d", len(message.raw), len(result.Names), len(whole.GetRaw()), len(whole.GetOutputs()))
		}
		size := 0
		for _, tensor := range whole.GetOutputs() {
			read := result.Outputs[tensor.GetName()]
			size += len(read.data)
			if read.dtype == Bool || len(read.data) == 0 {
				continue
			}
			if !bytes.Equal(read.data, whole.GetRaw()[tensor.GetRawIndex()]) {
				t.Fatalf("output %s is not its bytes", tensor.GetName())
			}
		}
		if size > len(data) {
			t.Fatalf("%d bytes of elements of %d bytes", size, len(data))
		}
	})
}

// readSession takes an answer as one of a session with a download under way.
func readSession(message *incoming) {
	_, take := chunksInto(make([]byte, 8))
	c := &command{message: &pb.Command{Id: 1}, over: make(chan struct{}), onChunk: take}
	talk := &conversation{changed: make(chan struct{}), pending: map[uint64]*command{1: c}}
	_ = talk.take(message)
}
