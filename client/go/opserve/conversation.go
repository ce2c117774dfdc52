package opserve

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "opserve.dev/go/opserve/v1"
)

const (
	sessionMethod = "/opserve.v1.SessionService/Session"

	// A message is full with so many commands or bytes. Who gives a command waits while so many bytes wait to be sent.
	messageCommands = 512
	messageBytes    = 1 << 20
	waitingBytes    = 64 << 20
)

// A command is one of a session, which is not over or whose failure was not told yet.
type command struct {
	message *pb.Command
	data    []byte // of an upload
	stream  uint64 // 0 = on none
	place   [8]uintptr
	onChunk func(offset int64, entry int, from *incoming) *Error
	over    chan struct{} // closed by the last answer
	answer  *pb.Answer
	err     *Error
	told    bool // its failure is nobody's concern any more
}

// A conversation is the RPC below a session: commands out, answers in, and which failure is told where. Every command is
// answered; a failure that nobody waits for is kept until wait() of a later command tells it. One goroutine sends, one receives.
type conversation struct {
	stream grpc.ClientStream
	cancel context.CancelFunc
	wake   chan struct{} // has an element when there is something to send
	done   chan struct{} // closed when the RPC is over

	mutex      sync.Mutex
	changed    chan struct{} // closed, and made anew, when something below changed
	last       uint64
	pending    map[uint64]*command
	queue      []*command
	waiting    int // bytes in the queue and in the message that is being sent
	unanswered int
	finishing  bool
	info       *pb.SessionInfo
	draining   bool
	ended      *Error
}

func (c *Client) converse(ctx context.Context) (*conversation, *Error) {
	ctx, cancel := context.WithCancel(c.withToken(ctx))
	description := &grpc.StreamDesc{StreamName: "Session", ClientStreams: true, ServerStreams: true}
	stream, err := c.connection.NewStream(ctx, description, sessionMethod)
	if err != nil {
		cancel()
		return nil, errorOfCall(err, nil)
	}
	talk := &conversation{stream: stream, cancel: cancel, wake: make(chan struct{}, 1), done: make(chan struct{}),
		changed: make(chan struct{}), pending: map[uint64]*command{}}
	go talk.send()
	go talk.receive()
	if err := talk.until(ctx, func() bool { return talk.info != nil }); err != nil {
		talk.abort()
		return nil, err
	}
	return talk, nil
}

// ---- commands out

// give sends a command; it waits only while too much is under way.
func (t *conversation) give(ctx context.Context, c *command) *Error {
	runtime.Callers(2, c.place[:])
	c.over = make(chan struct{})
	var refused *Error
	err := t.until(ctx, func() bool {
		switch {
		case t.finishing:
			refused = &Error{Code: codes.Canceled, Message: "the session is closed"}
		case t.ended != nil || t.waiting > waitingBytes || t.unanswered >= t.limit():
			return false
		default:
			t.put(c)
		}
		return true
	})
	if err != nil {
		return err
	}
	return refused
}

// limit is how many commands may be under way. Under the mutex.
func (t *conversation) limit() int {
	if t.info.GetMaxQueuedCommands() <= 0 {
		return 1024
	}
	return int(max(1, min(t.info.GetMaxQueuedCommands()/2, 1<<20)))
}

// put queues a command behind the others. Under the mutex.
func (t *conversation) put(c *command) {
	t.last++
	c.message.Id = t.last
	t.pending[t.last] = c
	t.unanswered++
	t.waiting += len(c.data)
	t.queue = append(t.queue, c)
	t.wakeSender()
}

func (t *conversation) wakeSender() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *conversation) send() {
	for {
		select {
		case <-t.wake:
		case <-t.done:
			return
		}
		for {
			message, size, finish := t.next()
			if finish {
				_ = t.stream.CloseSend() // never fails; how the RPC ended is the receiver's to find
				return
			}
			if message == nil {
				break
			}
			if t.stream.SendMsg(message) != nil {
				return // likewise
			}
			t.mutex.Lock()
			t.waiting -= size
			t.broadcast()
			t.mutex.Unlock()
		}
	}
}

