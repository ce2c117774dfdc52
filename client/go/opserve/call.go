package opserve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "opserve.dev/go/opserve/v1"
)

// Inputs are an operator's input tensors by name. An optional one may be left out.
type Inputs map[string]Tensor

// A Call is one call of an operator; NewCall makes one for ExecuteBatch.
type Call struct {
	op      string
	inputs  Inputs
	attrs   Attrs
	outputs map[string]asked
	device  string
	report  bool
	program *Program // nil = the operator
}

// asked is what a call wants of an output: its dtype, and the memory that it is written to.
type asked struct {
	dtype DType
	into  []byte // nil = memory of its own
}

// A CallOption says more about a call than most need.
type CallOption func(*Call)

// OnDevice names the device that runs the call, such as "cpu:0". Without it that is the server's first.
func OnDevice(name string) CallOption {
	return func(call *Call) { call.device = name }
}

// WithReport asks for Result.Execution.
func WithReport() CallOption {
	return func(call *Call) { call.report = true }
}

// OutputAs asks for an output in another dtype than the operator gives it by itself.
func OutputAs(output string, dtype DType) CallOption {
	return func(call *Call) { call.ask(output, asked{dtype: dtype}) }
}

// Into has an output written to these elements, in their type; it must have as many. Nothing is allocated for it.
func Into[E Element](output string, elements []E) CallOption {
	into := bytesOf(elements)
	if into == nil {
		into = []byte{}
	}
	return func(call *Call) { call.ask(output, asked{dtype: DTypeOf[E](), into: into}) }
}

func (c *Call) ask(output string, wanted asked) {
	if c.outputs == nil {
		c.outputs = map[string]asked{}
	}
	c.outputs[output] = wanted
}

// NewCall is a call of the operator `op`.
func NewCall(op string, inputs Inputs, attrs Attrs, options ...CallOption) Call {
	call := Call{op: op, inputs: inputs, attrs: attrs}
	for _, option := range options {
		option(&call)
	}
	return call
}

// message is the call with the data of its inputs, whose bytes are appended to raw.
func (c *Call) message(raw [][]byte) (*pb.Call, [][]byte, *Error) {
	message, err := c.description()
	if err != nil {
		return nil, nil, err
	}
	for _, input := range message.GetInputs() {
		tensor := c.inputs[input.GetName()]
		if tensor.spec {
			return nil, nil, mistake("MISSING_PARAMETER", "a tensor with elements", "the Spec "+tensor.String()).of(c.op, input.GetName())
		}
		input.Data = &pb.Tensor_RawIndex{RawIndex: uint32(len(raw))}
		raw = append(raw, toWire(tensor.data, tensor.dtype.Size()))
	}
	return message, raw, nil
}

// description is the call without data. Inputs are in the order of their names, so that calls that are alike look alike.
func (c *Call) description() (*pb.Call, *Error) {
	message := &pb.Call{Op: c.op, Device: c.device, ReportExecution: c.report}
	if err := c.checkNames(); err != nil {
		return nil, err
	}
	if err := c.setProgram(message); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.inputs)) {
		tensor := c.inputs[name]
		if tensor.err != nil {
			return nil, tensor.err.of(c.op, name)
		}
		if tensor.isNone() {
			continue
		}
		message.Inputs = append(message.Inputs, &pb.Tensor{Name: name, Dtype: pb.DataType(tensor.dtype), Shape: int64s(tensor.shape),
			Strides: int64s(tensor.strides), StorageOffset: int64(tensor.offset)})
	}
	var err *Error
	if message.Attributes, err = c.attrs.messages(); err != nil {
		return nil, err.of(c.op, err.Parameter)
	}
	for _, name := range slices.Sorted(maps.Keys(c.outputs)) {
		message.Outputs = append(message.Outputs, &pb.Tensor{Name: name, Dtype: pb.DataType(c.outputs[name].dtype)})
	}
	return message, nil
}

// setProgram puts the program in the place of the operator.
func (c *Call) setProgram(message *pb.Call) *Error {
	if c.program == nil {
		return nil
	}
	if c.op != programName {
		return mistake("INVALID_PARAMETER", "the operator "+programName+" for a call with WithProgram", c.op).of(c.op, "op")
	}
	if c.program.err != nil {
		return c.program.err.of("", "")
	}
	message.Op, message.Program = "", &c.program.message
	return nil
}

// checkNames refuses texts that no message may have.
func (c *Call) checkNames() *Error {
	if err := checkName("operator", c.op); err != nil {
		return err
	}
	if err := checkName("device", c.device); err != nil {
		return err
	}
	for name := range c.inputs {
		if err := checkName("input", name); err != nil {
			return err
		}
	}
	for name, value := range c.attrs {
		text, _ := value.(string)
		if err := cmp.Or(checkName("attribute", name), checkName(name, text)); err != nil {
			return err
		}
	}
	for name := range c.outputs {
		if err := checkName("output", name); err != nil {
			return err
		}
	}
	return nil
}

func checkName(parameter, name string) *Error {
	if utf8.ValidString(name) {
		return nil
	}
	return mistake("INVALID_PARAMETER", "a text in UTF-8", printable(name)).of("", parameter)
}

// request is the message of one call.
func (c *Call) request() (*outgoing, *Error) {
	message, raw, err := c.message(nil)
	if err != nil {
		return nil, err
	}
	header, err := written(&pb.ExecuteRequest{Call: message})
	return &outgoing{header: header, raw: raw}, err
}

// batchRequest is the message of many calls.
func batchRequest(calls []Call) (*outgoing, *Error) {
	request, out := &pb.ExecuteBatchRequest{}, &outgoing{}
	for i := range calls {
		message, raw, err := calls[i].message(out.raw)
		if err != nil {
			err.Message = fmt.Sprintf("call %d: %s", i, err.message())
			return nil, err
		}
		out.raw = raw
		request.Calls = append(request.Calls, message)
	}
	var err *Error
	out.header, err = written(request)
	return out, err
}

// written is a message that has no entries of raw.
func written(message proto.Message) ([]byte, *Error) {
	header, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return nil, mistake("INVALID_PARAMETER", "a message of less than 2 GiB, in UTF-8", printable(err.Error()))
	}
	return header, nil
}
