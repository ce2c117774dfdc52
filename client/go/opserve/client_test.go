package opserve_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"opserve.dev/go/internal/testserver"
	"opserve.dev/go/opserve"
)

func connected(t testing.TB, flags ...string) *opserve.Client {
	t.Helper()
	client, err := opserve.Connect(t.Context(), testserver.Start(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func counted(count int) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = float32(i)
	}
	return values
}

func checkValues[E opserve.Element](t *testing.T, tensor opserve.Tensor, want ...E) {
	t.Helper()
	got, err := opserve.Values[E](tensor)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("want %v, got %v, %v", want, got, err)
	}
}

func checkError(t *testing.T, err error, want string) *opserve.Error {
	t.Helper()
	var failed *opserve.Error
	if !errors.As(err, &failed) || failed.Error() != want {
		t.Fatalf("want %q, got %v", want, err)
	}
	return failed
}

// sample is the first call of the README.
func sample() (opserve.Inputs, opserve.Attrs) {
	ones := opserve.TensorOf([]float32{1, 1, 1, 1, 1, 1, 1, 1}, 4, 2)
	return opserve.Inputs{"grad_out": opserve.Scalar(float32(1)), "self": opserve.TensorOf(counted(8), 4, 2), "target": ones},
		opserve.Attrs{"reduction": "none", "beta": 1.0}
}

func TestExecute(t *testing.T) {
	client := connected(t)
	for name, test := range map[string]func(*testing.T, *opserve.Client){
		"a gradient": gradient,
		"in another dtype, into memory of the caller":         gradientInAnotherDType,
		"float16, a view, an optional input that is left out": halfFloatsAndViews,
		"an error":                   refusedCall,
		"mistakes that are not sent": mistakesOfCalls,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
}

func gradient(t *testing.T, client *opserve.Client) {
	inputs, attrs := sample()
	result, err := client.Execute(t.Context(), "SmoothL1LossBackward", inputs, attrs, opserve.WithReport(), opserve.OnDevice("cpu:0"))
	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, result.Outputs["grad_input"], float32(-1), 0, 1, 1, 1, 1, 1, 1)
	if !slices.Equal(result.Outputs["grad_input"].Shape(), []int{4, 2}) || !slices.Equal(result.Names, []string{"grad_input"}) {
		t.Errorf("got %v", result)
	}
	if result.Execution.GetDevice() != "cpu:0" {
		t.Errorf("executed as %v", result.Execution)
	}
}

func gradientInAnotherDType(t *testing.T, client *opserve.Client) {
	inputs, attrs := sample()
	into := make([]opserve.BFloat16, 8)
	result, err := client.Execute(t.Context(), "SmoothL1LossBackward", inputs, attrs, opserve.Into("grad_input", into))
	if err != nil || into[0].Float32() != -1 || into[7].Float32() != 1 {
		t.Fatalf("got %v, %v", into, err)
	}
	if values, err := opserve.Values[opserve.BFloat16](result.Outputs["grad_input"]); err != nil || &values[0] != &into[0] {
		t.Errorf("got %v, %v", values, err)
	}
	_, err = client.Execute(t.Context(), "SmoothL1LossBackward", inputs, attrs, opserve.Into("grad_input", into[1:]))
	checkError(t, err, "opserve: SHAPE_MISMATCH 161002: SmoothL1LossBackward: grad_input: want 8 elements for the output, got 7")
}

func halfFloatsAndViews(t *testing.T, client *opserve.Client) {
	half := []opserve.Float16{opserve.NewFloat16(0.25), opserve.NewFloat16(-3), opserve.NewFloat16(2)}
	result, err := client.Execute(t.Context(), "Hardshrink", opserve.Inputs{"self": opserve.View(half, []int{2}, []int{2}, 0),
		"nothing": {}}, opserve.Attrs{"lambd": 0.5}, opserve.OutputAs("out", opserve.F32))
	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, result.Outputs["out"], float32(0), 2)
}

func refusedCall(t *testing.T, client *opserve.Client) {
	inputs, _ := sample()
	_, err := client.Execute(t.Context(), "SmoothL1LossBackward", inputs, opserve.Attrs{"beta": -1})
	failed := checkError(t, err, "opserve: OUT_OF_RANGE 161002: SmoothL1LossBackward: beta: want >= 0, got -1")
	if failed.Code != codes.InvalidArgument || failed.Reason != "OUT_OF_RANGE" || failed.AclnnCode != 161002 ||
		failed.Operator != "SmoothL1LossBackward" || failed.Parameter != "beta" || failed.Want != ">= 0" || failed.Got != "-1" {
		t.Errorf("got %+v", failed)
	}
}

