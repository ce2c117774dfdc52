package opserve

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
)

const (
	// Version is that of this package.
	Version = "0.1.0"

	// DefaultTarget is where Connect looks for a server unless it is told, or $OPSERVE_TARGET says so.
	DefaultTarget = "localhost:8500"

	defaultMaxAnswerBytes = 1 << 30
	maxMetadataBytes      = 1 << 20 // of an answer, with the details of an error
)

type settings struct {
	timeout        time.Duration
	tls            *tls.Config
	token          string
	maxAnswerBytes int
	dial           []grpc.DialOption
}

// An Option says how Connect connects.
type Option func(*settings)

// WithTimeout bounds the calls whose context has no deadline, retries included. Without it they may take any time.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.timeout = timeout }
}

// WithTLS encrypts the connection. A nil config checks the server against the certificates that the system trusts;
// Config.Certificates has what the client shows of itself (mutual TLS).
func WithTLS(config *tls.Config) Option {
	return func(s *settings) {
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		if config != nil {
			s.tls = config.Clone()
		}
	}
}

// WithToken sends a bearer token with each call. Over a network that needs WithTLS.
func WithToken(token string) Option {
	return func(s *settings) { s.token = token }
}

// WithMaxAnswerBytes is the largest answer that is taken of the server; 1 GiB without it.
func WithMaxAnswerBytes(size int) Option {
	return func(s *settings) { s.maxAnswerBytes = size }
}

// WithDialOptions gives options to grpc-go: statistics handlers, dialers and the like.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.dial = append(s.dial, options...) }
}

// Connect is a client of the server at `target`: "host:port", "unix:/path", another name of gRPC's such as "dns:///host:port", or
// several host:port with commas between them, among which calls go round. An empty target is $OPSERVE_TARGET, or else
// DefaultTarget. The server is asked for its limits; it is an error if none is there before ctx is over or four tries have failed.
func Connect(ctx context.Context, target string, options ...Option) (*Client, error) {
	chosen := settings{maxAnswerBytes: defaultMaxAnswerBytes}
	for _, option := range options {
		option(&chosen)
	}
	if target == "" {
		target = os.Getenv("OPSERVE_TARGET")
	}
	if target == "" {
		target = DefaultTarget
	}
	if chosen.token != "" && chosen.tls == nil && !isLocal(target) {
		return nil, mistake("INVALID_PARAMETER", "WithTLS on the way of a token to "+target, "clear text, which anyone could read").of("", "token")
	}
	connection, err := dial(target, &chosen)
	if err != nil {
		return nil, err
	}
	client := &Client{connection: connection, settings: chosen}
	info, err := client.ServerInfo(ctx)
	if err != nil {
		_ = connection.Close() // the first error counts
		return nil, err
	}
	client.maxMessageBytes = info.GetMaxMessageBytes()
	return client, nil
}

func dial(target string, chosen *settings) (*grpc.ClientConn, error) {
	options := append(chosen.dialOptions(), chosen.dial...)
	addresses := strings.Split(target, ",")
	if len(addresses) > 1 {
		for _, address := range addresses {
			if err := checkAddress(address); err != nil {
				return nil, err
			}
		}
		options = append(options, grpc.WithResolvers(targets(addresses)))
		target = targetsScheme + ":///" + addresses[0]
	}
	if len(addresses) > 1 || strings.HasPrefix(target, "dns:") {
		options = append(options, grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	}
	connection, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, mistake("INVALID_PARAMETER", "host:port or unix:path", fmt.Sprintf("%q: %v", target, err)).of("", "target")
	}
	return connection, nil
}

func (s *settings) dialOptions() []grpc.DialOption {
	security := insecure.NewCredentials()
	if s.tls != nil {
		security = credentials.NewTLS(s.tls)
	}
	again := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithUserAgent("opserve-go/" + Version),
		grpc.WithMaxHeaderListSize(maxMetadataBytes),
		grpc.WithDisableRetry(), // Client.call tries again itself
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: 5 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(s.maxAnswerBytes)),
	}
}

func checkAddress(address string) *Error {
	host, port, err := net.SplitHostPort(address)
	if number, failed := strconv.Atoi(port); err != nil || host == "" || failed != nil || number < 1 || number > 65535 {
		return mistake("INVALID_PARAMETER", "host:port with a port of 1 to 65535", strconv.Quote(address)).of("", "target")
	}
	return nil
}

// isLocal tells whether what is sent to a target stays on this machine.
func isLocal(target string) bool {
	for address := range strings.SplitSeq(target, ",") {
		host, _, _ := net.SplitHostPort(address)
		ip := net.ParseIP(host)
		if !strings.HasPrefix(address, "unix:") && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// targets is a resolver of gRPC's for several addresses; each is checked under its own name where there is TLS.
type targets []string

const targetsScheme = "opserve-targets"

func (t targets) Scheme() string { return targetsScheme }

func (t targets) Build(_ resolver.Target, connection resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	var state resolver.State
	for _, address := range t {
		host, _, _ := net.SplitHostPort(address)
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address, ServerName: host}}})
	}
	return t, connection.UpdateState(state)
}

func (t targets) ResolveNow(resolver.ResolveNowOptions) {}

func (t targets) Close() {}

// closedError is the error of a call of a client that was closed.
func closedError() *Error {
	return &Error{Code: codes.Canceled, Message: "the client is closed"}
}
