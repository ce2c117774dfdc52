// Training teaches a convolutional classifier on an opserve server, one message a step: the loss and its gradients come back, and
// the weights are stepped here.
//
// Usage: training [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"time"

	"opserve.dev/go/examples/internal/random"
	"opserve.dev/go/opserve"
)

const (
	batch, size, channels, classes = 32, 12, 8, 4
	features                       = channels * size / 2 * size / 2
	steps, rate                    = 40, 0.1
)

// shapes of what is learned.
var shapes = map[string][]int{"kernel": {channels, 1, 3, 3}, "gamma": {channels}, "beta": {channels}, "w": {features, classes}, "b": {classes}}

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

// model is the loss of a batch, and its gradients.
func model() *opserve.Program {
	p := opserve.NewProgram()
	conv := p.Step("conv", "Convolution", opserve.StepInputs{"input": p.Input("x"), "weight": p.Input("kernel")},
		opserve.Attrs{"stride": []int{1, 1}, "padding": []int{1, 1}, "dilation": []int{1, 1}, "output_padding": []int{0, 0}})
	norm := p.Step("norm", "GroupNorm", opserve.StepInputs{"self": conv, "gamma": p.Input("gamma"), "beta": p.Input("beta")},
		opserve.Attrs{"N": batch, "C": channels, "HxW": size * size, "group": 2})
	relu := p.Step("relu", "Relu", opserve.StepInputs{"self": norm}, nil)
	pool := p.Step("pool", "AvgPool2d", opserve.StepInputs{"self": relu},
		opserve.Attrs{"kernel_size": []int{2, 2}, "stride": []int{2, 2}, "padding": []int{0, 0}})
	scores := p.Step("scores", "Addmm",
		opserve.StepInputs{"self": p.Input("b"), "mat1": pool.Reshape(-1, features), "mat2": p.Input("w")}, nil)
	loss := p.Step("loss", "CrossEntropyLoss", opserve.StepInputs{"self": scores, "target": p.Input("classes")}, nil)
	p.Output("loss", loss)
	p.Gradient(loss, "kernel", "gamma", "beta", "w", "b")
	return p
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
	learned, program := weights(&numbers), opserve.WithProgram(model())
	for step := range steps {
		x, labels := samples(&numbers)
		inputs := opserve.Inputs{"x": opserve.TensorOf(x, batch, 1, size, size), "classes": opserve.TensorOf(labels)}
		for name, values := range learned {
			inputs[name] = opserve.TensorOf(values, shapes[name]...)
		}
		outputs, err := client.Run(ctx, "Program", inputs, nil, program)
		if err != nil {
			return err
		}
		for name, values := range learned {
			gradient, err := opserve.Values[float32](outputs["grad_"+name])
			if err != nil {
				return err
			}
			for i := range values {
				values[i] -= rate * gradient[i]
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

// weights are what learning begins with.
func weights(numbers *random.XorShift) map[string][]float32 {
	learned := map[string][]float32{}
	for name, shape := range shapes {
		count := 1
		for _, extent := range shape {
			count *= extent
		}
		learned[name] = make([]float32, count)
	}
	for i := range learned["kernel"] {
		learned["kernel"][i] = float32(numbers.Normal() / 3)
	}
	for i := range learned["w"] {
		learned["w"][i] = float32(numbers.Normal() / math.Sqrt(features))
	}
	for i := range learned["gamma"] {
		learned["gamma"][i] = 1
	}
	return learned
}

// samples are noisy pictures with stripes: across, down, and along either diagonal.
func samples(numbers *random.XorShift) (x []float32, labels []int64) {
	directions := [classes][2]int{{0, 1}, {1, 0}, {1, 1}, {1, size - 1}}
	for range batch {
		class, phase := int(numbers.Uniform()*classes), numbers.Uniform()*2*math.Pi
		labels = append(labels, int64(class))
		for i := range size * size {
			along := directions[class][0]*(i/size) + directions[class][1]*(i%size)
			x = append(x, float32(math.Sin(float64(along)*math.Pi/2+phase)+0.3*numbers.Normal()))
		}
	}
	return x, labels
}
