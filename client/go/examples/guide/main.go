// Guide has the lines of docs/go.md, which is tested to have no others.
//
// Usage: guide [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"opserve.dev/go/opserve"
	"opserve.dev/go/opserve/ops"
)

func main() {
	log.SetFlags(0)
	target := ""
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	if err := run(target); err != nil {
		log.Fatal(err)
	}
}

func run(target string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := opserve.Connect(ctx, target)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, part := range []func(context.Context, *opserve.Client) error{
		execute, function, tensors, options, plan, batch, program, failure, session, order,
	} {
		if err := part(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

func execute(ctx context.Context, client *opserve.Client) error {
	x := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	result, err := client.Execute(ctx, "SmoothL1LossBackward",
		opserve.Inputs{
			"grad_out": opserve.Scalar(float32(1)),
			"self":     opserve.TensorOf(x, 4, 2),
			"target":   opserve.Scalar(float32(1)),
		},
		opserve.Attrs{"reduction": "none", "beta": 1.0})
	if err != nil {
		return err
	}
	gradient, err := opserve.Values[float32](result.Outputs["grad_input"])
	if err != nil {
		return err
	}
	fmt.Println(gradient) // [-1 0 1 1 1 1 1 1]
	return nil
}

func function(ctx context.Context, client *opserve.Client) error {
	self := opserve.TensorOf([]float32{0, 1, 2, 3})
	target := opserve.TensorOf([]float32{1, 1, 1, 1})
	loss, err := ops.SmoothL1Loss(ctx, client, self, target, ops.SmoothL1LossAttrs{Beta: new(0.5)})
	if err != nil {
		return err
	}
	norm, err := ops.LayerNorm(ctx, client, self, opserve.Tensor{}, opserve.Tensor{}, ops.LayerNormAttrs{NormalizedShape: []int{4}})
	if err != nil {
		return err
	}
	fmt.Println(loss, norm.Out, norm.Mean) // f32[] f32[4] f32[1]
	return nil
}

func tensors(ctx context.Context, client *opserve.Client) error {
	half := []opserve.Float16{opserve.NewFloat16(-0.25), opserve.NewFloat16(3)}
	column := opserve.View([]float32{1, 2, 3, 4, 5, 6}, []int{3}, []int{2}, 1) // 2, 4, 6
	fmt.Println(opserve.TensorOf(half), half[1].Float32(), column)             // f16[2] 3 f32[3] of strides [2], offset 1
	return nil
}

func options(ctx context.Context, client *opserve.Client) error {
	self := opserve.TensorOf([]float32{-4, 4})
	rectified := make([]opserve.BFloat16, 2)
	result, err := client.Execute(ctx, "Relu", opserve.Inputs{"self": self}, nil,
		opserve.Into("out", rectified), opserve.OnDevice("cpu:0"), opserve.WithReport())
	if err != nil {
		return err
	}
	fmt.Println(rectified[1].Float32(), result.Execution.GetDevice()) // 4 cpu:0
	return nil
}

func plan(ctx context.Context, client *opserve.Client) error {
	spec := opserve.Spec(opserve.F32, 64, 1000)
	plan, err := client.Plan(ctx, "L1Loss", opserve.Inputs{"self": spec, "target": spec}, opserve.Attrs{"reduction": "none"})
	if err != nil {
		return err
	}
	fmt.Println(plan.Outputs["out"], plan.OutputBytes) // f32[64 1000] 256000
	return nil
}

func batch(ctx context.Context, client *opserve.Client) error {
	self := opserve.TensorOf([]float32{-4, 4})
	results, err := client.ExecuteBatch(ctx, []opserve.Call{
		opserve.NewCall("Relu", opserve.Inputs{"self": self}, nil),
		opserve.NewCall("SmoothL1Loss", opserve.Inputs{"self": self, "target": self}, opserve.Attrs{"beta": -1.0}),
	})
	if err != nil {
		return err
	}
	fmt.Println(results[0].Outputs["out"]) // f32[2]
	fmt.Println(results[1].Err)            // opserve: OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1
	return nil
}

func program(ctx context.Context, client *opserve.Client) error {
	program := opserve.NewProgram()
	x, w := program.Input("x"), program.Input("w")
	y := program.Step("y", "Matmul", opserve.StepInputs{"self": x, "mat2": w.View([]int{2, 2}, []int{1, 2}, 0)}, nil)
	loss := program.Step("loss", "MseLoss", opserve.StepInputs{"self": y.Reshape(-1), "target": program.Input("target")}, nil)
	program.Output("loss", loss)
	program.Gradient(loss, "w")
	inputs := opserve.Inputs{
		"x":      opserve.TensorOf([]float32{1, 2}, 1, 2),
		"w":      opserve.TensorOf([]float32{1, 0, 0, 1}, 2, 2),
		"target": opserve.TensorOf([]float32{0, 0}),
	}
	outputs, err := client.Run(ctx, "Program", inputs, nil, opserve.WithProgram(program))
	if err != nil {
		return err
	}
	gradient, err := opserve.Values[float32](outputs["grad_w"])
	if err != nil {
		return err
	}
	fmt.Println(gradient) // [1 2 2 4]
	return nil
}

func failure(ctx context.Context, client *opserve.Client) error {
	self := opserve.TensorOf([]float32{-4, 4})
	_, err := ops.SmoothL1Loss(ctx, client, self, self, ops.SmoothL1LossAttrs{Beta: new(-1.0)})
	var failed *opserve.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Code, failed.Parameter, failed.Want, failed.Got, failed.AclnnCode) // InvalidArgument beta >= 0 -1 161002
	}
	return nil
}

func session(ctx context.Context, client *opserve.Client) error {
	session, err := client.OpenSession(ctx)
	if err != nil {
		return err
	}
	defer session.Cancel()
	self, err := session.Upload(ctx, opserve.TensorOf([]float32{1, 6}))
	if err != nil {
		return err
	}
	executor, err := session.NewExecutor(ctx, "Hardshrink", opserve.DeviceInputs{"self": self}, opserve.Attrs{"lambd": 5.5}, nil)
	if err != nil {
		return err
	}
	for _, x := range [][]float32{{1, 6}, {7, 2}} {
		if err := session.Write(ctx, self, opserve.TensorOf(x)); err != nil {
			return err
		}
		if err := session.RunExecutor(ctx, executor); err != nil {
			return err
		}
		out, err := session.Download(ctx, executor.Outputs["out"])
		if err != nil {
			return err
		}
		values, err := opserve.Values[float32](out)
		if err != nil {
			return err
		}
		fmt.Println(values) // [0 6], then [7 0]
	}
	return session.Close()
}

func order(ctx context.Context, client *opserve.Client) error {
	session, err := client.OpenSession(ctx)
	if err != nil {
		return err
	}
	defer session.Cancel()
	stream, err := session.NewStream(ctx)
	if err != nil {
		return err
	}
	ready, err := session.NewEvent(ctx)
	if err != nil {
		return err
	}
	x, err := session.Upload(ctx, opserve.TensorOf([]float32{-1, 1}))
	if err != nil {
		return err
	}
	if err := errors.Join(session.Record(ctx, ready), stream.Wait(ctx, ready)); err != nil {
		return err
	}
	y, err := ops.Relu(ctx, stream, x)
	if err != nil {
		return err
	}
	out, err := stream.Download(ctx, y)
	if err != nil {
		return err
	}
	fmt.Println(out) // f32[2]
	return session.Close()
}

// secured is how a client connects to a server that wants TLS, a certificate and a token.
func secured(ctx context.Context, pem []byte, mine tls.Certificate, token string) (*opserve.Client, error) {
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem)
	return opserve.Connect(ctx, "dns:///gpu.example.org:8500",
		opserve.WithTLS(&tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{mine}}),
		opserve.WithToken(token))
}

var _ = secured // it needs a server that no test has
