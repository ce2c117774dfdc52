package opserve

// The vectors of proto/conformance, sent and read as the package sends and reads: the rules are in their README.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"opserve.dev/go/internal/testserver"
	pb "opserve.dev/go/opserve/v1"
)

const caseTimeout = 30 * time.Second

type vector struct {
	Name     string
	Method   string
	Request  json.RawMessage
	Response map[string]any
	Error    map[string]any
	Messages []json.RawMessage
	Answers  map[string][]map[string]any
	End      map[string]any
}

func vectors(t *testing.T, name string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "proto", "conformance", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	return file.Cases
}

func vectorClient(t *testing.T) *Client {
	t.Helper()
	client, err := Connect(t.Context(), testserver.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestUnaryVectors(t *testing.T) {
	client := vectorClient(t)
	for _, vector := range vectors(t, "unary.json") {
		t.Run(vector.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
			defer cancel()
			request, raw := parsed(t, vector.Method+"Request", vector.Request)
			var answer incoming
			var trailer metadata.MD
			failed := client.connection.Invoke(ctx, operatorService+vector.Method, split(t, request, raw), &answer, grpc.Trailer(&trailer))
			defer answer.free()
			if vector.Error != nil {
				checkError(t, errorOfCall(failed, trailer), vector.Error)
				return
			}
			if failed != nil {
				t.Fatal(failed)
			}
			checkResponse(t, joined(t, vector.Method+"Response", &answer), vector.Response)
		})
	}
}

func TestSessionVectors(t *testing.T) {
	client := vectorClient(t)
	for _, vector := range vectors(t, "session.json") {
		t.Run(vector.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
			defer cancel()
			came, ended := replay(t, ctx, client, vector.Messages)
			if notices := came[0]; len(notices) == 0 || notices[0].told["info"] == nil {
				t.Errorf("want a notice with info first, got %v", notices)
			}
			delete(came, 0)
			if ended != nil || vector.End != nil {
				checkError(t, ended, vector.End)
			}
			checkAnswers(t, came, vector.Answers)
		})
	}
}

// told is an answer as JSON, and the entries of raw that it names.
type told struct {
	told map[string]any
	raw  []any
}

func replay(t *testing.T, ctx context.Context, client *Client, messages []json.RawMessage) (map[uint64][]told, *Error) {
	t.Helper()
	stream, err := client.connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, sessionMethod)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range messages {
		request, raw := parsed(t, "SessionRequest", message)
		if stream.SendMsg(split(t, request, raw)) != nil {
			break // the server has ended the RPC
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	came := map[uint64][]told{}
	for {
		var message incoming
		if err := stream.RecvMsg(&message); err == io.EOF { //nolint:errorlint // grpc gives io.EOF as it is
			return came, nil
		} else if err != nil {
			return came, errorOfCall(err, stream.Trailer())
		}
		var response pb.SessionResponse
		if err := message.read(&response); err != nil {
			t.Fatal(err)
		}
		for _, answer := range response.GetAnswers() {
			raw := renumbered(t, answer, &message)
			came[answer.GetId()] = append(came[answer.GetId()], told{toldJSON(t, answer), raw})
		}
		message.free()
	}
}

// renumbered numbers the entries that an answer names in the order in which it first names them, and gives them in that order.
func renumbered(t *testing.T, answer *pb.Answer, message *incoming) []any {
	t.Helper()
	named, numbers := []any{}, map[uint32]uint32{}
	number := func(index uint32) uint32 {
		if _, has := numbers[index]; !has {
			if int(index) >= len(message.raw) {
				t.Fatalf("entry %d of %d", index, len(message.raw))
			}
			entry := make([]byte, message.raw[index].size)
			message.copyEntry(int(index), entry)
			numbers[index] = uint32(len(named))
			named = append(named, base64.StdEncoding.EncodeToString(entry))
		}
		return numbers[index]
	}
	if chunk := answer.GetChunk(); chunk != nil {
		chunk.RawIndex = number(chunk.GetRawIndex())
	}
	for _, output := range answer.GetOutputs().GetOutputs() {
		if data, has := output.GetData().(*pb.Tensor_RawIndex); has {
			data.RawIndex = number(data.RawIndex)
		}
	}
	return named
}

func checkAnswers(t *testing.T, came map[uint64][]told, want map[string][]map[string]any) {
	t.Helper()
	for id := range came {
		if want[strconv.FormatUint(id, 10)] == nil {
			t.Errorf("answers to command %d: %v", id, came[id])
		}
	}
	for id, answers := range want {
		number, _ := strconv.ParseUint(id, 10, 64)
		if len(came[number]) != len(answers) {
			t.Errorf("command %s: want %d answers, got %v", id, len(answers), came[number])
			continue
		}
		for i, answer := range answers {
			got := came[number][i]
			raw, _ := answer["raw"].([]any)
			delete(answer, "raw")
			check(t, "command "+id, got.told, answer)
			check(t, "raw of command "+id, got.raw, append([]any{}, raw...))
			if (got.told["error"] != nil) != (answer["error"] != nil) {
				t.Errorf("command %s: error %v, want %v", id, got.told["error"], answer["error"])
			}
			if more, _ := answer["more"].(bool); got.told["more"] != more {
				t.Errorf("command %s: more is %v", id, got.told["more"])
			}
		}
	}
}

func messageNamed(t *testing.T, name string) proto.Message {
	t.Helper()
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("opserve.v1." + name))
	if err != nil {
		t.Fatal(err)
	}
	return kind.New().Interface()
}

