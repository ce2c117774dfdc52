package opserve_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"opserve.dev/go/opserve"
)

func opened(t *testing.T, client *opserve.Client) *opserve.Session {
	t.Helper()
	session, err := client.OpenSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Cancel)
	return session
}

// ok is a value without an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func downloaded(t *testing.T, stream *opserve.Stream, tensor *opserve.DeviceTensor, want ...float32) {
	t.Helper()
	came, err := stream.Download(t.Context(), tensor)
	check(t, err)
	checkValues(t, came, want...)
}

func TestSession(t *testing.T) {
	client := connected(t)
	for name, test := range map[string]func(*testing.T, *opserve.Client){
		"an executor that runs twice":                       executorRunsTwice,
		"fill, copy, an output of one's own, another dtype": fillAndCopy,
		"streams and events":                                streamsAndEvents,
		"goroutines":                                        goroutines,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
}

func executorRunsTwice(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	self := tensor(session.Upload(ctx, opserve.TensorOf([]float32{-1, 2, 3, 4}, 2, 2)))
	executor, err := session.NewExecutor(ctx, "Hardshrink", opserve.DeviceInputs{"self": self, "none": nil}, opserve.Attrs{"lambd": 2.5}, nil)
	check(t, err)
	check(t, session.RunExecutor(ctx, executor))
	downloaded(t, session.Stream, executor.Outputs["out"], 0, 0, 3, 4)
	check(t, session.Write(ctx, self, opserve.TensorOf([]float32{5, 0, 0, 0}, 2, 2)))
	check(t, session.RunExecutor(ctx, executor))
	downloaded(t, session.Stream, executor.Outputs["out"], 5, 0, 0, 0)
	check(t, executor.Destroy(ctx))
	check(t, self.Free(ctx))
	check(t, session.Close())
}

func fillAndCopy(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	ones, other := tensor(session.NewTensor(ctx, opserve.F32, 3)), tensor(session.NewTensor(ctx, opserve.F32, 3))
	downloaded(t, session.Stream, other, 0, 0, 0)
	check(t, session.Fill(ctx, ones, opserve.Scalar(float32(-1))))
	check(t, session.Copy(ctx, other, ones))
	downloaded(t, session.Stream, other, -1, -1, -1)
	into := make([]float32, 3)
	check(t, opserve.DownloadInto(ctx, session.Stream, other, into))
	if into[2] != -1 {
		t.Errorf("got %v", into)
	}
	half := tensor(session.NewTensor(ctx, opserve.F16, 3))
	executor, err := session.NewExecutor(ctx, "Sub", opserve.DeviceInputs{"self": ones, "other": ones}, nil,
		map[string]*opserve.DeviceTensor{"out": half}, opserve.OutputAs("out", opserve.F16))
	check(t, err)
	check(t, session.RunExecutor(ctx, executor))
	came, err := session.Download(ctx, half)
	check(t, err)
	checkValues(t, came, opserve.Float16(0), 0, 0)
	check(t, session.Close())
}

func streamsAndEvents(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	device, err := session.NewContext(ctx, "cpu:0")
	check(t, err)
	other, err := device.NewStream(ctx)
	check(t, err)
	start, err := device.NewEvent(ctx)
	check(t, err)
	end, err := device.NewEvent(ctx)
	check(t, err)
	check(t, device.Record(ctx, start))
	self := tensor(device.Upload(ctx, opserve.TensorOf(counted(100000))))
	check(t, device.Record(ctx, end))
	check(t, other.Wait(ctx, end))
	outputs, err := other.WithTimeout(time.Minute).Run(ctx, "Relu", map[string]*opserve.DeviceTensor{"self": self}, nil)
	check(t, err)
	downloaded(t, other, outputs["out"], counted(100000)...)
	check(t, end.Synchronize(ctx))
	if reached, err := end.Reached(ctx); err != nil || !reached {
		t.Errorf("reached %v, %v", reached, err)
	}
	if took, err := end.Since(ctx, start); err != nil || took < 0 {
		t.Errorf("took %v, %v", took, err)
	}
	check(t, other.Synchronize(ctx))
	check(t, device.SynchronizeAll(ctx))
	if idle, err := other.Idle(ctx); err != nil || !idle {
		t.Errorf("idle %v, %v", idle, err)
	}
	memory, err := device.Memory(ctx)
	if err != nil || memory.GetUsedBytes() < 400000 || session.Info().GetMemoryLimitBytes() <= 0 || session.Draining() {
		t.Errorf("%v, %v", memory, err)
	}
	check(t, start.Destroy(ctx))
	check(t, other.Destroy(ctx))
	check(t, device.Destroy(ctx))
	check(t, session.Close())
}

func goroutines(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	session := opened(t, client)
	var group sync.WaitGroup
	for number := range 8 {
		group.Go(func() {
			stream, err := session.NewStream(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				self, err := stream.Upload(ctx, opserve.Scalar(float32(number)))
				if err != nil {
					t.Error(err)
					return
				}
				outputs, err := stream.Run(ctx, "Add", map[string]*opserve.DeviceTensor{"self": self, "other": self}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if came, err := stream.Download(ctx, outputs["out"]); err != nil || !slices.Equal(came.Bytes(), opserve.Scalar(float32(2*number)).Bytes()) {
					t.Errorf("got %v, %v", came, err)
				}
			}
		})
	}
	group.Wait()
	check(t, session.Close())
}

// failing gives a command that fails in its stream's turn: the labels of CtcLoss are looked at when it runs.
func failing(t *testing.T, session *opserve.Session) (*opserve.DeviceTensor, error) {
	t.Helper()
	ctx, tensor := t.Context(), ok[*opserve.DeviceTensor](t)
	logProbs := tensor(session.NewTensor(ctx, opserve.F32, 3, 1, 3))
	targets := tensor(session.Upload(ctx, opserve.TensorOf([]int64{99}, 1, 1)))
	outputs, err := session.Run(ctx, "CtcLoss", map[string]*opserve.DeviceTensor{"log_probs": logProbs, "targets": targets},
		opserve.Attrs{"input_lengths": []int{3}, "target_lengths": []int{1}})
	return outputs["neg_log_likelihood"], err
}

func TestFailuresOfASession(t *testing.T) {
	client := connected(t)
	for name, test := range map[string]func(*testing.T, *opserve.Client){
		"is told where a result is waited for, with the place, and then the stream goes on": failureIsTold,
		"does not concern another stream": otherStreamGoesOn,
		"is told by Close":                closeTellsFailures,
		"mistakes that are not sent":      mistakesInASession,
	} {
		t.Run(name, func(t *testing.T) { test(t, client) })
	}
}

func failureIsTold(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	loss, err := failing(t, session)
	check(t, err)
	behind := tensor(session.Upload(ctx, opserve.TensorOf([]float32{1})))
	_, err = session.Download(ctx, loss)
	var failed *opserve.Error
	if !errors.As(err, &failed) || failed.Operator != "CtcLoss" || failed.Parameter != "targets" || failed.Command == 0 ||
		!strings.HasPrefix(failed.Place, "session_test.go:") {
		t.Fatalf("got %#v, %v", failed, err)
	}
	check(t, session.Write(ctx, behind, opserve.TensorOf([]float32{2})))
	downloaded(t, session.Stream, behind, 2)
	check(t, session.Close())
}

func otherStreamGoesOn(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	other, err := session.NewStream(ctx)
	check(t, err)
	_, err = failing(t, session)
	check(t, err)
	downloaded(t, other, tensor(other.Upload(ctx, opserve.TensorOf([]float32{3}))), 3)
	if err := session.Synchronize(ctx); err == nil || !strings.Contains(err.Error(), "CtcLoss: targets: want ") {
		t.Errorf("got %v", err)
	}
	check(t, session.Synchronize(ctx))
	check(t, session.Close())
}

func closeTellsFailures(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	session := opened(t, client)
	_, err := failing(t, session)
	check(t, err)
	if err := session.Close(); err == nil || !strings.Contains(err.Error(), "CtcLoss: targets: want ") {
		t.Errorf("got %v", err)
	}
	_, err = session.NewTensor(ctx, opserve.F32, 1)
	checkError(t, err, "opserve: Canceled: the session is closed")
}

func mistakesInASession(t *testing.T, client *opserve.Client) {
	ctx := t.Context()
	tensor := ok[*opserve.DeviceTensor](t)
	session := opened(t, client)
	four := tensor(session.NewTensor(ctx, opserve.F32, 4))
	checkError(t, session.Write(ctx, four, opserve.TensorOf([]float32{1})),
		"opserve: SHAPE_MISMATCH 161002: want a tensor like f32[4], got f32[1]")
	even := tensor(session.Upload(ctx, opserve.View(counted(6), []int{3}, []int{2}, 0)))
	checkError(t, session.Write(ctx, even, opserve.View(counted(6), []int{3}, []int{2}, 1)),
		"opserve: SHAPE_MISMATCH 161002: want a tensor like f32[3] of strides [2], offset 0, got f32[3] of strides [2], offset 1")
	checkError(t, session.Fill(ctx, four, opserve.Scalar(1.0)), "opserve: DTYPE_UNSUPPORTED 161002: want a scalar of f32, got f64[]")
	checkError(t, opserve.DownloadInto(ctx, session.Stream, four, []float32{1}),
		"opserve: SHAPE_MISMATCH 161002: want 4 elements of f32, got 1 of f32")
	_, err := session.Run(ctx, "Relu", map[string]*opserve.DeviceTensor{"self": four}, nil, opserve.Into("out", counted(4)))
	checkError(t, err, "opserve: INVALID_PARAMETER 161002: Relu: out: want a tensor on the device, or DownloadInto, got Into")
	_, err = session.Run(ctx, "Relu", nil, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "opserve: MISSING_PARAMETER 161001: Relu: self: want ") {
		t.Errorf("got %v", err)
	}
	check(t, session.Close())
}

func TestDeadlinesOfASession(t *testing.T) {
	client := connected(t)
	t.Run("of a wait", func(t *testing.T) {
		session := opened(t, client)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := session.Synchronize(over); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		check(t, session.Close())
	})
	t.Run("of the session", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		session, err := client.OpenSession(ctx)
		check(t, err)
		cancel()
		session.Cancel()
		if err := session.Synchronize(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
