package opserve

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// An Error is a call, or a command of a session, that failed; every error of this package is one. Take it out of an error with
// errors.As. errors.Is finds context.DeadlineExceeded and context.Canceled in those whose Code says so.
type Error struct {
	Code codes.Code
	// Reason is a word of docs/errors.md such as OUT_OF_RANGE, "" where gRPC itself failed: no server, the caller's deadline.
	Reason string
	// AclnnCode is 161001, 161002, …, 0 where there is none.
	AclnnCode int
	// What was wrong, in words; "" where it is not known.
	Operator, Parameter, Want, Got string
	// RetryAfter is when another try may succeed, 0 where the server does not say.
	RetryAfter time.Duration
	// Command is the number of a session's command, 0 for a call, and Place where the program gave it: "train.go:12".
	Command uint64
	Place   string
	// Message is the server's, in one line.
	Message string
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString("opserve: ")
	if e.Reason != "" {
		text.WriteString(e.Reason)
	} else {
		text.WriteString(e.Code.String())
	}
	if e.AclnnCode != 0 {
		fmt.Fprintf(&text, " %d", e.AclnnCode)
	}
	text.WriteString(": " + e.message())
	if e.Command != 0 {
		fmt.Fprintf(&text, " (command %d, given at %s)", e.Command, e.Place)
	}
	return text.String()
}

func (e *Error) message() string {
	if e.Message != "" {
		return e.Message
	}
	var parts []string
	for _, part := range []string{e.Operator, e.Parameter} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("want %s, got %s", e.Want, e.Got)), ": ")
}

// Is makes errors.Is(err, context.DeadlineExceeded) and errors.Is(err, context.Canceled) true where the code says the same.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Code == codes.DeadlineExceeded || target == context.Canceled && e.Code == codes.Canceled
}

// GRPCStatus lets status.FromError and status.Code take the error.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.message()) }

// of is the error with the operator and the parameter that it is about, where it does not name others.
func (e *Error) of(operator, parameter string) *Error {
	named := *e
	named.Operator, named.Parameter = cmp.Or(e.Operator, operator), cmp.Or(e.Parameter, parameter)
	return &named
}

// maxTextBytes bounds a server's text in an error; servers keep to 384 bytes for each of its parts.
const maxTextBytes = 2048

// printable is a server's text without what a terminal would act on, and cut where it is too long.
func printable(text string) string { return printableUpTo(text, maxTextBytes) }

func printableUpTo(text string, maxBytes int) string {
	var out strings.Builder
	for i, r := range text {
		if out.Len() >= maxBytes {
			out.WriteString("…")
			break
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			quoted := strconv.QuoteToASCII(text[i : i+size])
			out.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// errorOf is the error that a google.rpc.Status tells of.
func errorOf(told *spb.Status) *Error {
	e := &Error{Code: codes.Code(told.GetCode()), Message: printable(told.GetMessage())}
	for _, detail := range told.GetDetails() {
		info, retry := &errdetails.ErrorInfo{}, &errdetails.RetryInfo{}
		switch {
		case detail.MessageIs(info) && detail.UnmarshalTo(info) == nil:
			words := info.GetMetadata()
			e.Reason = printable(info.GetReason())
			e.AclnnCode, _ = strconv.Atoi(words["code"])
			e.Operator, e.Parameter = printable(words["operator"]), printable(words["parameter"])
			e.Want, e.Got = printable(words["want"]), printable(words["got"])
		case detail.MessageIs(retry) && detail.UnmarshalTo(retry) == nil:
			e.RetryAfter = max(0, retry.GetRetryDelay().AsDuration())
		}
	}
	return e
}

// errorOfCall is the error of a call, of gRPC's error and the trailing metadata; nil for nil.
func errorOfCall(err error, trailer metadata.MD) *Error {
	if err == nil {
		return nil
	}
	if already, ok := err.(*Error); ok { //nolint:errorlint // the codec's own error is given on as it is
		return already
	}
	told := status.Convert(contextStatus(err))
	e := errorOf(told.Proto())
	if pushback := trailer.Get("grpc-retry-pushback-ms"); e.RetryAfter == 0 && len(pushback) == 1 {
		if ms, failed := strconv.ParseInt(pushback[0], 10, 32); failed == nil && ms > 0 {
			e.RetryAfter = time.Duration(ms) * time.Millisecond
		}
	}
	return e
}

// contextStatus makes a context's error one of gRPC.
func contextStatus(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.FromContextError(err).Err()
}

// badAnswer is an answer that no server of this protocol sends.
func badAnswer(format string, values ...any) *Error {
	return &Error{Code: codes.Internal, Message: "the server's answer makes no sense: " + printable(fmt.Sprintf(format, values...))}
}

// place is where a program called this package.
func place(counters []uintptr) string {
	frames := runtime.CallersFrames(counters)
	for {
		frame, more := frames.Next()
		ours := strings.HasPrefix(frame.Function, "opserve.dev/go/opserve.") || strings.HasPrefix(frame.Function, "opserve.dev/go/opserve/ops.")
		if !more || !ours {
			file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
			return fmt.Sprintf("%s:%d", file, frame.Line)
		}
	}
}
