package opserve

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "opserve.dev/go/opserve/v1"
)

// A script is a server that answers its n-th question with its n-th step, and remembers who asked.
type script struct {
	pb.UnimplementedOperatorServiceServer
	pb.UnimplementedSessionServiceServer
	mutex    sync.Mutex
	steps    []func(context.Context) error
	metadata []metadata.MD
	session  func(grpc.BidiStreamingServer[pb.SessionRequest, pb.SessionResponse]) error
}

func (s *script) GetServerInfo(ctx context.Context, _ *pb.GetServerInfoRequest) (*pb.GetServerInfoResponse, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	told, _ := metadata.FromIncomingContext(ctx)
	s.metadata = append(s.metadata, told)
	if len(s.metadata) > len(s.steps) {
		return nil, status.Error(codes.Internal, "the script is over")
	}
	return &pb.GetServerInfoResponse{Version: "7"}, s.steps[len(s.metadata)-1](ctx)
}

func (s *script) Session(stream grpc.BidiStreamingServer[pb.SessionRequest, pb.SessionResponse]) error {
	return s.session(stream)
}

func (s *script) calls() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.metadata)
}

// serve runs a script until the test is over, and returns its address.
func serve(t *testing.T, script *script) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterOperatorServiceServer(server, script)
	pb.RegisterSessionServiceServer(server, script)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func fine(context.Context) error { return nil }

