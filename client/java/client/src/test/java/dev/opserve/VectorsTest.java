package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message.Builder;
import dev.opserve.Parts.Places;
import dev.opserve.v1.Answer;
import dev.opserve.v1.SessionRequest;
import dev.opserve.v1.SessionResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The vectors of proto/conformance, sent and read as the client sends and reads. */
class VectorsTest {
  private static final Path FOLDER = Path.of("../../../proto/conformance");
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static TestServer server;
  private static Connection connection;

  @BeforeAll
  static void start() throws Exception {
    server = new TestServer();
    connection = new Connection(List.of(server.address()), InsecureChannelCredentials.create(), null, null, 1 << 30);
  }

  @AfterAll
  static void stop() {
    connection.close();
    server.close();
  }

  private static Stream<JsonObject> cases(String file) throws Exception {
    JsonArray cases = JsonParser.parseString(Files.readString(FOLDER.resolve(file))).getAsJsonObject().getAsJsonArray("cases");
    assertTrue(cases.size() > 20, "vectors in " + file);
    return StreamSupport.stream(cases.spliterator(), false).map(JsonElement::getAsJsonObject);
  }

  @TestFactory
  Stream<DynamicTest> unary() throws Exception {
    return cases("unary.json").map(vector -> DynamicTest.dynamicTest(vector.get("name").getAsString(), () -> unary(vector)));
  }

  @TestFactory
  Stream<DynamicTest> session() throws Exception {
    return cases("session.json").map(vector -> DynamicTest.dynamicTest(vector.get("name").getAsString(), () -> session(vector)));
  }

  private static Builder builder(String method, String kind) throws Exception {
    return (Builder) Class.forName("dev.opserve.v1." + method + kind).getMethod("newBuilder").invoke(null);
  }

  /** A message as the client makes them: without its entries of `raw`, and these beside it. */
  private static Message messageOf(Builder whole) {
    FieldDescriptor raw = whole.getDescriptorForType().findFieldByName("raw");
    List<Elements> entries = new ArrayList<>();
    if (raw != null) {
      ((List<?>) whole.getField(raw)).forEach(
          entry -> entries.add(new Elements(((ByteString) entry).asReadOnlyByteBuffer())));
      whole.clearField(raw);
    }
    return new Message(whole.build(), entries);
  }

  private static Builder wholeOf(Builder whole, Parts parts) throws Exception {
    whole.mergeFrom(parts.header());
    FieldDescriptor raw = whole.getDescriptorForType().findFieldByName("raw");
    for (ByteBuffer entry : parts.raw()) {
      whole.addRepeatedField(raw, ByteString.copyFrom(entry.duplicate()));
    }
    return whole;
  }

  private static void unary(JsonObject vector) throws Exception {
    String method = vector.get("method").getAsString();
    Message message = messageOf(Json.read(vector.get("request"), builder(method, "Request")));
    Request<Parts> request = new Request<>(method, message, Places.OWN, parts -> parts);
    if (vector.has("error")) {
      checkError(assertThrows(OpserveException.class, () -> connection.call(request, LIMIT)), vector.get("error"));
      return;
    }
    JsonObject got = Json.print(wholeOf(builder(method, "Response"), connection.call(request, LIMIT)));
    JsonObject want = vector.getAsJsonObject("response");
    assertNull(Json.difference(got, want, "response"));
    if (want.has("results")) {
      for (int i = 0; i < want.getAsJsonArray("results").size(); i++) {
        boolean wanted = want.getAsJsonArray("results").get(i).getAsJsonObject().has("error");
        assertEquals(wanted, got.getAsJsonArray("results").get(i).getAsJsonObject().has("error"), "error of result " + i);
      }
    }
  }

  private static void checkError(OpserveException error, JsonElement want) {
    JsonObject metadata = new JsonObject();
    error.aclnnCode().ifPresent(code -> metadata.addProperty("code", String.valueOf(code)));
    metadata.addProperty("operator", error.operator());
    metadata.addProperty("parameter", error.parameter());
    metadata.addProperty("want", error.want());
    metadata.addProperty("got", error.got());
    JsonObject got = new JsonObject();
    got.addProperty("code", error.code().name());
    got.addProperty("reason", error.reason());
    got.add("metadata", metadata);
    assertNull(Json.difference(got, want, "error"));
  }

  /** What came of a session: the answers by command, each with its entries of `raw`, and how it ended. */
  private record Came(Map<String, List<JsonObject>> answers, OpserveException end) {}

