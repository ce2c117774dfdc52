package opserve

import (
	"cmp"
	"context"
	"time"

	pb "opserve.dev/go/opserve/v1"
)

// until waits for a condition, which is asked under the mutex, or is the error that ended the RPC or ctx before it was true.
func (t *conversation) until(ctx context.Context, condition func() bool) *Error {
	for {
		t.mutex.Lock()
		reached, changed, ended := condition(), t.changed, t.ended
		t.mutex.Unlock()
		if reached {
			return nil
		}
		if ended != nil {
			return ended
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errorOfCall(ctx.Err(), nil)
		}
	}
}

// ask gives a command and waits for its last answer. A command of which ctx says when it is late, or that is not wanted any
// more, is dropped by the server, too.
func (t *conversation) ask(ctx context.Context, c *command) (*pb.Answer, *Error) {
	if deadline, has := ctx.Deadline(); has {
		left := int64(max(1, time.Until(deadline)))
		c.message.TimeoutNs = min(left, cmp.Or(c.message.TimeoutNs, left))
	}
	if err := t.give(ctx, c); err != nil {
		return nil, err
	}
	if err := t.wait(ctx, c); err != nil {
		return nil, err
	}
	return c.answer, nil
}

// wait waits for a command and for those before it, on its stream or on none, and tells the first failure among them.
func (t *conversation) wait(ctx context.Context, c *command) *Error {
	select {
	case <-c.over:
	case <-t.done:
	case <-ctx.Done():
		t.giveUp(c)
		return errorOfCall(ctx.Err(), nil)
	}
	var failed []*command
	err := t.until(ctx, func() bool {
		if c.answer == nil {
			return false
		}
		failed = failed[:0]
		for _, other := range t.pending {
			if other == c || other.before(c) {
				if other.answer == nil {
					return false
				}
				failed = append(failed, other)
			}
		}
		for _, other := range failed {
			delete(t.pending, other.message.GetId())
		}
		return true
	})
	if err != nil || len(failed) == 0 {
		return err
	}
	return t.tell(ctx, failed)
}

// before tells whether a command's failure is told where another one is waited for.
func (c *command) before(other *command) bool {
	return !other.alone && c.message.GetId() < other.message.GetId() && (c.stream == 0 || other.stream == 0 || c.stream == other.stream)
}

// giveUp has the server drop a command that nobody waits for any more.
func (t *conversation) giveUp(c *command) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	c.told = true
	if c.answer != nil {
		delete(t.pending, c.message.GetId())
	} else if t.ended == nil && !t.finishing {
		drop := &pb.Command_Cancel{Cancel: &pb.CancelCommand{Command: c.message.GetId()}}
		t.put(&command{message: &pb.Command{Command: drop}, over: make(chan struct{}), told: true})
	}
}

// tell is the first of these failures. Streams that they marked go on with what comes next: the server is told so by a
// synchronize, and what failed only as it stood behind them on the stream is dropped.
func (t *conversation) tell(ctx context.Context, failed []*command) *Error {
	first, streams := failed[0].err, map[uint64]bool{}
	for _, c := range failed {
		if c.err.Command < first.Command {
			first = c.err
		}
		if c.stream != 0 {
			streams[c.stream] = true
		}
	}
	for stream := range streams {
		target := &pb.SynchronizeCommand{Target: &pb.SynchronizeCommand_Stream{Stream: stream}}
		done := &command{message: &pb.Command{Command: &pb.Command_Synchronize{Synchronize: target}}, stream: stream, told: true}
		if t.give(ctx, done) != nil {
			return first
		}
		select {
		case <-done.over:
		case <-t.done:
		case <-ctx.Done():
			return first
		}
		t.forget(done)
	}
	return first
}

// forget drops the failures of a stream's commands that only followed from one before them.
func (t *conversation) forget(done *command) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for id, c := range t.pending {
		if c.err != nil && c.err.Reason == "STREAM_FAILED" && c.before(done) {
			delete(t.pending, id)
		}
	}
}