func mistakesOfCalls(t *testing.T, client *opserve.Client) {
	_, err := client.Execute(t.Context(), "Relu", opserve.Inputs{"self": opserve.TensorOf(counted(3), 4)}, nil)
	checkError(t, err, "opserve: SHAPE_MISMATCH 161002: Relu: self: want 4 elements for the shape [4], got 3")
	_, err = client.Execute(t.Context(), "Relu", opserve.Inputs{"self": opserve.Spec(opserve.F32, 4)}, nil)
	checkError(t, err, "opserve: MISSING_PARAMETER 161001: Relu: self: want a tensor with elements, got the Spec f32[4]")
	_, err = client.Execute(t.Context(), "Relu\xff", nil, nil)
	checkError(t, err, `opserve: INVALID_PARAMETER 161002: operator: want a text in UTF-8, got Relu\xff`)
}

func TestExecuteBatch(t *testing.T) {
	client := connected(t)
	self := opserve.TensorOf([]float32{-1, 2})
	results, err := client.ExecuteBatch(t.Context(), []opserve.Call{
		opserve.NewCall("Relu", opserve.Inputs{"self": self}, nil),
		opserve.NewCall("SmoothL1Loss", opserve.Inputs{"self": self, "target": self}, opserve.Attrs{"beta": -1.0}),
	})
	if err != nil || len(results) != 2 {
		t.Fatalf("%v, %v", results, err)
	}
	checkValues(t, results[0].Outputs["out"], float32(0), 2)
	checkError(t, results[1].Err, "opserve: OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1")
	if none, err := client.ExecuteBatch(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	_, err = client.ExecuteBatch(t.Context(), []opserve.Call{opserve.NewCall("Relu", nil, nil), opserve.NewCall("Relu",
		opserve.Inputs{"self": opserve.TensorOf(counted(1), 2)}, nil)})
	checkError(t, err, "opserve: SHAPE_MISMATCH 161002: call 1: Relu: self: want 2 elements for the shape [2], got 1")
}

func TestPlanAndDiscovery(t *testing.T) {
	client := connected(t)
	spec := opserve.Spec(opserve.F32, 64, 1000)
	plan, err := client.Plan(t.Context(), "L1Loss", opserve.Inputs{"self": spec, "target": spec}, opserve.Attrs{"reduction": "none"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.OutputBytes != 256000 || plan.Outputs["out"].String() != "f32[64 1000]" || plan.Device != "cpu:0" || plan.Expected <= 0 {
		t.Errorf("got %+v", plan)
	}
	operators, err := client.Operators(t.Context())
	if err != nil || len(operators) < 100 {
		t.Errorf("%d operators, %v", len(operators), err)
	}
	one, err := client.Operators(t.Context(), "Relu")
	if err != nil || len(one) != 1 || one[0].GetInputs()[0].GetName() != "self" {
		t.Errorf("got %v, %v", one, err)
	}
	if _, err = client.Operators(t.Context(), "Rely"); err == nil || !strings.Contains(err.Error(), "OPERATOR_NOT_FOUND") {
		t.Errorf("got %v", err)
	}
	devices, err := client.Devices(t.Context())
	if err != nil || len(devices) != 1 || devices[0].GetName() != "cpu:0" {
		t.Errorf("got %v, %v", devices, err)
	}
	statistics, err := client.Statistics(t.Context())
	if err != nil || statistics.GetUptimeNs() <= 0 {
		t.Errorf("got %v, %v", statistics, err)
	}
}

func TestDefaultTargets(t *testing.T) {
	address := testserver.Start(t)
	t.Setenv("OPSERVE_TARGET", address)
	client, err := opserve.Connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	client, err = opserve.Connect(t.Context(), "dns:///"+address)
	if err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
}

func TestUnixSockets(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	testserver.Start(t, "--listen", "unix:"+socket)
	client, err := opserve.Connect(t.Context(), "unix:"+socket, opserve.WithToken("not looked at"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	result, err := client.Execute(t.Context(), "Relu", opserve.Inputs{"self": opserve.Scalar(float32(math.Inf(1)))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkValues(t, result.Outputs["out"], float32(math.Inf(1)))
}

func TestCallsThatAreLargerThanAMessage(t *testing.T) {
	client := connected(t, "--max-message-bytes", "1MiB")
	self := counted(1 << 20)
	self[7] = -7
	result, err := client.Execute(t.Context(), "Relu", opserve.Inputs{"self": opserve.TensorOf(self)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	self[7] = 0
	checkValues(t, result.Outputs["out"], self...)
	t.Run("an output alone", func(t *testing.T) {
		large := opserve.View([]float32{3}, []int{1 << 10, 1 << 10}, []int{0, 0}, 0)
		into := make([]opserve.Float16, 1<<20)
		_, err := client.Execute(t.Context(), "Relu", opserve.Inputs{"self": large}, nil, opserve.Into("out", into))
		if err != nil || into[1<<20-1].Float32() != 3 {
			t.Errorf("got %v, %v", into[:1], err)
		}
	})
	t.Run("an error", func(t *testing.T) {
		_, err := client.Execute(t.Context(), "Relu", opserve.Inputs{"self": opserve.TensorOf(self), "x": opserve.TensorOf(self)}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "opserve: UNKNOWN_PARAMETER 161002: Relu: x: want ") {
			t.Errorf("got %v", err)
		}
	})
}
