package opserve

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "opserve.dev/go/opserve/v1"
)

type sessionStream = grpc.BidiStreamingServer[pb.SessionRequest, pb.SessionResponse]

// A reply is what a server by hand does about a command; without answers it says nothing.
type reply func(stream sessionStream, command *pb.Command) ([]*pb.Answer, [][]byte, error)

func fineReply(_ sessionStream, command *pb.Command) ([]*pb.Answer, [][]byte, error) {
	return []*pb.Answer{{Id: command.GetId()}}, nil, nil
}

// withSession opens a session of a server by hand, which answers each command by `replies`.
func withSession(t *testing.T, info *pb.SessionInfo, replies reply) *Session {
	t.Helper()
	script := &script{steps: []func(context.Context) error{fine}, session: func(stream sessionStream) error {
		if err := stream.Send(&pb.SessionResponse{Answers: []*pb.Answer{{Answer: &pb.Answer_Info{Info: info}}}}); err != nil {
			return err
		}
		for {
			request, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, command := range request.GetCommands() {
				answers, raw, err := replies(stream, command)
				if err == nil && len(answers) > 0 {
					err = stream.Send(&pb.SessionResponse{Answers: answers, Raw: raw})
				}
				if err != nil {
					return err
				}
			}
		}
	}}
	client, err := Connect(t.Context(), serve(t, script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.OpenSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Cancel)
	return session
}

func chunk(command *pb.Command, offset int64, index uint32, more bool) *pb.Answer {
	return &pb.Answer{Id: command.GetId(), More: more, Answer: &pb.Answer_Chunk{Chunk: &pb.OutputChunk{OffsetBytes: offset, RawIndex: index}}}
}

func TestAnswersOfSessionsThatMakeNoSense(t *testing.T) {
	four := [][]byte{{1, 2, 3, 4}}
	for want, download := range map[string]func(*pb.Command) ([]*pb.Answer, [][]byte){
		"a chunk is out of place": func(c *pb.Command) ([]*pb.Answer, [][]byte) {
			return []*pb.Answer{chunk(c, 4, 0, true)}, four
		},
		"a chunk for command 4": func(c *pb.Command) ([]*pb.Answer, [][]byte) {
			return []*pb.Answer{chunk(c, 0, 7, true)}, four
		},
		"4 of 8 bytes came": func(c *pb.Command) ([]*pb.Answer, [][]byte) {
			return []*pb.Answer{chunk(c, 0, 0, false)}, four
		},
		"command 77 is not under way": func(*pb.Command) ([]*pb.Answer, [][]byte) {
			return []*pb.Answer{{Id: 77}}, nil
		},
		"command 3 is not under way": func(*pb.Command) ([]*pb.Answer, [][]byte) {
			return []*pb.Answer{{Id: 3}}, nil
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			session := withSession(t, &pb.SessionInfo{}, func(stream sessionStream, c *pb.Command) ([]*pb.Answer, [][]byte, error) {
				if c.GetDownload() == nil {
					return fineReply(stream, c)
				}
				answers, raw := download(c)
				return answers, raw, nil
			})
			tensor, err := session.NewTensor(t.Context(), F32, 2)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var failed *Error
			if _, err := session.Download(ctx, tensor); !errors.As(err, &failed) || failed.Code != codes.Internal || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestASessionThatEnds(t *testing.T) {
	session := withSession(t, &pb.SessionInfo{}, func(stream sessionStream, c *pb.Command) ([]*pb.Answer, [][]byte, error) {
		if c.GetSynchronize() != nil {
			draining := &pb.Answer{Answer: &pb.Answer_Draining{Draining: &pb.Draining{}}}
			return []*pb.Answer{draining}, nil, nil
		}
		if c.GetAllocate() != nil {
			return nil, nil, status.Error(codes.Unavailable, "the server is stopping")
		}
		return fineReply(stream, c)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := session.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if !session.Draining() {
		t.Error("the notice was not seen")
	}
	if _, err := session.NewTensor(t.Context(), F32, 1); err != nil {
		t.Error(err)
	}
	if err := session.Synchronize(t.Context()); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the server is stopping") {
		t.Errorf("got %v", err)
	}
	if err := session.Close(); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsLateIsDroppedByTheServer(t *testing.T) {
	asked, cancelled := make(chan *pb.Command, 1), make(chan uint64, 1)
	var late *pb.Command
	session := withSession(t, &pb.SessionInfo{}, func(stream sessionStream, c *pb.Command) ([]*pb.Answer, [][]byte, error) {
		switch {
		case c.GetDownload() != nil && late == nil:
			late = c
			asked <- c
			return nil, nil, nil
		case c.GetCancel() != nil:
			cancelled <- c.GetCancel().GetCommand()
			failed := status.New(codes.Canceled, "cancelled").Proto()
			return []*pb.Answer{chunk(late, 0, 0, true), {Id: late.GetId(), Error: failed}, {Id: c.GetId()}}, [][]byte{make([]byte, 4)}, nil
		}
		return fineReply(stream, c)
	})
	tensor, err := session.NewTensor(t.Context(), F32, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	into := []float32{7}
	if err := DownloadInto(ctx, session.Stream, tensor, into); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if command := <-asked; command.GetTimeoutNs() <= 0 || command.GetTimeoutNs() > int64(200*time.Millisecond) || command.GetId() != <-cancelled {
		t.Errorf("asked %v", command)
	}
	if err := session.Synchronize(t.Context()); err != nil || into[0] != 7 {
		t.Errorf("got %v, %v: what nobody waits for is no failure, and not written", err, into)
	}
	if err := session.WithTimeout(time.Hour).Copy(t.Context(), tensor, tensor); err != nil {
		t.Error(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func TestGivingWaitsWhileTooMuchIsUnderWay(t *testing.T) {
	release := make(chan struct{})
	session := withSession(t, &pb.SessionInfo{MaxQueuedCommands: 8}, func(stream sessionStream, c *pb.Command) ([]*pb.Answer, [][]byte, error) {
		if c.GetAllocate() != nil {
			<-release
		}
		return fineReply(stream, c)
	})
	given := 0
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := session.NewTensor(ctx, F32, 1)
		cancel()
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
		if given++; given > 8 {
			t.Fatal("nothing holds commands back")
		}
	}
	if given == 0 {
		t.Error("nothing was given")
	}
	close(release)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func TestMessagesAreFilled(t *testing.T) {
	talk := &conversation{wake: make(chan struct{}, 1), changed: make(chan struct{}), pending: map[uint64]*command{},
		info: &pb.SessionInfo{MaxMessageBytes: 4000}}
	for range 3 {
		talk.put(&command{message: &pb.Command{Command: &pb.Command_Upload{Upload: &pb.UploadCommand{}}}, data: make([]byte, 600)})
	}
	message, uploaded, finish := talk.next()
	if uploaded != 1200 || len(message.raw) != 2 || finish {
		t.Errorf("got %d bytes in %d entries", uploaded, len(message.raw))
	}
	var request pb.SessionRequest
	if err := (&incoming{header: message.header}).read(&request); err != nil {
		t.Fatal(err)
	}
	if commands := request.GetCommands(); len(commands) != 2 || commands[1].GetUpload().GetRawIndex() != 1 || commands[1].GetId() != 2 {
		t.Errorf("got %v", commands)
	}
	talk.finishing = true
	if message, _, finish := talk.next(); message == nil || finish {
		t.Error("the last command was lost")
	}
	if message, _, finish := talk.next(); message != nil || !finish {
		t.Error("the end was not seen")
	}
}

func TestQueriesWaitForNoOtherCommand(t *testing.T) {
	session := withSession(t, &pb.SessionInfo{}, func(stream sessionStream, c *pb.Command) ([]*pb.Answer, [][]byte, error) {
		switch {
		case c.GetCopy() != nil:
			return nil, nil, nil
		case c.GetQueryStream() != nil:
			return []*pb.Answer{{Id: c.GetId(), Answer: &pb.Answer_Stream{Stream: &pb.StreamState{}}}}, nil, nil
		}
		return fineReply(stream, c)
	})
	tensor, err := session.NewTensor(t.Context(), F32, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Copy(t.Context(), tensor, tensor); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if idle, err := session.Idle(ctx); err != nil || idle {
		t.Errorf("idle %v, %v", idle, err)
	}
}
