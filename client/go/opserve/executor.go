package opserve

import (
	"context"
	"maps"
	"slices"
	"strconv"

	pb "opserve.dev/go/opserve/v1"
)

// DeviceInputs are an operator's input tensors on a device, by name. One that is nil is left out.
type DeviceInputs map[string]*DeviceTensor

// An Executor is a planned call, which RunExecutor runs as often as is wanted on the same tensors.
type Executor struct {
	// Names are the outputs in the operator's order.
	Names []string
	// Outputs are the tensors that it writes.
	Outputs map[string]*DeviceTensor

	session *Session
	id      uint64
}

// NewExecutor plans a call. Outputs that `outputs` does not name are made for it, in the dtype and shape that the server tells: it
// is asked once for each kind of call.
func (c *DeviceContext) NewExecutor(ctx context.Context, op string, inputs DeviceInputs, attrs Attrs, outputs map[string]*DeviceTensor,
	options ...CallOption) (*Executor, error) {
	executor, err := c.newExecutor(ctx, op, inputs, attrs, outputs, true, options)
	return executor, orNil(err)
}

func (c *DeviceContext) newExecutor(ctx context.Context, op string, inputs DeviceInputs, attrs Attrs, given map[string]*DeviceTensor,
	repeatable bool, options []CallOption) (*Executor, *Error) {
	call := NewCall(op, specsOf(inputs), attrs, options...)
	if err := call.checkOptionsOfSession(); err != nil {
		return nil, err
	}
	call.device = c.device
	plan, err := c.session.plans.plan(ctx, &call)
	if err != nil {
		return nil, err
	}
	executor := &Executor{Names: slices.Clone(plan.Names), session: c.session, id: c.session.ids.Add(1)}
	if executor.Outputs, err = c.outputsOf(ctx, plan, given); err != nil {
		return nil, err
	}
	message, err := executor.call(&call, inputs)
	if err != nil {
		return nil, err
	}
	create := &pb.CreateExecutorCommand{Executor: executor.id, Context: c.id, Call: message, Repeatable: repeatable}
	return executor, c.session.give(ctx, &pb.Command{Command: &pb.Command_CreateExecutor{CreateExecutor: create}})
}

// outputsOf are the given tensors, and new ones where there is none for an output.
func (c *DeviceContext) outputsOf(ctx context.Context, plan *Plan, given map[string]*DeviceTensor) (map[string]*DeviceTensor, *Error) {
	outputs := maps.Clone(given)
	if outputs == nil {
		outputs = map[string]*DeviceTensor{}
	}
	for name, spec := range plan.Outputs {
		if outputs[name] != nil {
			continue
		}
		made, err := c.allocate(ctx, spec, spec.Len()*spec.dtype.Size())
		if err != nil {
			return nil, err
		}
		outputs[name] = made
	}
	return outputs, nil
}

// call is the message of an executor's call.
func (e *Executor) call(call *Call, inputs DeviceInputs) (*pb.Call, *Error) {
	message, err := call.description()
	if err != nil {
		return nil, err
	}
	for i, input := range message.GetInputs() {
		message.Inputs[i] = inputs[input.GetName()].message(input.GetName())
	}
	message.Outputs = nil
	for _, name := range slices.Sorted(maps.Keys(e.Outputs)) {
		message.Outputs = append(message.Outputs, e.Outputs[name].message(name))
	}
	return message, nil
}

// specsOf describes tensors on a device.
func specsOf(inputs DeviceInputs) Inputs {
	specs := make(Inputs, len(inputs))
	for name, tensor := range inputs {
		if tensor != nil {
			specs[name] = tensor.spec
		}
	}
	return specs
}

// checkOptionsOfSession refuses what only calls with their bytes can have.
func (c *Call) checkOptionsOfSession() *Error {
	if c.device != "" || c.report {
		return mistake("INVALID_PARAMETER", "a call on its context's device, without a report", "OnDevice or WithReport").of(c.op, "options")
	}
	for name, output := range c.outputs {
		if output.into != nil {
			return mistake("INVALID_PARAMETER", "a tensor on the device, or DownloadInto", "Into").of(c.op, name)
		}
	}
	return nil
}

