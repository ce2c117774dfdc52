package opserve

import (
	"fmt"
	"maps"
	"slices"

	pb "opserve.dev/go/opserve/v1"
)

const programName = "Program"

// A Program is several operators in one call, and the gradients of one of its values. WithProgram has a call run it, whose op is
// "Program" and whose inputs are the program's. When it is complete, any number of goroutines may use it; until then one.
type Program struct {
	message pb.Program
	err     *Error // the first mistake, which is the error of each call
}

// StepInputs are what a step takes, by the names of its operator's inputs. The zero Value is left out.
type StepInputs map[string]Value

// A Value is an input of a program, a result of one of its steps, a view of either, or a constant.
type Value struct {
	tensor *pb.Tensor
	err    *Error
}

// NewProgram is a program without steps.
func NewProgram() *Program { return &Program{} }

// WithProgram has a call run a program in the place of an operator.
func WithProgram(program *Program) CallOption {
	return func(call *Call) { call.program = program }
}

// Input is the call's input of this name.
func (p *Program) Input(name string) Value {
	return Value{tensor: &pb.Tensor{Data: &pb.Tensor_Value{Value: name}}}
}

// Step adds an operator. The value is its first output.
func (p *Program) Step(name, op string, inputs StepInputs, attrs Attrs) Value {
	step := &pb.Step{Name: name, Op: op}
	for _, input := range slices.Sorted(maps.Keys(inputs)) {
		value := inputs[input]
		if value.err != nil {
			p.fail(value.err.of(op, name+"."+input))
		}
		if value.tensor == nil {
			continue
		}
		step.Inputs = append(step.Inputs, value.with(func(tensor *pb.Tensor) { tensor.Name = input }).tensor)
	}
	var err *Error
	if step.Attributes, err = attrs.messages(); err != nil {
		p.fail(err.of(op, name+"."+err.Parameter))
	}
	p.message.Steps = append(p.message.Steps, step)
	return p.Input(name)
}

// Output has the call answer a value by this name.
func (p *Program) Output(name string, value Value) {
	p.message.Outputs = append(p.message.Outputs, &pb.ProgramOutput{Name: name, Value: p.whole("outputs", value)})
}

// Gradient asks for the gradients of a value of one element with respect to inputs: that of "w" is the output "grad_w".
func (p *Program) Gradient(of Value, withRespectTo ...string) {
	p.message.Gradient = &pb.GradientRequest{Of: p.whole("gradient.of", of), WithRespectTo: slices.Clone(withRespectTo)}
}

// GradientFrom is Gradient of a value of any shape, for which the gradient that comes in is the input `seed`.
func (p *Program) GradientFrom(of Value, seed string, withRespectTo ...string) {
	p.Gradient(of, withRespectTo...)
	p.message.Gradient.Seed = seed
}

// MaxWorkspace bounds the workspace of a program whose gradients were asked for: the server computes results again where keeping
// them until the gradients read them takes more bytes. 0 is no bound.
func (p *Program) MaxWorkspace(bytes int64) {
	if p.message.Gradient == nil {
		panic("MaxWorkspace: want a program whose gradients were asked for, by Gradient or GradientFrom")
	}
	p.message.Gradient.MaxWorkspaceBytes = bytes
}

// whole is the name of a value that is no view and no constant.
func (p *Program) whole(parameter string, value Value) string {
	const want = "an input or a result of a step, which is no view and no constant"
	_, named := value.tensor.GetData().(*pb.Tensor_Value)
	if value.err != nil {
		p.fail(value.err.of(programName, parameter))
	} else if !named || len(value.tensor.Shape) > 0 || value.tensor.Scalar {
		p.fail(mistake("INVALID_PARAMETER", want, value.String()).of(programName, parameter))
	}
	return value.tensor.GetValue()
}

func (p *Program) fail(err *Error) {
	if p.err == nil {
		p.err = err
	}
}

// Output is another output of the step whose first output the value is.
func (v Value) Output(name string) Value {
	output := v.with(func(tensor *pb.Tensor) { tensor.Data = &pb.Tensor_Value{Value: tensor.GetValue() + "." + name} })
	if output.err == nil && v.tensor.GetValue() == "" {
		output.err = mistake("INVALID_PARAMETER", "a step for the output "+name, v.String())
	}
	return output
}

