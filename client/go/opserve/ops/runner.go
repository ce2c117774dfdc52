// Package ops has every operator as a function, with its inputs and attributes by their types:
//
//	gradInput, err := ops.SmoothL1LossBackward(ctx, client, gradOut, self, target, ops.SmoothL1LossBackwardAttrs{Beta: new(0.5)})
//
// The tensors are opserve.Tensors where a client runs the operator, and opserve.DeviceTensors where a session or one of its
// streams does. An attribute that a struct leaves out has its default.
package ops

import (
	"context"

	"opserve.dev/go/opserve"
)

// A Runner runs operators on tensors of the type T. *opserve.Client is one on opserve.Tensor; *opserve.Stream, and so
// *opserve.DeviceContext and *opserve.Session, on *opserve.DeviceTensor.
type Runner[T any] interface {
	Run(ctx context.Context, op string, inputs map[string]T, attrs opserve.Attrs, options ...opserve.CallOption) (map[string]T, error)
}

var (
	_ Runner[opserve.Tensor]        = (*opserve.Client)(nil)
	_ Runner[*opserve.DeviceTensor] = (*opserve.Session)(nil)
)

func setChoice[S ~string](values opserve.Attrs, name string, value S) {
	if value != "" {
		values[name] = string(value)
	}
}

func setOptional[V any](values opserve.Attrs, name string, value *V) {
	if value != nil {
		values[name] = *value
	}
}

func setList[V any](values opserve.Attrs, name string, value []V) {
	if value != nil {
		values[name] = value
	}
}
