package dev.opserve;

import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import dev.opserve.Parts.Places;
import dev.opserve.v1.BatchResult;
import dev.opserve.v1.ExecuteBatchRequest;
import dev.opserve.v1.ExecuteBatchResponse;
import dev.opserve.v1.ExecuteRequest;
import dev.opserve.v1.ExecuteResponse;
import dev.opserve.v1.Execution;
import dev.opserve.v1.GetWorkspaceSizeRequest;
import dev.opserve.v1.GetWorkspaceSizeResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is sent, and what is made of the answer, apart from how it travels. */
final class Requests {
  private Requests() {}

  static Request<Result> execute(Call call) {
    Sent sent = new Sent();
    ExecuteRequest header = ExecuteRequest.newBuilder().setCall(sent.call(call)).build();
    Placement placement = new Placement(call);
    return new Request<>("Execute", new Message(header, sent.raw()), placement, parts -> {
      ExecuteResponse response = parts.read(ExecuteResponse.parser());
      Execution execution = response.hasExecution() ? response.getExecution() : null;
      return Outputs.resultOf(call, response.getOutputsList(), parts, placement, execution);
    });
  }

  static Request<List<Outcome>> executeBatch(List<? extends Call> calls) {
    Sent sent = new Sent();
    ExecuteBatchRequest.Builder header = ExecuteBatchRequest.newBuilder();
    for (Call call : calls) {
      header.addCalls(sent.call(call));
    }
    List<Call> asked = List.copyOf(calls);
    return new Request<>("ExecuteBatch", new Message(header.build(), sent.raw()), Places.OWN, parts -> outcomes(asked, parts));
  }

  private static List<Outcome> outcomes(List<Call> calls, Parts parts) {
    List<BatchResult> results = parts.read(ExecuteBatchResponse.parser()).getResultsList();
    if (results.size() != calls.size()) {
      throw Errors.badAnswer(results.size() + " results of " + calls.size() + " calls");
    }
    List<Outcome> outcomes = new ArrayList<>(results.size());
    for (int i = 0; i < results.size(); i++) {
      outcomes.add(outcomeOf(calls.get(i), results.get(i), parts));
    }
    return Collections.unmodifiableList(outcomes);
  }

  private static Outcome outcomeOf(Call call, BatchResult result, Parts parts) {
    if (result.hasError()) {
      return new Outcome(null, Errors.of(result.getError(), 0, ""));
    }
    Execution execution = result.hasExecution() ? result.getExecution() : null;
    return new Outcome(Outputs.resultOf(call, result.getOutputsList(), parts, new Placement(call), execution), null);
  }

  static Request<Plan> plan(dev.opserve.v1.Call call) {
    var header = GetWorkspaceSizeRequest.newBuilder().setCall(call).build();
    return new Request<>("GetWorkspaceSize", Message.of(header), Places.OWN, Requests::planOf);
  }

  private static Plan planOf(Parts parts) {
    GetWorkspaceSizeResponse answer = parts.read(GetWorkspaceSizeResponse.parser());
    Map<String, TensorSpec> outputs = new LinkedHashMap<>();
    for (dev.opserve.v1.Tensor output : answer.getOutputsList()) {
      long[] shape = Outputs.shapeOf(output);
      outputs.put(output.getName(), TensorSpec.of(DataType.fromProto(output.getDtypeValue(), "output " + output.getName()), shape));
    }
    return new Plan(
        answer.getWorkspaceBytes(), Collections.unmodifiableMap(outputs), answer.getInputBytes(), answer.getOutputBytes(),
        answer.getDevice(), Duration.ofNanos(answer.getCost().getExpectedNs()), answer.getCost().getRunsInline(), programOf(answer));
  }

  private static Optional<ProgramPlan> programOf(GetWorkspaceSizeResponse answer) {
    if (!answer.hasProgram()) {
      return Optional.empty();
    }
    long bytes = answer.getProgram().getIntermediateBytes();
    if (bytes < 0) {
      throw Errors.badAnswer("intermediate_bytes is " + bytes);
    }
    return Optional.of(new ProgramPlan(bytes, answer.getProgram().getCall()));
  }

  /** A question without tensors. */
  static <T extends MessageLite> Request<T> ask(String method, MessageLite request, Parser<T> parser) {
    return new Request<>(method, Message.of(request), Places.OWN, parts -> parts.read(parser));
  }
}
