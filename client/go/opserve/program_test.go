package opserve_test

import (
	"errors"
	"math"
	"testing"

	"opserve.dev/go/opserve"
)

// perceptron is a loss whose value w is used twice, once through a view.
func perceptron() *opserve.Program {
	p := opserve.NewProgram()
	w := p.Input("w")
	h := p.Step("h", "Addmm", opserve.StepInputs{"self": p.Input("b"), "mat1": p.Input("x"), "mat2": w}, nil)
	a := p.Step("a", "Gelu", opserve.StepInputs{"self": h}, nil)
	y := p.Step("y", "Matmul", opserve.StepInputs{"self": a, "mat2": w.View([]int{2, 3}, []int{1, 2}, 0)}, nil)
	loss := p.Step("loss", "MseLoss", opserve.StepInputs{"self": y.Reshape(-1), "target": p.Input("t")}, opserve.Attrs{"reduction": "mean"})
	p.Output("loss", loss)
	p.Gradient(loss, "w", "b")
	return p
}

func perceptronInputs(w, b []float32) opserve.Inputs {
	return opserve.Inputs{"x": opserve.TensorOf([]float32{0.5, -1, 2, 1.5, 0.25, -0.5}, 2, 3), "w": opserve.TensorOf(w, 3, 2),
		"b": opserve.TensorOf(b, 2), "t": opserve.TensorOf([]float32{1, 0, -1, 0.5, 2, 1})}
}

func floats(t *testing.T, tensor opserve.Tensor) []float32 {
	t.Helper()
	values, err := opserve.Values[float32](tensor)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestProgramsGradientIsThatOfFiniteDifferences(t *testing.T) {
	client, program := connected(t), opserve.WithProgram(perceptron())
	w, b := []float32{0.1, -0.4, 0.7, 0.2, -0.3, 0.9}, []float32{0.05, -0.2}
	run := func() map[string]opserve.Tensor {
		outputs, err := client.Run(t.Context(), "Program", perceptronInputs(w, b), nil, program)
		if err != nil {
			t.Fatal(err)
		}
		return outputs
	}
	outputs := run()
	for name, values := range map[string][]float32{"grad_w": w, "grad_b": b} {
		gradient := floats(t, outputs[name])
		for i, value := range values {
			values[i] = value + 1e-2
			above := floats(t, run()["loss"])[0]
			values[i] = value - 1e-2
			below := floats(t, run()["loss"])[0]
			values[i] = value
			if want := (above - below) / 2e-2; math.Abs(float64(gradient[i]-want)) > 2e-3 {
				t.Errorf("%s[%d]: want %v, got %v", name, i, want, gradient[i])
			}
		}
	}
}

func TestProgramPlanAndErrors(t *testing.T) {
	client := connected(t)
	inputs := perceptronInputs(make([]float32, 6), make([]float32, 2))
	plan, err := client.Plan(t.Context(), "Program", inputs, nil, opserve.WithProgram(perceptron()))
	if err != nil || plan.Program == nil || plan.Program.IntermediateBytes <= 0 || plan.WorkspaceBytes <= 0 {
		t.Fatalf("want a plan with its program, got %+v, %v", plan, err)
	}
	t.Log(plan.Program)
	inputs["w"] = opserve.TensorOf(make([]float32, 8), 4, 2)
	_, err = client.Execute(t.Context(), "Program", inputs, nil, opserve.WithProgram(perceptron()))
	failed := checkError(t, err, "opserve: SHAPE_MISMATCH 161002: Addmm: h.mat2: want K = 3 as in mat1's shape [2, 3], got [4, 2]")
	if failed.Operator != "Addmm" || failed.Parameter != "h.mat2" {
		t.Errorf("want Addmm and h.mat2, got %s and %s", failed.Operator, failed.Parameter)
	}
}

func TestMistakesInAProgramAreErrorsOfItsCalls(t *testing.T) {
	client := connected(t)
	for i, use := range []func(opserve.Value) opserve.Value{
		func(x opserve.Value) opserve.Value { return x.View([]int{2}, []int{1}, 0).Reshape(1, 2) },
		func(x opserve.Value) opserve.Value { return x.View([]int{2}, []int{1, 1}, 0) },
		func(opserve.Value) opserve.Value { return opserve.Constant([]float32{1, 2}, 3) },
	} {
		p := opserve.NewProgram()
		p.Output("out", p.Step("s", "Relu", opserve.StepInputs{"self": use(p.Input("x"))}, nil))
		_, err := client.Execute(t.Context(), "Program", opserve.Inputs{"x": opserve.Scalar(float32(1))}, nil, opserve.WithProgram(p))
		var failed *opserve.Error
		if !errors.As(err, &failed) || failed.Operator != "Relu" || failed.Parameter != "s.self" {
			t.Errorf("mistake %d: want an error of Relu's s.self, got %v", i, err)
		}
	}
	p := opserve.NewProgram()
	p.Gradient(opserve.Constant([]float32{1}), "x")
	_, err := client.Plan(t.Context(), "Program", nil, nil, opserve.WithProgram(p))
	var failed *opserve.Error
	if !errors.As(err, &failed) || failed.Parameter != "gradient.of" {
		t.Errorf("want an error of gradient.of, got %v", err)
	}
}

func TestProgramsInABatchAndInASession(t *testing.T) {
	client := connected(t)
	inputs := perceptronInputs([]float32{0.1, -0.4, 0.7, 0.2, -0.3, 0.9}, []float32{0.05, -0.2})
	program := opserve.WithProgram(perceptron())
	results, err := client.ExecuteBatch(t.Context(), []opserve.Call{opserve.NewCall("Program", inputs, nil, program)})
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	session, err := client.OpenSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Cancel()
	buffers := opserve.DeviceInputs{}
	for name, tensor := range inputs {
		if buffers[name], err = session.Upload(t.Context(), tensor); err != nil {
			t.Fatal(err)
		}
	}
	outputs, err := session.Run(t.Context(), "Program", buffers, nil, program)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loss", "grad_w", "grad_b"} {
		got, err := session.Download(t.Context(), outputs[name])
		if err != nil {
			t.Fatal(err)
		}
		checkValues(t, got, floats(t, results[0].Outputs[name])...)
	}
}

func TestAProgramLargerThanAMessageGoesInPieces(t *testing.T) {
	client := connected(t, "--max-message-bytes", "1048576")
	p := opserve.NewProgram()
	a := p.Step("a", "Relu", opserve.StepInputs{"self": p.Input("x")}, nil)
	p.Output("sum", p.Step("sum", "Add", opserve.StepInputs{"self": a, "other": a}, nil))
	x := make([]float32, 1<<19)
	x[len(x)-1] = 2
	result, err := client.Execute(t.Context(), "Program", opserve.Inputs{"x": opserve.TensorOf(x)}, nil, opserve.WithProgram(p))
	if err != nil {
		t.Fatal(err)
	}
	if sum := floats(t, result.Outputs["sum"]); len(sum) != len(x) || sum[len(x)-1] != 4 {
		t.Errorf("want %d elements and 4 at the end, got %d", len(x), len(sum))
	}
}
