package opserve

import (
	"context"
	"runtime"
	"sync"

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
	alone   bool // it waits for no other command, and tells of none
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
