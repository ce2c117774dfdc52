package opserve_test

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"opserve.dev/go/internal/testserver"
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
	inputs["w"] = opserve.TensorOf(make([]float32, 8), 4, 2)
	_, err = client.Execute(t.Context(), "Program", inputs, nil, opserve.WithProgram(perceptron()))
	failed := checkError(t, err, "opserve: SHAPE_MISMATCH 161002: Addmm: h.mat2: want K = 3 as in mat1's shape [2, 3], got [4, 2]")
	if failed.Operator != "Addmm" || failed.Parameter != "h.mat2" {
		t.Errorf("want Addmm and h.mat2, got %s and %s", failed.Operator, failed.Parameter)
	}
}

// shown is what `opserve program show` prints of a program, a file, with more arguments.
func shown(t *testing.T, target, program string, more ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.program")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("OPSERVE_BIN_DIR"), "opserve"),
		append([]string{"program", "show", file, "--target", target}, more...)...)
	var errors strings.Builder
	command.Stderr = &errors
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("opserve program show: %v: %s, of\n%s", err, errors.String(), program)
	}
	return string(printed)
}

func TestAPlanIsTheTextThatTheCommandShows(t *testing.T) {
	target := testserver.Start(t)
	client, err := opserve.Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := perceptron()
	want := shown(t, target, p.String(), "-i", "x=f32[2,3]", "-i", "w=f32[3,2]", "-i", "b=f32[2]", "-i", "t=f32[6]")
	inputs := perceptronInputs(make([]float32, 6), make([]float32, 2))
	plan, err := client.Plan(t.Context(), "Program", inputs, nil, opserve.WithProgram(p))
	if err != nil {
		t.Fatal(err)
	}
	if plan.Program.String() != want {
		t.Errorf("want\n%sgot\n%s", want, plan.Program)
	}
	for _, part := range []string{".strides(", "f32[]{1}", "dims=[0]", "reduction=1", "return loss=loss.out, grad_w="} {
		if !strings.Contains(want, part) {
			t.Errorf("want %q in\n%s", part, want)
		}
	}
}

// numbers are a thousand of any bits of each floating type, and powers of two, whose neighbours are not equally near.
func numbers() ([]float32, []float64, []opserve.Float16, []opserve.BFloat16) {
	floats, doubles, random := make([]float32, 1000), make([]float64, 1000), rand.New(rand.NewPCG(1, 2))
	halves, brains := make([]opserve.Float16, 1000), make([]opserve.BFloat16, 1000)
	for i := range floats {
		floats[i], doubles[i] = math.Float32frombits(random.Uint32()), math.Float64frombits(random.Uint64())
		halves[i], brains[i] = opserve.Float16(random.Uint32()), opserve.BFloat16(random.Uint32())
	}
	for exponent := -1074; exponent < 1024; exponent++ {
		doubles = append(doubles, math.Ldexp(1, exponent))
		floats = append(floats, float32(math.Ldexp(1, exponent)))
	}
	return floats, doubles, halves, brains
}

// literals has a step for each way that a text has numbers, views and attributes.
func literals() *opserve.Program {
	p := opserve.NewProgram()
	x := p.Input("x")
	values := map[string]opserve.Value{"a_scalar": opserve.Constant([]float32{0.1}), "b_bool": opserve.Constant([]bool{true, false}),
		"c_float":  opserve.Constant([]float32{1e5, 123456792, 0, float32(math.Copysign(0, -1)), float32(math.Inf(-1)), 1e-7, 3.4e38, 0.5}, 2, 4),
		"d_double": opserve.Constant([]float64{0.1, 123456789012345680, 1e22, math.Pi, 1e-5, 0.001, 1e100, 5e-324, math.NaN(), math.Inf(1)}),
		"e_half":   opserve.Constant([]opserve.Float16{opserve.NewFloat16(0.1), 1, 0x7BFF, opserve.NewFloat16(3.14159), 0x7C00}),
		"f_bf":     opserve.Constant([]opserve.BFloat16{opserve.NewBFloat16(0.1), 1, opserve.NewBFloat16(1e38), opserve.NewBFloat16(12345)}),
		"g_int":    opserve.Constant([]int64{math.MinInt64, 7}, 2, 1), "h_uint": opserve.Constant([]uint64{math.MaxUint64}),
		"i_byte": opserve.Constant([]uint8{255}, 1, 1, 1), "j_none": opserve.Constant([]float32{}, 0, 3),
		"k_flat": x.Reshape(-1), "l_point": x.Reshape(), "m_view": x.View([]int{3, 2}, []int{1, 3}, 1), "n_element": x.View(nil, nil, 5),
		"o_whole": x}
	floats, doubles, halves, brains := numbers()
	values["p_floats"], values["p_doubles"] = opserve.Constant(floats), opserve.Constant(doubles)
	values["p_halves"], values["p_brains"] = opserve.Constant(halves), opserve.Constant(brains)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p.Step(name, "Add", opserve.StepInputs{"self": x, "other": values[name]}, opserve.Attrs{"alpha": 0.1})
	}
	p.Step("pool", "AvgPool2d", opserve.StepInputs{"self": x},
		opserve.Attrs{"kernel_size": []int{2, 2}, "stride": []int{}, "padding": []int{0, 1}, "ceil_mode": true})
	p.Output("out", x)
	p.Output("sum", p.Step("sum", "ReduceSum", opserve.StepInputs{"self": x}, opserve.Attrs{"dims": []int{0}}))
	return p
}

func TestAProgramIsTheTextThatTheCommandReads(t *testing.T) {
	text := literals().String()
	if printed := shown(t, testserver.Start(t), text); printed != text {
		t.Errorf("want\n%sgot\n%s", printed, text)
	}
	p := opserve.NewProgram()
	p.GradientFrom(p.Step("y", "Relu", opserve.StepInputs{"self": p.Input("x")}, nil).Output("out"), "dy", "x", "w")
	p.MaxWorkspace(4096)
	if want := "y = Relu(self=x)\ngradient y.out: x, w seed dy within 4096\nreturn \n"; p.String() != want {
		t.Errorf("want %q, got %q", want, p)
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

// TestThePageOfPrograms runs the lines that docs/programs.md has for Go.
func TestThePageOfPrograms(t *testing.T) {
	ctx, client := t.Context(), connected(t)
	inputs := opserve.Inputs{"x": opserve.TensorOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3), "w": opserve.TensorOf(make([]float32, 6), 3, 2),
		"b": opserve.TensorOf([]float32{0, 0}), "classes": opserve.TensorOf([]int64{0, 1})}

	program := opserve.NewProgram()
	h := program.Step("h", "Addmm", opserve.StepInputs{"self": program.Input("b"), "mat1": program.Input("x"), "mat2": program.Input("w")}, nil)
	loss := program.Step("loss", "CrossEntropyLoss", opserve.StepInputs{"self": h, "target": program.Input("classes")}, nil)
	program.Output("loss", loss)
	program.Gradient(loss, "w", "b")
	outputs, err := client.Run(ctx, "Program", inputs, nil, opserve.WithProgram(program)) // loss, grad_w, grad_b

	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, outputs["loss"], float32(math.Ln2))
	checkValues(t, outputs["grad_b"], float32(0), 0)
	checkValues(t, outputs["grad_w"], float32(0.75), -0.75, 0.75, -0.75, 0.75, -0.75)
	page, err := os.ReadFile("../../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("program_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	if !found || !strings.Contains(words(string(source)), words(block)) {
		t.Errorf("docs/programs.md has lines that this test has not:\n%s", block)
	}
}
