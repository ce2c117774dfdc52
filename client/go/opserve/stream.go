package opserve

import (
	"context"
	"time"

	pb "opserve.dev/go/opserve/v1"
)

// A Stream is work in order, on a device. What a command of it fails with stops those behind it until that is told.
type Stream struct {
	context *DeviceContext
	id      uint64
	timeout time.Duration
}

// NewStream is another stream of the context: its work runs beside that of the others.
func (c *DeviceContext) NewStream(ctx context.Context) (*Stream, error) {
	stream, err := c.newStream(ctx, pb.OnFailure_ON_FAILURE_STOP)
	return stream, orNil(err)
}

// NewStreamThatContinues is a stream on which commands behind one that failed run, too.
func (c *DeviceContext) NewStreamThatContinues(ctx context.Context) (*Stream, error) {
	stream, err := c.newStream(ctx, pb.OnFailure_ON_FAILURE_CONTINUE)
	return stream, orNil(err)
}

func (c *DeviceContext) newStream(ctx context.Context, onFailure pb.OnFailure) (*Stream, *Error) {
	stream := &Stream{context: c, id: c.session.ids.Add(1)}
	create := &pb.CreateStreamCommand{Stream: stream.id, Context: c.id, OnFailure: onFailure}
	return stream, c.session.give(ctx, &pb.Command{Command: &pb.Command_CreateStream{CreateStream: create}})
}

// WithTimeout is the same stream. What is given through it may wait for its turn and run as long as this, counted from when the
// server took it; then it fails as any command does.
func (s *Stream) WithTimeout(timeout time.Duration) *Stream {
	limited := *s
	limited.timeout = timeout
	return &limited
}

// Synchronize waits until what was given to the stream is done, and tells the first failure.
func (s *Stream) Synchronize(ctx context.Context) error {
	target := &pb.SynchronizeCommand{Target: &pb.SynchronizeCommand_Stream{Stream: s.id}}
	_, err := s.ask(ctx, &command{message: &pb.Command{Command: &pb.Command_Synchronize{Synchronize: target}}, stream: s.id})
	return orNil(err)
}

// Idle tells whether nothing runs and nothing waits.
func (s *Stream) Idle(ctx context.Context) (bool, error) {
	query := &pb.QueryStreamCommand{Stream: s.id}
	answer, err := s.context.session.ask(ctx, &pb.Command{Command: &pb.Command_QueryStream{QueryStream: query}})
	return answer.GetStream().GetIdle(), orNil(err)
}

// Destroy ends the stream; what waits on it is dropped.
func (s *Stream) Destroy(ctx context.Context) error {
	destroy := &pb.DestroyStreamCommand{Stream: s.id}
	return orNil(s.context.session.give(ctx, &pb.Command{Command: &pb.Command_DestroyStream{DestroyStream: destroy}}))
}

// Record has an event reached when all that is on the stream now has ended.
func (s *Stream) Record(ctx context.Context, event *Event) error {
	record := &pb.RecordEventCommand{Event: event.id, Stream: s.id}
	return orNil(s.context.session.talk.give(ctx,
		&command{message: &pb.Command{Command: &pb.Command_RecordEvent{RecordEvent: record}}, stream: s.id}))
}

// Wait has what is given to the stream later run once the event, which must have been recorded, was reached.
func (s *Stream) Wait(ctx context.Context, event *Event) error {
	wait := &pb.WaitEventCommand{Event: event.id, Stream: s.id}
	return orNil(s.give(ctx, &pb.Command{Command: &pb.Command_WaitEvent{WaitEvent: wait}}, nil))
}

// give sends a command that runs in the stream's turn.
func (s *Stream) give(ctx context.Context, message *pb.Command, data []byte) *Error {
	message.TimeoutNs = int64(s.timeout)
	return s.context.session.talk.give(ctx, &command{message: message, stream: s.id, data: data})
}

// ask sends a command that runs in the stream's turn and waits for it.
func (s *Stream) ask(ctx context.Context, c *command) (*pb.Answer, *Error) {
	c.message.TimeoutNs = int64(s.timeout)
	return s.context.session.talk.ask(ctx, c)
}

// An Event is a mark that streams record and wait for.
type Event struct {
	session *Session
	id      uint64
}

// NewEvent is an event of the context.
func (c *DeviceContext) NewEvent(ctx context.Context) (*Event, error) {
	event := &Event{session: c.session, id: c.session.ids.Add(1)}
	create := &pb.CreateEventCommand{Event: event.id, Context: c.id}
	return event, orNil(c.session.give(ctx, &pb.Command{Command: &pb.Command_CreateEvent{CreateEvent: create}}))
}

// Reached tells whether the latest recording was reached.
func (e *Event) Reached(ctx context.Context) (bool, error) {
	query := &pb.QueryEventCommand{Event: e.id}
	answer, err := e.session.ask(ctx, &pb.Command{Command: &pb.Command_QueryEvent{QueryEvent: query}})
	return answer.GetEvent().GetReached(), orNil(err)
}

// Synchronize waits until the latest recording was reached. What failed before is told elsewhere.
func (e *Event) Synchronize(ctx context.Context) error {
	target := &pb.SynchronizeCommand{Target: &pb.SynchronizeCommand_Event{Event: e.id}}
	_, err := e.session.ask(ctx, &pb.Command{Command: &pb.Command_Synchronize{Synchronize: target}})
	return orNil(err)
}

// Since is the time from when `start` was reached until the event was; both must have been. It is negative where `start` was
// reached later.
func (e *Event) Since(ctx context.Context, start *Event) (time.Duration, error) {
	query := &pb.QueryElapsedTimeCommand{Start: start.id, End: e.id}
	answer, err := e.session.ask(ctx, &pb.Command{Command: &pb.Command_QueryElapsedTime{QueryElapsedTime: query}})
	return time.Duration(answer.GetElapsedTime().GetElapsedNs()), orNil(err)
}

// Destroy ends the event.
func (e *Event) Destroy(ctx context.Context) error {
	destroy := &pb.DestroyEventCommand{Event: e.id}
	return orNil(e.session.give(ctx, &pb.Command{Command: &pb.Command_DestroyEvent{DestroyEvent: destroy}}))
}
