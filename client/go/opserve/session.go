package opserve

import (
	"context"
	"sync"
	"sync/atomic"

	pb "opserve.dev/go/opserve/v1"
)

// A Session keeps tensors on a server between calls, in one RPC; docs/session.md has the model. It is its first context, on the
// server's first device, and that context is its first stream: session.Upload and session.NewStream need no other.
//
// Nothing waits for the server but what brings something from there: Download, Synchronize, queries, Close. A command that failed is
// told there, as an Error with the place in the program that gave the command. Any number of goroutines may use a session; what one of them
// gives to a stream runs in the order in which it was given.
type Session struct {
	*DeviceContext
	talk  *conversation
	ids   atomic.Uint64
	plans *planCache
}

// OpenSession opens a session. It lasts until Close or Cancel, one of which must be called, or until ctx is over.
func (c *Client) OpenSession(ctx context.Context) (*Session, error) {
	session, err := c.openSession(ctx, "")
	return session, orNil(err)
}

func (c *Client) openSession(ctx context.Context, device string) (*Session, *Error) {
	if c.closed.Load() {
		return nil, closedError()
	}
	talk, err := c.converse(ctx)
	if err != nil {
		return nil, err
	}
	session := &Session{talk: talk, plans: &planCache{ask: c.plan, known: map[string]*Plan{}}}
	if session.DeviceContext, err = session.newContext(ctx, device); err != nil {
		talk.abort()
		return nil, err
	}
	return session, nil
}

// Close finishes what was given, ends the session and frees all of it. It tells the first failure that was not told before. It
// waits for the server as long as the context of OpenSession allows.
func (s *Session) Close() error { return orNil(s.talk.close()) }

// Cancel drops what waits, ends the session and frees all of it. After Close it does nothing: defer it.
func (s *Session) Cancel() { s.talk.abort() }

// Info is what the session may do.
func (s *Session) Info() *pb.SessionInfo {
	s.talk.mutex.Lock()
	defer s.talk.mutex.Unlock()
	return s.talk.info
}

// Draining tells whether the server said that it is stopping: it ends the session once nothing is under way.
func (s *Session) Draining() bool {
	s.talk.mutex.Lock()
	defer s.talk.mutex.Unlock()
	return s.talk.draining
}

// A DeviceContext owns tensors, streams, events and executors on one device. It is its first stream, too.
type DeviceContext struct {
	*Stream
	session *Session
	device  string
	id      uint64
}

// NewContext is another context of the session, on the device of that name; "" is the server's first.
func (s *Session) NewContext(ctx context.Context, device string) (*DeviceContext, error) {
	made, err := s.newContext(ctx, device)
	return made, orNil(err)
}

func (s *Session) newContext(ctx context.Context, device string) (*DeviceContext, *Error) {
	if err := checkName("device", device); err != nil {
		return nil, err
	}
	made := &DeviceContext{session: s, device: device, id: s.ids.Add(1)}
	create := &pb.CreateContextCommand{Context: made.id, Device: device}
	if err := s.give(ctx, &pb.Command{Command: &pb.Command_CreateContext{CreateContext: create}}); err != nil {
		return nil, err
	}
	var err *Error
	made.Stream, err = made.newStream(ctx, pb.OnFailure_ON_FAILURE_STOP)
	return made, err
}

// Destroy frees the context with all that it owns; what waits on its streams is dropped.
func (c *DeviceContext) Destroy(ctx context.Context) error {
	destroy := &pb.DestroyContextCommand{Context: c.id}
	return orNil(c.session.give(ctx, &pb.Command{Command: &pb.Command_DestroyContext{DestroyContext: destroy}}))
}

// SynchronizeAll waits until what was given to all of the context's streams is done.
func (c *DeviceContext) SynchronizeAll(ctx context.Context) error {
	target := &pb.SynchronizeCommand{Target: &pb.SynchronizeCommand_Context{Context: c.id}}
	_, err := c.session.talk.ask(ctx, &command{message: &pb.Command{Command: &pb.Command_Synchronize{Synchronize: target}}})
	return orNil(err)
}

// Memory is what the session holds on the context's device, and what it may.
func (c *DeviceContext) Memory(ctx context.Context) (*pb.MemoryState, error) {
	query := &pb.QueryMemoryCommand{Context: c.id}
	answer, err := c.session.ask(ctx, &pb.Command{Command: &pb.Command_QueryMemory{QueryMemory: query}})
	if err != nil {
		return nil, err
	}
	return answer.GetMemory(), nil
}

// give sends a command of no stream.
func (s *Session) give(ctx context.Context, message *pb.Command) *Error {
	return s.talk.give(ctx, &command{message: message})
}

// ask sends a command of no stream and waits for its answer alone.
func (s *Session) ask(ctx context.Context, message *pb.Command) (*pb.Answer, *Error) {
	return s.talk.ask(ctx, &command{message: message, alone: true})
}

// A planCache knows the plans of calls that a session made before.
type planCache struct {
	ask   func(context.Context, *Call) (*Plan, *Error)
	mutex sync.Mutex
	known map[string]*Plan
}

// maxPlans is how many plans are kept; beyond it the cache begins anew.
const maxPlans = 512

func (p *planCache) plan(ctx context.Context, call *Call) (*Plan, *Error) {
	message, err := call.description()
	if err != nil {
		return nil, err
	}
	key, err := written(message)
	if err != nil {
		return nil, err
	}
	p.mutex.Lock()
	plan := p.known[string(key)]
	p.mutex.Unlock()
	if plan != nil {
		return plan, nil
	}
	if plan, err = p.ask(ctx, call); err != nil {
		return nil, err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.known) >= maxPlans {
		clear(p.known)
	}
	p.known[string(key)] = plan
	return plan, nil
}
