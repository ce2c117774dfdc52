package opserve

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
)

func TestErrorsOfHostileServers(t *testing.T) {
	info, err := anypb.New(&errdetails.ErrorInfo{Reason: "A\x1b[31m", Metadata: map[string]string{"code": "x1", "got": strings.Repeat("\u202e", 9999)}})
	if err != nil {
		t.Fatal(err)
	}
	broken := &anypb.Any{TypeUrl: "type.googleapis.com/google.rpc.ErrorInfo", Value: []byte{0xFF}}
	told := errorOf(&spb.Status{Code: 3, Message: "line\nline\xff", Details: []*anypb.Any{broken, {TypeUrl: "unknown"}, info}})
	if want := `opserve: A\x1b[31m: line\nline\xff`; told.Error() != want || told.AclnnCode != 0 {
		t.Errorf("got %q", told.Error())
	}
	if !strings.HasPrefix(told.Got, `\u202e`) || len(told.Got) > maxTextBytes+16 {
		t.Errorf("got %d bytes: %.20q", len(told.Got), told.Got)
	}
}

func TestErrorsAsAndIs(t *testing.T) {
	err := fmt.Errorf("training: %w", &Error{Code: codes.NotFound, Reason: "OPERATOR_NOT_FOUND", Message: "no such operator"})
	var failed *Error
	if !errors.As(err, &failed) || failed.Reason != "OPERATOR_NOT_FOUND" || status.Code(err) != codes.NotFound {
		t.Errorf("got %v, %v", failed, status.Code(err))
	}
	session := &Error{Code: codes.Internal, Message: "broken", Command: 7, Place: "train.go:12"}
	if want := "opserve: Internal: broken (command 7, given at train.go:12)"; session.Error() != want {
		t.Errorf("got %q", session.Error())
	}
}
