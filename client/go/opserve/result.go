package opserve

import (
	"fmt"
	"math"
	"time"

	pb "opserve.dev/go/opserve/v1"
)

// A Result is what a call gave.
type Result struct {
	// Names are the outputs in the operator's order.
	Names []string
	// Outputs are dense; one that the call masked out has the shape [0]. Their memory is the caller's.
	Outputs map[string]Tensor
	// Execution says which device ran the call and how long that took, where WithReport asked for it.
	Execution *pb.Execution
}

// A BatchResult is what one call of a batch gave: a result, or its error.
type BatchResult struct {
	*Result
	Err error
}

// A Plan is what a call needs and gives.
type Plan struct {
	WorkspaceBytes, InputBytes, OutputBytes int64
	// Names are the outputs in the operator's order.
	Names []string
	// Outputs are as Spec makes them.
	Outputs map[string]Tensor
	Device  string
	// Expected is how long the call takes on one thread, by the server's estimate.
	Expected   time.Duration
	RunsInline bool
	// Program is nil where the call has none.
	Program *ProgramPlan
}

// result is the outputs of an ExecuteResponse, of a BatchResult or of ExecuteOutputs.
func (m *incoming) result(call *Call, outputs []*pb.Tensor, execution *pb.Execution) (*Result, *Error) {
	result := &Result{Outputs: make(map[string]Tensor, len(outputs)), Execution: execution}
	for _, output := range outputs {
		name := output.GetName()
		if _, twice := result.Outputs[name]; twice {
			return nil, badAnswer("output %s comes twice", name)
		}
		tensor, err := m.tensor(output, call.outputs[name])
		if err != nil {
			return nil, err.of(call.op, name)
		}
		result.Names = append(result.Names, name)
		result.Outputs[name] = tensor
	}
	return result, nil
}

// tensor is an output with its elements, which are copied out of the frames.
func (m *incoming) tensor(output *pb.Tensor, wanted asked) (Tensor, *Error) {
	tensor, err := specOf(output)
	if err != nil {
		return Tensor{}, err
	}
	name, size := output.GetName(), tensor.Len()*tensor.dtype.Size()
	index, has := output.GetData().(*pb.Tensor_RawIndex)
	switch {
	case has && int64(index.RawIndex) >= int64(len(m.raw)), !has && size > 0:
		return Tensor{}, badAnswer("output %s has no bytes", name)
	case has && m.raw[index.RawIndex].size != size:
		return Tensor{}, badAnswer("output %s of shape %v has %d bytes", name, tensor.shape, m.raw[index.RawIndex].size)
	case has && m.raw[index.RawIndex].taken: // what came bounds what is allocated
		return Tensor{}, badAnswer("output %s has the bytes of another", name)
	case wanted.dtype != 0 && wanted.dtype != tensor.dtype:
		return Tensor{}, badAnswer("output %s is %v, want %v", name, tensor.dtype, wanted.dtype)
	case wanted.into != nil && len(wanted.into) != size:
		return Tensor{}, mistake("SHAPE_MISMATCH", fmt.Sprintf("%d elements for the output", tensor.Len()),
			fmt.Sprint(len(wanted.into)/tensor.dtype.Size()))
	}
	tensor.spec, tensor.data = false, wanted.into
	if has {
		m.raw[index.RawIndex].taken = true
	}
	switch {
	case has && tensor.data == nil:
		tensor.data = m.entry(int(index.RawIndex))
	case has:
		m.copyEntry(int(index.RawIndex), tensor.data)
	case tensor.data == nil:
		tensor.data = []byte{}
	}
	fromWire(tensor.data, tensor.dtype)
	return tensor, nil
}

// specOf is an output's description.
func specOf(output *pb.Tensor) (Tensor, *Error) {
	tensor := Tensor{dtype: DType(output.GetDtype()), shape: make([]int, 0, len(output.GetShape())), spec: true}
	if tensor.dtype.Size() == 0 {
		return Tensor{}, badAnswer("output %s has %v", output.GetName(), tensor.dtype)
	}
	for _, extent := range output.GetShape() {
		if extent < 0 || extent > math.MaxInt {
			return Tensor{}, badAnswer("output %s has the shape %v", output.GetName(), output.GetShape())
		}
		tensor.shape = append(tensor.shape, int(extent))
	}
	if _, err := countOf(tensor.shape); err != nil {
		return Tensor{}, badAnswer("output %s has the shape %v", output.GetName(), output.GetShape())
	}
	return tensor, nil
}

// batchResults are the results of a batch, in the order of its calls.
func (m *incoming) batchResults(calls []Call) ([]BatchResult, *Error) {
	var response pb.ExecuteBatchResponse
	if err := m.read(&response); err != nil {
		return nil, err
	}
	if len(response.GetResults()) != len(calls) {
		return nil, badAnswer("%d results of %d calls", len(response.GetResults()), len(calls))
	}
	results := make([]BatchResult, len(calls))
	for i, told := range response.GetResults() {
		if told.GetError() != nil {
			results[i].Err = errorOf(told.GetError())
			continue
		}
		result, err := m.result(&calls[i], told.GetOutputs(), told.GetExecution())
		if err != nil {
			return nil, err
		}
		results[i].Result = result
	}
	return results, nil
}

// planOf is a plan as the server tells it.
func planOf(told *pb.GetWorkspaceSizeResponse) (*Plan, *Error) {
	plan := &Plan{WorkspaceBytes: told.GetWorkspaceBytes(), InputBytes: told.GetInputBytes(), OutputBytes: told.GetOutputBytes(),
		Outputs: map[string]Tensor{}, Device: told.GetDevice(), Expected: time.Duration(told.GetCost().GetExpectedNs()),
		RunsInline: told.GetCost().GetRunsInline()}
	for _, output := range told.GetOutputs() {
		tensor, err := specOf(output)
		if err != nil {
			return nil, err
		}
		plan.Names = append(plan.Names, output.GetName())
		plan.Outputs[output.GetName()] = tensor
	}
	if program := told.GetProgram(); program != nil {
		plan.Program = &ProgramPlan{IntermediateBytes: program.GetIntermediateBytes(), Call: program.GetCall()}
	}
	return plan, nil
}