// RunExecutor runs an executor in the stream's turn, without waiting. An executor may be on one stream several times, not on two
// at once.
func (s *Stream) RunExecutor(ctx context.Context, executor *Executor) error {
	return orNil(s.runExecutor(ctx, executor))
}

func (s *Stream) runExecutor(ctx context.Context, executor *Executor) *Error {
	run := &pb.RunExecutorCommand{Executor: executor.id, Stream: s.id}
	return s.give(ctx, &pb.Command{Command: &pb.Command_RunExecutor{RunExecutor: run}}, nil)
}

// Destroy ends the executor; executions that are on a stream go on. Its tensors stay.
func (e *Executor) Destroy(ctx context.Context) error { return orNil(e.destroy(ctx)) }

func (e *Executor) destroy(ctx context.Context) *Error {
	destroy := &pb.DestroyExecutorCommand{Executor: e.id}
	return e.session.give(ctx, &pb.Command{Command: &pb.Command_DestroyExecutor{DestroyExecutor: destroy}})
}

// Run plans a call and runs it once, in the stream's turn and without waiting. It gives the outputs, on the device.
func (s *Stream) Run(ctx context.Context, op string, inputs map[string]*DeviceTensor, attrs Attrs,
	options ...CallOption) (map[string]*DeviceTensor, error) {
	executor, err := s.context.newExecutor(ctx, op, inputs, attrs, nil, false, options)
	if err != nil {
		return nil, err
	}
	if err := s.runExecutor(ctx, executor); err != nil {
		return nil, err
	}
	if err := executor.destroy(ctx); err != nil {
		return nil, err
	}
	return executor.Outputs, nil
}

// executeInPieces makes a call in a session of its own.
func (c *Client) executeInPieces(ctx context.Context, call *Call) (*Result, error) {
	session, err := c.openSession(ctx, call.device)
	if err != nil {
		return nil, err
	}
	defer session.Cancel()
	result, err := session.executeWhole(ctx, call)
	if err == nil {
		err = session.talk.close()
	}
	return result, orNil(err)
}

func (s *Session) executeWhole(ctx context.Context, call *Call) (*Result, *Error) {
	inputs := DeviceInputs{}
	for name, tensor := range call.inputs {
		if tensor.isNone() {
			continue
		}
		uploaded, err := s.upload(ctx, tensor, samePiece)
		if err != nil {
			return nil, err.of(call.op, name)
		}
		inputs[name] = uploaded
	}
	options := []CallOption{WithProgram(call.program)}
	for name, output := range call.outputs {
		options = append(options, OutputAs(name, output.dtype))
	}
	executor, err := s.newExecutor(ctx, call.op, inputs, call.attrs, nil, true, options)
	if err != nil {
		return nil, err
	}
	if err := s.runExecutor(ctx, executor); err != nil {
		return nil, err
	}
	result := &Result{Names: executor.Names, Outputs: make(map[string]Tensor, len(executor.Outputs))}
	for _, name := range executor.Names {
		if result.Outputs[name], err = s.readWhole(ctx, executor.Outputs[name], call.outputs[name].into); err != nil {
			return nil, err.of(call.op, name)
		}
	}
	return result, nil
}

// readWhole downloads an output to memory of its own, or to that which the call says.
func (s *Session) readWhole(ctx context.Context, from *DeviceTensor, into []byte) (Tensor, *Error) {
	tensor := from.spec
	tensor.spec, tensor.data = false, into
	if into == nil {
		tensor.data = make([]byte, from.size)
	}
	if len(tensor.data) != from.size {
		size := from.spec.dtype.Size()
		return Tensor{}, mistake("SHAPE_MISMATCH", strconv.Itoa(from.size/size)+" elements for the output", strconv.Itoa(len(into)/size))
	}
	return tensor, s.read(ctx, from, tensor.data)
}
