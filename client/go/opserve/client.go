package opserve

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "opserve.dev/go/opserve/v1"
)

const (
	operatorService = "/opserve.v1.OperatorService/"

	// A call is tried this often; the pauses between double from the first, unless the server says how long.
	tries      = 4
	firstPause = 100 * time.Millisecond
	// Where a server asks for more than this, the call fails.
	longestPause = time.Minute
)

// A Client is a connection to a server, or to several. Any number of goroutines may use it; make one and keep it.
type Client struct {
	connection      *grpc.ClientConn
	settings        settings
	maxMessageBytes int64 // of the server; 0 = not known
	closed          atomic.Bool
}

// Close ends the connection. Calls that are under way fail.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.connection.Close()
}

// Execute runs an operator. A call whose inputs or outputs are larger than a message may be goes through a session of its own,
// in pieces.
//
// The elements of the inputs are sent from where they lie: they must not change before Execute returns. When it returns because
// ctx is over, gRPC may read them for a moment longer.
func (c *Client) Execute(ctx context.Context, op string, inputs Inputs, attrs Attrs, options ...CallOption) (*Result, error) {
	call := NewCall(op, inputs, attrs, options...)
	request, err := call.request()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if c.maxMessageBytes > 0 && int64(request.size()) > c.maxMessageBytes {
		return c.executeInPieces(ctx, &call)
	}
	var result *Result
	err = c.call(ctx, "Execute", request, func(answer *incoming) (err *Error) {
		var response pb.ExecuteResponse
		if err := answer.read(&response); err != nil {
			return err
		}
		result, err = answer.result(&call, response.GetOutputs(), response.GetExecution())
		return err
	})
	if err != nil && err.Code == codes.ResourceExhausted && err.Parameter == "max_message_bytes" {
		return c.executeInPieces(ctx, &call)
	}
	return result, orNil(err)
}

// Run is Execute for the functions of the package ops: it gives the outputs alone.
func (c *Client) Run(ctx context.Context, op string, inputs map[string]Tensor, attrs Attrs,
	options ...CallOption) (map[string]Tensor, error) {
	result, err := c.Execute(ctx, op, inputs, attrs, options...)
	if err != nil {
		return nil, err
	}
	return result.Outputs, nil
}

// ExecuteBatch runs many calls in one message, in which each costs a fraction of what it costs alone. Each has its own result or
// error, in their order; the error that is returned is one of the batch as a whole.
func (c *Client) ExecuteBatch(ctx context.Context, calls []Call) ([]BatchResult, error) {
	request, err := batchRequest(calls)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	var results []BatchResult
	err = c.call(ctx, "ExecuteBatch", request, func(answer *incoming) (err *Error) {
		results, err = answer.batchResults(calls)
		return err
	})
	return results, orNil(err)
}

// Plan checks a call and says what it needs and gives, without its data (GetWorkspaceSize): inputs may be of Spec.
func (c *Client) Plan(ctx context.Context, op string, inputs Inputs, attrs Attrs, options ...CallOption) (*Plan, error) {
	call := NewCall(op, inputs, attrs, options...)
	plan, err := c.plan(ctx, &call)
	return plan, orNil(err)
}

func (c *Client) plan(ctx context.Context, call *Call) (*Plan, *Error) {
	message, err := call.description()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	var told pb.GetWorkspaceSizeResponse
	if err := c.ask(ctx, "GetWorkspaceSize", &pb.GetWorkspaceSizeRequest{Call: message}, &told); err != nil {
		return nil, err
	}
	return planOf(&told)
}

// ServerInfo is the server's version and limits.
func (c *Client) ServerInfo(ctx context.Context) (*pb.GetServerInfoResponse, error) {
	told := &pb.GetServerInfoResponse{}
	return told, c.query(ctx, "GetServerInfo", &pb.GetServerInfoRequest{}, told)
}

// Operators are what the server says of the operators of these names, or of all.
func (c *Client) Operators(ctx context.Context, names ...string) ([]*pb.OperatorSchema, error) {
	told := &pb.ListOperatorsResponse{}
	err := c.query(ctx, "ListOperators", &pb.ListOperatorsRequest{Names: names}, told)
	return told.GetOperators(), err
}

// Devices are the server's devices; calls run on the first unless they name another.
func (c *Client) Devices(ctx context.Context) ([]*pb.Device, error) {
	told := &pb.ListDevicesResponse{}
	err := c.query(ctx, "ListDevices", &pb.ListDevicesRequest{}, told)
	return told.GetDevices(), err
}

// Statistics is what the server has counted since it started.
func (c *Client) Statistics(ctx context.Context) (*pb.GetStatisticsResponse, error) {
	told := &pb.GetStatisticsResponse{}
	return told, c.query(ctx, "GetStatistics", &pb.GetStatisticsRequest{}, told)
}

func (c *Client) query(ctx context.Context, method string, question, answer proto.Message) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	return orNil(c.ask(ctx, method, question, answer))
}

// ask makes a call without tensors.
func (c *Client) ask(ctx context.Context, method string, question, answer proto.Message) *Error {
	header, err := written(question)
	if err != nil {
		return err
	}
	return c.call(ctx, method, &outgoing{header: header}, func(came *incoming) *Error { return came.read(answer) })
}

// bounded is ctx with a deadline where it has none and the client's calls are to have one.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has || c.settings.timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.settings.timeout)
}

// withToken is a context whose calls carry the token.
func (c *Client) withToken(ctx context.Context) context.Context {
	if c.settings.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.settings.token)
}

// call makes a unary call, and tries it again where that is of use.
func (c *Client) call(ctx context.Context, method string, request *outgoing, read func(*incoming) *Error) *Error {
	ctx = c.withToken(ctx)
	pause := firstPause
	for try := 1; ; try++ {
		err := c.try(ctx, method, request, read)
		if err == nil || try == tries || (err.RetryAfter == 0 && err.Code != codes.Unavailable) {
			return err
		}
		wait := err.RetryAfter
		if wait == 0 {
			wait = time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
		}
		if deadline, has := ctx.Deadline(); wait > longestPause || has && time.Until(deadline) <= wait {
			return err
		}
		pause *= 2
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return errorOfCall(ctx.Err(), nil)
		}
	}
}

func (c *Client) try(ctx context.Context, method string, request *outgoing, read func(*incoming) *Error) *Error {
	if c.closed.Load() {
		return closedError()
	}
	var answer incoming
	var trailer metadata.MD
	err := c.connection.Invoke(ctx, operatorService+method, request, &answer, grpc.Trailer(&trailer))
	defer answer.free()
	if err != nil {
		return errorOfCall(err, trailer)
	}
	return read(&answer)
}

// orNil is an *Error as an error, whose nil is one.
func orNil(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}
