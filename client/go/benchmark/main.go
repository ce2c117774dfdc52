// Benchmark measures the package beside bare grpc-go: calls of 8 floats a second, one by one and 16 at a time, and bytes a
// second at 16 MiB each way.
//
// Usage: benchmark [TARGET]     (default $OPSERVE_TARGET, or else localhost:8500)
//
// Run it on an idle machine, against a release build. Bare grpc-go sends the same message, made once, to the same server with the
// same timeout, and has the answer's bytes in one slice, of which it reads nothing. The two take turns; the medians are printed.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"opserve.dev/go/opserve"
	pb "opserve.dev/go/opserve/v1"
)

const (
	roundTime = time.Second
	rounds    = 5
	timeout   = time.Minute
	inFlight  = 16
	small     = 8
	large     = 4 << 20
	method    = "/opserve.v1.OperatorService/Execute"
)

// bare is a codec of bytes that were made before, and of answers as bytes.
type bare struct{}

func (bare) Name() string { return "proto" }

func (bare) Marshal(message any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(message.([]byte))}, nil
}

func (bare) Unmarshal(data mem.BufferSlice, message any) error {
	*message.(*[]byte) = data.Materialize()
	return nil
}

func main() {
	log.SetFlags(0)
	target := opserve.DefaultTarget
	if len(os.Args) > 1 {
		target = os.Args[1]
	} else {
		target = cmp.Or(os.Getenv("OPSERVE_TARGET"), target)
	}
	if err := run(context.Background(), target); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, target string) error {
	client, err := opserve.Connect(ctx, target, opserve.WithTimeout(timeout))
	if err != nil {
		return err
	}
	defer client.Close()
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(bare{}), grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return err
	}
	defer connection.Close()
	for _, test := range []struct {
		name         string
		count, width int
		unit         float64 // calls of one unit
		of           string
	}{
		{"8 floats, one by one", small, 1, 1, "calls/s"},
		{fmt.Sprintf("8 floats, %d at a time", inFlight), small, inFlight, 1, "calls/s"},
		{"16 MiB each way", large, 1, 1e9 / (2 * 4 * large), "GB/s"},
	} {
		ours, theirs, err := rates(ctx, client, connection, test.count, test.width)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s opserve %10.5g %s   grpc-go %10.5g %s   ratio %.2f\n", test.name, ours/test.unit, test.of, theirs/test.unit,
			test.of, ours/theirs)
	}
	return nil
}

// rates are calls a second of the package and of bare grpc-go.
func rates(ctx context.Context, client *opserve.Client, connection *grpc.ClientConn, count, width int) (ours, theirs float64, err error) {
	elements := make([]float32, count)
	message, err := messageOf(count)
	if err != nil {
		return 0, 0, err
	}
	byPackage := func() error {
		_, err := client.Execute(ctx, "Relu", opserve.Inputs{"self": opserve.TensorOf(elements)}, nil)
		return err
	}
	byGrpc := func() error {
		var answer []byte
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return connection.Invoke(ctx, method, message, &answer)
	}
	var found [2][]float64
	for range rounds {
		for side, call := range []func() error{byPackage, byGrpc} {
			calls, err := rate(width, call)
			if err != nil {
				return 0, 0, err
			}
			found[side] = append(found[side], calls)
		}
	}
	return median(found[0]), median(found[1]), nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// messageOf is a call of Relu as bytes.
func messageOf(count int) ([]byte, error) {
	return proto.Marshal(&pb.ExecuteRequest{
		Call: &pb.Call{Op: "Relu", Inputs: []*pb.Tensor{{Name: "self", Dtype: pb.DataType_DATA_TYPE_FLOAT32, Shape: []int64{int64(count)},
			Data: &pb.Tensor_RawIndex{}}}},
		Raw: [][]byte{make([]byte, 4*count)},
	})
}

// rate is calls a second with `width` of them under way.
func rate(width int, call func() error) (float64, error) {
	var calls atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	start := time.Now()
	for range width {
		group.Go(func() {
			for time.Since(start) < roundTime {
				if err := call(); err != nil {
					failed.Store(&err)
					return
				}
				calls.Add(1)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(calls.Load()) / time.Since(start).Seconds(), nil
}
