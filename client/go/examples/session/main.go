// Session keeps tensors on an opserve server: GroupNorm, then its gradient; CtcLoss, then its gradient. What a forward call
// leaves for the backward one (mean, rstd; log_alpha) never leaves the device.
//
// Usage: session [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
package main

import (
	"context"
	"fmt"
	"log"
	"math"
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
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := opserve.Connect(ctx, target)
	if err != nil {
		return err
	}
	defer client.Close()
	session, err := client.OpenSession(ctx)
	if err != nil {
		return err
	}
	defer session.Cancel()
	if err := groupNorm(ctx, session); err != nil {
		return err
	}
	if err := ctcLoss(ctx, session); err != nil {
		return err
	}
	return session.Close()
}

func groupNorm(ctx context.Context, session *opserve.Session) error {
	x, err := session.Upload(ctx, opserve.TensorOf([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 1, 4, 2))
	if err != nil {
		return err
	}
	gamma, err := session.Upload(ctx, opserve.TensorOf([]float32{1, 1, 1, 1}))
	if err != nil {
		return err
	}
	grad, err := session.Upload(ctx, opserve.TensorOf([]float32{1, 0, 0, 0, 0, 2, 0, 0}, 1, 4, 2))
	if err != nil {
		return err
	}
	forward, err := ops.GroupNorm(ctx, session, x, gamma, nil, ops.GroupNormAttrs{N: 1, C: 4, HxW: 2, Group: 2})
	if err != nil {
		return err
	}
	backward, err := ops.GroupNormBackward(ctx, session, grad, x, forward.Mean, forward.Rstd, gamma,
		ops.GroupNormBackwardAttrs{N: 1, C: 4, HxW: 2, Group: 2})
	if err != nil {
		return err
	}
	return show(ctx, session, []named{{"out", forward.Out}, {"grad_input", backward.GradInput},
		{"grad_gamma", backward.GradGamma}, {"grad_beta", backward.GradBeta}})
}

func ctcLoss(ctx context.Context, session *opserve.Session) error {
	logProbs, err := session.NewTensor(ctx, opserve.F32, 3, 1, 3)
	if err != nil {
		return err
	}
	if err := session.Fill(ctx, logProbs, opserve.Scalar(float32(math.Log(1.0/3)))); err != nil {
		return err
	}
	targets, err := session.Upload(ctx, opserve.TensorOf([]int64{2}, 1, 1))
	if err != nil {
		return err
	}
	forward, err := ops.CtcLoss(ctx, session, logProbs, targets, ops.CtcLossAttrs{InputLengths: []int{3}, TargetLengths: []int{1}})
	if err != nil {
		return err
	}
	gradOut, err := session.Upload(ctx, opserve.TensorOf([]float32{1}))
	if err != nil {
		return err
	}
	grad, err := ops.CtcLossBackward(ctx, session, gradOut, logProbs, targets, forward.NegLogLikelihood, forward.LogAlpha,
		ops.CtcLossBackwardAttrs{InputLengths: []int{3}, TargetLengths: []int{1}})
	if err != nil {
		return err
	}
	return show(ctx, session, []named{{"neg_log_likelihood", forward.NegLogLikelihood}, {"grad", grad}})
}

type named struct {
	name   string
	tensor *opserve.DeviceTensor
}

func show(ctx context.Context, session *opserve.Session, outputs []named) error {
	for _, output := range outputs {
		came, err := session.Download(ctx, output.tensor)
		if err != nil {
			return err
		}
		values, err := opserve.Values[float32](came)
		if err != nil {
			return err
		}
		fmt.Print(output.name)
		for _, value := range values {
			fmt.Printf(" %.3f", value)
		}
		fmt.Println()
	}
	return nil
}
