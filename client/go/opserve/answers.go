package opserve

import (
	"io"

	"google.golang.org/grpc/codes"

	pb "opserve.dev/go/opserve/v1"
)

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