// Reshape is the value's elements in another shape, of which one extent may be -1; without extents a scalar.
func (v Value) Reshape(shape ...int) Value {
	reshaped := v.with(func(tensor *pb.Tensor) { tensor.Shape, tensor.Scalar = int64s(shape), len(shape) == 0 })
	if reshaped.err == nil && (len(v.tensor.Strides) > 0 || v.tensor.StorageOffset > 0) {
		reshaped.err = mistake("INVALID_PARAMETER", "a value without strides to see in another shape", v.String())
	}
	return reshaped
}

// View is the value's elements seen through strides, from the element `offset` on: a transposed matrix, a broadcast row, a slice.
func (v Value) View(shape, strides []int, offset int) Value {
	view := v.Reshape(shape...).with(func(tensor *pb.Tensor) {
		tensor.Strides, tensor.StorageOffset = int64s(strides), int64(offset)
	})
	if len(strides) != len(shape) && view.err == nil {
		view.err = mistake("SHAPE_MISMATCH", fmt.Sprintf("%d strides for the shape %v", len(shape), shape), fmt.Sprint(len(strides)))
	}
	if view.err == nil && v.tensor.GetValues() != nil {
		view.err = mistake("INVALID_PARAMETER", "a value of the program to see through strides", v.String())
	}
	return view
}

// with is a changed copy of a value. A mistake in it is the error of the calls of the program.
func (v Value) with(change func(*pb.Tensor)) Value {
	if v.tensor == nil {
		return Value{err: mistake("MISSING_PARAMETER", "a value of the program", "none")}
	}
	copied := &pb.Tensor{Dtype: v.tensor.Dtype, Shape: v.tensor.Shape, Strides: v.tensor.Strides, StorageOffset: v.tensor.StorageOffset,
		Scalar: v.tensor.Scalar, Data: v.tensor.Data}
	change(copied)
	return Value{tensor: copied, err: v.err}
}

// Constant is a tensor of these few elements, which the program holds; without a shape it is a scalar if there is one element, or
// else has one dimension.
func Constant[E Element](elements []E, shape ...int) Value {
	if len(shape) == 0 && len(elements) != 1 {
		shape = []int{len(elements)}
	}
	count, err := countOf(shape)
	if err == nil && count != len(elements) {
		err = mistake("SHAPE_MISMATCH", fmt.Sprintf("%d elements for the shape %v", count, shape), fmt.Sprint(len(elements)))
	}
	values := &pb.TensorValues{}
	for _, element := range elements {
		appendValue(values, element)
	}
	return Value{err: err, tensor: &pb.Tensor{Dtype: pb.DataType(DTypeOf[E]()), Shape: int64s(shape), Data: &pb.Tensor_Values{Values: values}}}
}

func appendValue(values *pb.TensorValues, element any) {
	switch element := element.(type) {
	case float32:
		values.Floats = append(values.Floats, float64(element))
	case float64:
		values.Floats = append(values.Floats, element)
	case Float16:
		values.Floats = append(values.Floats, float64(element.Float32()))
	case BFloat16:
		values.Floats = append(values.Floats, float64(element.Float32()))
	case bool:
		values.Bools = append(values.Bools, element)
	case uint64:
		values.Uints = append(values.Uints, element)
	case uint32:
		values.Uints = append(values.Uints, uint64(element))
	case uint16:
		values.Uints = append(values.Uints, uint64(element))
	case uint8:
		values.Uints = append(values.Uints, uint64(element))
	case int64:
		values.Ints = append(values.Ints, element)
	case int32:
		values.Ints = append(values.Ints, int64(element))
	case int16:
		values.Ints = append(values.Ints, int64(element))
	case int8:
		values.Ints = append(values.Ints, int64(element))
	}
}

// String is the value as the text of a program has it: "x", "conv.mean", "w[2,3].strides(1,2)", "f32[2]{1,2}".
func (v Value) String() string { return valueText(v.tensor) }

// String is the program as a file of `opserve program` has it: a line for each step, the gradient that it asks for, and its outputs.
func (p *Program) String() string { return programText(&p.message) }

// A ProgramPlan is a program as it runs: with the steps that compute gradients, without those on which no output depends.
type ProgramPlan struct {
	// IntermediateBytes is what the results that are no outputs would take if each had memory of its own.
	IntermediateBytes int64
	// Call can be read, changed and sent.
	Call *pb.Call
}

// String is what `opserve program show` prints: a line for each step, and the outputs. It is a program, and can be run.
func (p *ProgramPlan) String() string { return programText(p.Call.GetProgram()) }