// late ends when its caller's deadline has passed, or it was cancelled.
func late(ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

func gone(context.Context) error { return status.Error(codes.Unavailable, "gone") }

// busy says when another try may succeed, by the trailing metadata.
func busy(ms string) func(context.Context) error {
	return func(ctx context.Context) error {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", ms))
		return status.Error(codes.ResourceExhausted, "too busy")
	}
}

// full says so by RetryInfo; without a delay no waiting changes it.
func full(delay time.Duration) func(context.Context) error {
	return func(context.Context) error {
		told := status.New(codes.ResourceExhausted, "full")
		told, _ = told.WithDetails(&errdetails.ErrorInfo{Reason: "RESOURCE_LIMIT", Domain: "opserve.dev"})
		if delay > 0 {
			told, _ = told.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
		}
		return told.Err()
	}
}

// A tried call: what its server does, and what comes of it.
type tried struct {
	steps  []func(context.Context) error
	calls  int
	atMost time.Duration // of the context; 0 = none
	code   codes.Code
	after  time.Duration
}

var triedCalls = map[string]tried{
	"unavailable is tried again":            {steps: []func(context.Context) error{gone, gone, gone, fine}, calls: 4},
	"four tries":                            {steps: []func(context.Context) error{gone, gone, gone, gone, fine}, calls: 4, code: codes.Unavailable},
	"the server says when":                  {steps: []func(context.Context) error{busy("20"), full(20 * time.Millisecond), fine}, calls: 3},
	"what no waiting changes":               {steps: []func(context.Context) error{full(0), fine}, calls: 1, code: codes.ResourceExhausted},
	"a pushback that says no":               {steps: []func(context.Context) error{busy("-1"), fine}, calls: 1, code: codes.ResourceExhausted},
	"a pushback that is none":               {steps: []func(context.Context) error{busy("soon"), fine}, calls: 1, code: codes.ResourceExhausted},
	"no try behind the deadline":            {steps: []func(context.Context) error{busy("30000"), fine}, calls: 1, atMost: 20 * time.Second, code: codes.ResourceExhausted, after: 30 * time.Second},
	"nobody waits for hours":                {steps: []func(context.Context) error{full(5 * time.Hour), fine}, calls: 1, code: codes.ResourceExhausted, after: 5 * time.Hour},
	"a delay below zero is none":            {steps: []func(context.Context) error{full(-time.Hour), fine}, calls: 1, code: codes.ResourceExhausted},
	"what another try would not change":     {steps: []func(context.Context) error{func(context.Context) error { return status.Error(codes.Internal, "") }, fine}, calls: 1, code: codes.Internal},
	"a deadline that passes while it waits": {steps: []func(context.Context) error{late}, calls: 1, atMost: 3 * time.Second, code: codes.DeadlineExceeded},
}

func TestTries(t *testing.T) {
	for name, test := range triedCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := &script{steps: test.steps}
			ctx := t.Context()
			if test.atMost > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.atMost)
				defer cancel()
			}
			client, err := Connect(ctx, serve(t, script))
			if err == nil {
				defer client.Close()
			}
			var failed *Error
			if errors.As(err, &failed) != (test.code != codes.OK) || failed != nil && (failed.Code != test.code || failed.RetryAfter != test.after) {
				t.Errorf("want %v after %v, got %v after %v", test.code, test.after, err, failed)
			}
			if script.calls() != test.calls {
				t.Errorf("want %d calls, got %d", test.calls, script.calls())
			}
			if errors.Is(err, context.DeadlineExceeded) != (test.code == codes.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheServersPauseIsKept(t *testing.T) {
	script := &script{steps: []func(context.Context) error{busy("300"), fine}}
	start := time.Now()
	client, err := Connect(t.Context(), serve(t, script))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if waited := time.Since(start); waited < 300*time.Millisecond {
		t.Errorf("waited %v", waited)
	}
}

func TestATokenGoesWithEachCall(t *testing.T) {
	script := &script{steps: []func(context.Context) error{fine, fine}}
	client, err := Connect(t.Context(), serve(t, script), WithToken("secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.ServerInfo(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, told := range script.metadata {
		if got := told.Get("authorization"); len(got) != 1 || got[0] != "Bearer secret" {
			t.Errorf("got %v", got)
		}
	}
}

func TestTheClientsTimeout(t *testing.T) {
	script := &script{steps: []func(context.Context) error{fine, late}}
	client, err := Connect(t.Context(), serve(t, script), WithTimeout(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.ServerInfo(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSeveralTargets(t *testing.T) {
	var steps []func(context.Context) error
	for range 40 {
		steps = append(steps, fine)
	}
	one, other := &script{steps: steps}, &script{steps: steps}
	client, err := Connect(t.Context(), serve(t, one)+","+serve(t, other))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for deadline := time.Now().Add(20 * time.Second); one.calls() == 0 || other.calls() == 0; {
		if _, err := client.ServerInfo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) || one.calls()+other.calls() > 39 {
			t.Fatalf("%d and %d calls", one.calls(), other.calls())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := &script{steps: []func(context.Context) error{fine, func(called context.Context) error { cancel(); return late(called) }}}
	client, err := Connect(t.Context(), serve(t, script))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.ServerInfo(ctx); !errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestAClosedClient(t *testing.T) {
	client, err := Connect(t.Context(), serve(t, &script{steps: []func(context.Context) error{fine}}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.ServerInfo(t.Context()); err == nil || err.Error() != "opserve: Canceled: the client is closed" {
		t.Errorf("got %v", err)
	}
	if _, err := client.OpenSession(t.Context()); err == nil {
		t.Error("a session of a closed client")
	}
}

func TestMistakesOfTargets(t *testing.T) {
	for target, want := range map[string]string{
		"a:1,b":             `opserve: INVALID_PARAMETER 161002: target: want host:port with a port of 1 to 65535, got "b"`,
		"a:1,:5":            `opserve: INVALID_PARAMETER 161002: target: want host:port with a port of 1 to 65535, got ":5"`,
		"a:1,b:70000":       `opserve: INVALID_PARAMETER 161002: target: want host:port with a port of 1 to 65535, got "b:70000"`,
		"example.org:8500":  `opserve: INVALID_PARAMETER 161002: token: want WithTLS on the way of a token to example.org:8500, got clear text, which anyone could read`,
		"localhost:1,b:1":   `opserve: INVALID_PARAMETER 161002: token: want WithTLS on the way of a token to localhost:1,b:1, got clear text, which anyone could read`,
		"dns:///host:12345": `opserve: INVALID_PARAMETER 161002: token: want WithTLS on the way of a token to dns:///host:12345, got clear text, which anyone could read`,
	} {
		options := []Option{}
		if target[0] != 'a' {
			options = append(options, WithToken("secret"))
		}
		if _, err := Connect(t.Context(), target, options...); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", target, err)
		}
	}
	for target, want := range map[string]bool{"unix:/a": true, "localhost:1,127.0.0.1:2": true, "[::1]:3": true, "10.0.0.1:1": false} {
		if isLocal(target) != want {
			t.Errorf("%s: local is %v", target, !want)
		}
	}
}
