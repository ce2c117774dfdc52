package ops_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"opserve.dev/go/opserve"
	"opserve.dev/go/opserve/ops"
)

// A recorder remembers a call, and answers with the names of what was asked.
type recorder struct {
	op     string
	inputs map[string]string
	attrs  opserve.Attrs
	err    error
}

func (r *recorder) Run(_ context.Context, op string, inputs map[string]string, attrs opserve.Attrs, _ ...opserve.CallOption) (map[string]string, error) {
	r.op, r.inputs, r.attrs = op, inputs, attrs
	return map[string]string{"out": "O", "mean": "M", "rstd": "R", "grad_input": "G"}, r.err
}

func checkCall(t *testing.T, got *recorder, op string, inputs map[string]string, attrs opserve.Attrs) {
	t.Helper()
	if got.op != op || !reflect.DeepEqual(got.inputs, inputs) || !reflect.DeepEqual(got.attrs, attrs) {
		t.Errorf("got %s of %v with %#v", got.op, got.inputs, got.attrs)
	}
}

func TestWhatFunctionsCall(t *testing.T) {
	ctx, on := t.Context(), &recorder{}
	out, err := ops.Relu(ctx, on, "x")
	if out != "O" || err != nil {
		t.Errorf("got %v, %v", out, err)
	}
	checkCall(t, on, "Relu", map[string]string{"self": "x"}, nil)

	gradient, _ := ops.SmoothL1LossBackward(ctx, on, "g", "x", "y", ops.SmoothL1LossBackwardAttrs{})
	if gradient != "G" {
		t.Errorf("got %v", gradient)
	}
	checkCall(t, on, "SmoothL1LossBackward", map[string]string{"grad_out": "g", "self": "x", "target": "y"}, opserve.Attrs{})
	_, _ = ops.SmoothL1LossBackward(ctx, on, "g", "x", "y", ops.SmoothL1LossBackwardAttrs{Reduction: ops.ReductionNone, Beta: new(0.0)})
	checkCall(t, on, "SmoothL1LossBackward", map[string]string{"grad_out": "g", "self": "x", "target": "y"},
		opserve.Attrs{"reduction": "none", "beta": 0.0})

	norm, _ := ops.LayerNorm(ctx, on, "x", "", "b", ops.LayerNormAttrs{NormalizedShape: []int{2}})
	if norm != (ops.LayerNormOutputs[string]{Out: "O", Mean: "M", Rstd: "R"}) {
		t.Errorf("got %v", norm)
	}
	checkCall(t, on, "LayerNorm", map[string]string{"input": "x", "weight": "", "bias": "b"}, opserve.Attrs{"normalized_shape": []int{2}})

	_, _ = ops.GroupNormBackward(ctx, on, "g", "x", "m", "r", "", ops.GroupNormBackwardAttrs{N: 1, C: 4, HxW: 2, Group: 2,
		OutputMask: []bool{true, false, false}})
	checkCall(t, on, "GroupNormBackward", map[string]string{"grad_out": "g", "input": "x", "mean": "m", "rstd": "r", "gamma": ""},
		opserve.Attrs{"N": 1, "C": 4, "HxW": 2, "group": 2, "output_mask": []bool{true, false, false}})

	_, _ = ops.Cast(ctx, on, "x", ops.CastAttrs{DType: ops.DTypeBfloat16})
	checkCall(t, on, "Cast", map[string]string{"self": "x"}, opserve.Attrs{"dtype": "bfloat16"})
}

func TestErrorsAreGivenOn(t *testing.T) {
	on := &recorder{err: errors.New("no")}
	if _, err := ops.Relu(t.Context(), on, "x"); err != on.err { //nolint:errorlint // it is given on as it is
		t.Errorf("got %v", err)
	}
}