// parsed is a message of JSON without its entries of raw, and these.
func parsed(t *testing.T, name string, text []byte) (proto.Message, [][]byte) {
	t.Helper()
	message := messageNamed(t, name)
	if err := protojson.Unmarshal(text, message); err != nil {
		t.Fatal(err)
	}
	var entries [][]byte
	fields := message.ProtoReflect()
	if field := fields.Descriptor().Fields().ByName("raw"); field != nil {
		for i := range fields.Get(field).List().Len() {
			entries = append(entries, fields.Get(field).List().Get(i).Bytes())
		}
		fields.Clear(field)
	}
	return message, entries
}

func split(t *testing.T, message proto.Message, raw [][]byte) *outgoing {
	t.Helper()
	header, err := written(message)
	if err != nil {
		t.Fatal(err)
	}
	return &outgoing{header: header, raw: raw}
}

// joined is an answer with its entries of raw.
func joined(t *testing.T, name string, answer *incoming) proto.Message {
	t.Helper()
	message := messageNamed(t, name)
	if err := answer.read(message); err != nil {
		t.Fatal(err)
	}
	for i, entry := range answer.raw {
		data := make([]byte, entry.size)
		answer.copyEntry(i, data)
		fields := message.ProtoReflect()
		fields.Mutable(fields.Descriptor().Fields().ByName("raw")).List().Append(protoreflect.ValueOfBytes(data))
	}
	return message
}

func toldJSON(t *testing.T, message proto.Message) map[string]any {
	t.Helper()
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatal(err)
	}
	return told
}

func checkResponse(t *testing.T, answer proto.Message, want map[string]any) {
	t.Helper()
	got := toldJSON(t, answer)
	check(t, "response", got, want)
	results, _ := got["results"].([]any)
	for i, result := range results {
		wanted := want["results"].([]any)[i].(map[string]any)
		if result.(map[string]any)["error"] != nil && wanted["error"] == nil {
			t.Errorf("result %d: %v", i, result)
		}
	}
}

func checkError(t *testing.T, got *Error, want map[string]any) {
	t.Helper()
	if got == nil || want == nil {
		t.Fatalf("want the error %v, got %v", want, got)
	}
	var code codes.Code
	if text, err := json.Marshal(want["code"]); err != nil || json.Unmarshal(text, &code) != nil || code != got.Code {
		t.Errorf("want the code %v, got %v", want["code"], got)
	}
	metadata := map[string]any{"operator": got.Operator, "parameter": got.Parameter, "want": got.Want, "got": got.Got}
	if got.AclnnCode != 0 {
		metadata["code"] = strconv.Itoa(got.AclnnCode)
	}
	delete(want, "code")
	check(t, "error", map[string]any{"reason": got.Reason, "metadata": metadata}, want)
}

// check compares what came with what must be in it.
func check(t *testing.T, place string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, value := range want {
			found := fields[name]
			if list, isList := value.([]any); isList && len(list) == 0 && found == nil {
				continue
			}
			if found == nil && (value == "" || value == "0" || value == false || number(value) == 0.0) {
				continue
			}
			check(t, place+"."+name, found, value)
		}
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			t.Errorf("%s: want %v, got %v", place, want, got)
			return
		}
		for i := range want {
			check(t, fmt.Sprintf("%s[%d]", place, i), list[i], want[i])
		}
	default:
		if got != want && (number(want) == nil || number(got) != number(want)) {
			t.Errorf("%s: want %v, got %v", place, want, got)
		}
	}
}

// number is what numbers of JSON, also those that are strings there, are compared by; nil for what is none.
func number(value any) any {
	switch value := value.(type) {
	case float64:
		return value
	case string:
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			return number
		}
	}
	return nil
}
