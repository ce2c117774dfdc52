// Recogniser teaches a network to read strings of characters with CTC on an opserve server, one message a step: the loss and its
// gradients come back, and the weights are stepped here.
//
// Usage: recogniser [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"time"

	"opserve.dev/go/examples/internal/random"
	"opserve.dev/go/opserve"
)

const (
	characters, length, eachLasts = 6, 5, 4 // strings of five out of six characters, each of which lasts four frames
	batch, features, frames       = 16, 8, length * eachLasts
	channels, classes             = 32, 1 + characters // class 0 is CTC's blank
	steps, rate, noise            = 50, 0.1, 0.3
)

// model is the mean loss of a batch, and its gradients.
func model() *opserve.Program {
	p := opserve.NewProgram()
	convolution := func(input opserve.Value, weight, bias string, padding int) opserve.Value {
		return p.Step("of_"+weight, "Convolution", opserve.StepInputs{"input": input, "weight": p.Input(weight), "bias": p.Input(bias)},
			opserve.Attrs{"stride": []int{1}, "padding": []int{padding}, "dilation": []int{1}, "output_padding": []int{0}})
	}
	norm := p.Step("norm", "GroupNorm",
		opserve.StepInputs{"self": convolution(p.Input("x"), "kernel", "bias", 2), "gamma": p.Input("gamma"), "beta": p.Input("beta")},
		opserve.Attrs{"N": batch, "C": channels, "HxW": frames, "group": 4})
	relu := p.Step("relu", "Relu", opserve.StepInputs{"self": norm}, nil)
	scores := p.Step("scores", "Permute", opserve.StepInputs{"self": convolution(relu, "last_kernel", "last_bias", 1)},
		opserve.Attrs{"dims": []int{2, 0, 1}}) // frames, batch, classes
	logProbs := p.Step("log_probs", "LogSoftmax", opserve.StepInputs{"self": scores}, opserve.Attrs{"dim": 2})
	losses := p.Step("losses", "CtcLoss", opserve.StepInputs{"log_probs": logProbs, "targets": p.Input("strings")}, opserve.Attrs{
		"input_lengths": slices.Repeat([]int{frames}, batch), "target_lengths": slices.Repeat([]int{length}, batch)})
	loss := p.Step("loss", "Mean", opserve.StepInputs{"self": losses}, opserve.Attrs{"dim": []int{0}})
	p.Output("loss", loss)
	p.Gradient(loss, "kernel", "bias", "gamma", "beta", "last_kernel", "last_bias")
	return p
}

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
	numbers := random.XorShift(1)
	patterns := numbers.Normals(classes*features, 1)
	learned, program := weights(&numbers), opserve.WithProgram(model())
	for step := range steps {
		x, strings := samples(&numbers, patterns)
		inputs := opserve.Inputs{"x": opserve.TensorOf(x, batch, features, frames), "strings": opserve.TensorOf(strings, batch, length)}
		for name, each := range learned {
			inputs[name] = opserve.TensorOf(each.values, each.shape...)
		}
		outputs, err := client.Run(ctx, "Program", inputs, nil, program)
		if err != nil {
			return err
		}
		for name, each := range learned {
			gradient, err := opserve.Values[float32](outputs["grad_"+name])
			if err != nil {
				return err
			}
			for i := range each.values {
				each.values[i] -= rate * gradient[i]
			}
		}
		if loss, err := opserve.Values[float32](outputs["loss"]); err != nil {
			return err
		} else if step%10 == 0 || step == steps-1 {
			fmt.Printf("step %d loss %.4f\n", step, loss[0])
		}
	}
	return nil
}

type weight struct {
	values []float32
	shape  []int
}

// weights are what learning begins with.
func weights(numbers *random.XorShift) map[string]weight {
	return map[string]weight{
		"kernel":      {numbers.Normals(channels*features*5, 1/math.Sqrt(features*5)), []int{channels, features, 5}},
		"bias":        {make([]float32, channels), []int{channels}},
		"gamma":       {slices.Repeat([]float32{1}, channels), []int{channels}},
		"beta":        {make([]float32, channels), []int{channels}},
		"last_kernel": {numbers.Normals(classes*channels*3, 1/math.Sqrt(channels*3)), []int{classes, channels, 3}},
		"last_bias":   {make([]float32, classes), []int{classes}},
	}
}

// samples are strings of characters, and their frames: noisy copies of the characters' patterns, features first.
func samples(numbers *random.XorShift, patterns []float32) (x []float32, strings []int64) {
	x = make([]float32, batch*features*frames)
	for n := range batch {
		for i := range length {
			character := 1 + int(numbers.Uniform()*characters)
			strings = append(strings, int64(character))
			for frame := i * eachLasts; frame < (i+1)*eachLasts; frame++ {
				for f := range features {
					x[(n*features+f)*frames+frame] = patterns[character*features+f] + float32(noise*numbers.Normal())
				}
			}
		}
	}
	return x, strings
}
