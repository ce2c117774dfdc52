// Gradient computes a gradient on an opserve server.
//
// Usage: gradient [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"opserve.dev/go/opserve"
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
	ones := opserve.TensorOf([]float32{1, 1, 1, 1, 1, 1, 1, 1}, 4, 2)
	self := opserve.TensorOf([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 4, 2)
	result, err := client.Execute(ctx, "SmoothL1LossBackward",
		opserve.Inputs{"grad_out": ones, "self": self, "target": ones},
		opserve.Attrs{"reduction": "none", "beta": 1.0})
	if err != nil {
		return err
	}
	for _, name := range result.Names {
		values, err := opserve.Values[float32](result.Outputs[name])
		if err != nil {
			return err
		}
		fmt.Print(name)
		for _, value := range values {
			fmt.Printf(" %g", value)
		}
		fmt.Println()
	}
	return nil
}