// next is the next message, nil where there is none now, and the bytes of its uploads; or whether there is none any more.
func (t *conversation) next() (message *outgoing, uploaded int, finish bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	request, size, count := &pb.SessionRequest{}, 0, 0
	full := messageBytes
	if quarter := t.info.GetMaxMessageBytes() / 4; quarter > 0 && quarter < messageBytes {
		full = int(quarter)
	}
	message = &outgoing{}
	for ; count < len(t.queue) && count < messageCommands && size < full; count++ {
		c := t.queue[count]
		if upload := c.message.GetUpload(); upload != nil {
			upload.RawIndex = uint32(len(message.raw))
			message.raw = append(message.raw, c.data)
			uploaded += len(c.data)
			size += len(c.data)
			c.data = nil
		}
		request.Commands = append(request.Commands, c.message)
		size += proto.Size(c.message)
	}
	if count == 0 {
		return nil, 0, t.finishing
	}
	clear(t.queue[:count])
	t.queue = t.queue[count:]
	header, err := written(request)
	if err != nil {
		panic("opserve: a command that was checked cannot be written: " + err.Error())
	}
	message.header = header
	return message, uploaded, false
}

// ---- answers in

func (t *conversation) receive() {
	err := &Error{Code: codes.Canceled, Message: "the session is over"}
	for {
		var message incoming
		if failed := t.stream.RecvMsg(&message); failed != nil {
			message.free()
			if failed != io.EOF { //nolint:errorlint // grpc gives io.EOF as it is
				err = errorOfCall(failed, t.stream.Trailer())
			}
			break
		}
		failed := t.take(&message)
		message.free()
		if failed != nil {
			err = failed
			break
		}
	}
	t.cancel()
	t.mutex.Lock()
	t.ended = err
	t.broadcast()
	t.mutex.Unlock()
	close(t.done)
}

func (t *conversation) take(message *incoming) *Error {
	var response pb.SessionResponse
	if err := message.read(&response); err != nil {
		return err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	defer t.broadcast()
	for _, answer := range response.GetAnswers() {
		if err := t.takeAnswer(answer, message); err != nil {
			return err
		}
	}
	return nil
}

func (t *conversation) takeAnswer(answer *pb.Answer, message *incoming) *Error {
	if answer.GetId() == 0 {
		if answer.GetInfo() != nil {
			t.info = answer.GetInfo()
		}
		t.draining = t.draining || answer.GetDraining() != nil
		return nil
	}
	c := t.pending[answer.GetId()]
	if c == nil || c.answer != nil {
		return badAnswer("command %d is not under way", answer.GetId())
	}
	if chunk := answer.GetChunk(); chunk != nil && !c.told {
		if c.onChunk == nil || int64(chunk.GetRawIndex()) >= int64(len(message.raw)) {
			return badAnswer("a chunk for command %d", answer.GetId())
		}
		if err := c.onChunk(chunk.GetOffsetBytes(), int(chunk.GetRawIndex()), message); err != nil {
			return err
		}
	}
	if !answer.GetMore() {
		t.finish(c, answer)
	}
	return nil
}

// finish takes a command's last answer. Under the mutex.
func (t *conversation) finish(c *command, answer *pb.Answer) {
	c.answer, c.onChunk = answer, nil
	t.unanswered--
	if answer.GetError() != nil && !c.told {
		failed := c
		if other := t.pending[answer.GetFailedCommand()]; other != nil {
			failed = other
		}
		c.err = errorOf(answer.GetError())
		c.err.Command, c.err.Place = failed.message.GetId(), place(failed.place[:])
	} else {
		delete(t.pending, answer.GetId())
	}
	close(c.over)
}

// broadcast wakes those who wait for a change. Under the mutex.
func (t *conversation) broadcast() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// ---- waiting

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
	return c.message.GetId() < other.message.GetId() && (c.stream == 0 || other.stream == 0 || c.stream == other.stream)
}

// giveUp has the server drop a command that nobody waits for any more.
func (t *conversation) giveUp(c *command) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	c.told, c.onChunk = true, nil
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

// ---- the end

// close half-closes, waits for the server to finish what was sent, and tells the first failure that was not told.
func (t *conversation) close() *Error {
	t.mutex.Lock()
	t.finishing = true
	t.broadcast()
	t.mutex.Unlock()
	t.wakeSender()
	<-t.done
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var first *Error
	unfinished := false
	for _, c := range t.pending {
		unfinished = unfinished || (c.answer == nil && !c.told)
		if c.err != nil && (first == nil || c.err.Command < first.Command) {
			first = c.err
		}
	}
	clear(t.pending)
	if first == nil && unfinished {
		first = t.ended
	}
	return first
}

// abort ends the RPC at once: the server drops what waits.
func (t *conversation) abort() {
	t.cancel()
	<-t.done
}