  private static void session(JsonObject vector) throws Exception {
    Came came = replay(vector.getAsJsonArray("messages"));
    if (vector.has("end")) {
      checkError(came.end, vector.get("end"));
    } else {
      assertNull(came.end);
    }
    JsonObject wanted = vector.has("answers") ? vector.getAsJsonObject("answers") : new JsonObject();
    assertTrue(came.answers.remove("0").get(0).has("info"), "the first answer is a notice with info");
    assertEquals(wanted.keySet(), came.answers.keySet());
    for (String id : wanted.keySet()) {
      JsonArray answers = wanted.getAsJsonArray(id);
      assertEquals(answers.size(), came.answers.get(id).size(), "answers to command " + id);
      for (int i = 0; i < answers.size(); i++) {
        checkAnswer(came.answers.get(id).get(i), answers.get(i).getAsJsonObject(), "answer " + i + " to command " + id);
      }
    }
  }

  private static void checkAnswer(JsonObject got, JsonObject want, String what) {
    assertEquals(want.has("raw") ? want.get("raw") : new JsonArray(), got.get("raw"), what);
    assertNull(Json.difference(got, want, what));
    assertEquals(want.has("error"), got.has("error"), what + " has an error");
    assertEquals(want.has("more") && want.get("more").getAsBoolean(), got.get("more").getAsBoolean(), what + " has more behind it");
  }

  private static Came replay(JsonArray messages) throws Exception {
    Map<String, List<JsonObject>> answers = new HashMap<>();
    CompletableFuture<OpserveException> end = new CompletableFuture<>();
    ClientCall<Message, Wire.Answer> call = connection.newCall(
        Wire.session(Places.OWN), CallOptions.DEFAULT.withDeadline(Connection.deadlineOf(LIMIT)));
    call.start(new ClientCall.Listener<>() {
      @Override
      public void onMessage(Wire.Answer answer) {
        try {
          SessionResponse.Builder response =
              (SessionResponse.Builder) wholeOf(SessionResponse.newBuilder(), answer.get());
          for (Answer each : response.getAnswersList()) {
            answers.computeIfAbsent(String.valueOf(each.getId()), id -> new ArrayList<>()).add(printed(each, response));
          }
          call.request(1);
        } catch (Exception error) {
          end.completeExceptionally(error);
        }
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        end.complete(status.isOk() ? null : Errors.of(status, trailers));
      }
    }, connection.headers());
    call.request(1);
    for (JsonElement message : messages) {
      call.sendMessage(messageOf(Json.read(message, SessionRequest.newBuilder())));
    }
    call.halfClose();
    return new Came(answers, end.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
  }

  /** An answer as JSON with the entries that it names, numbered anew in the order in which it first names them. */
  private static JsonObject printed(Answer answer, SessionResponse.Builder response) throws Exception {
    List<Integer> named = new ArrayList<>();
    Answer.Builder changed = answer.toBuilder();
    if (answer.hasChunk()) {
      changed.getChunkBuilder().setRawIndex(renumbered(named, answer.getChunk().getRawIndex()));
    }
    if (answer.hasOutputs()) {
      changed.getOutputsBuilder().getOutputsBuilderList().forEach(output -> {
        if (output.hasRawIndex()) {
          output.setRawIndex(renumbered(named, output.getRawIndex()));
        }
      });
    }
    JsonObject printed = Json.print(changed);
    JsonArray raw = new JsonArray();
    named.forEach(index -> raw.add(Base64.getEncoder().encodeToString(response.getRaw(index).toByteArray())));
    printed.add("raw", raw);
    return printed;
  }

  private static int renumbered(List<Integer> named, int index) {
    if (!named.contains(index)) {
      named.add(index);
    }
    return named.indexOf(index);
  }

  @Test
  void theServerSendsAnAnswerSoThatItIsReadIntoTheProgramsMemory() {
    Tensor into = Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(12));
    Call call = Call.of("Relu").input("self", Tensor.of(new float[] {-1, 2, 3})).output("out", into);
    Placement placement = new Placement(call);
    Request<Boolean> request = new Request<>(
        "Execute", Requests.execute(call).message(), placement, parts -> placement.filled(parts.raw().get(0), "out"));
    assertTrue(connection.call(request, LIMIT));
    assertArrayEquals(new float[] {0, 2, 3}, into.toFloats());
  }
}
