// ChunkedExecute of every operator that can: any cuts give the bits of the whole call.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "core/engine/run/piecewise.h"
#include "core/op/op_table.h"
#include "tests/server/session/session_harness.h"
#include "tests/support/cases.h"
#include "tests/support/run.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

std::vector<std::string> OperatorNames() {
  std::vector<std::string> names;
  for (const Operator* op : AllOperators()) {
    if (op->runs_in_pieces != nullptr) names.emplace_back(op->name);
  }
  return names;
}

v1::Attribute ToAttribute(std::string_view name, const AttributeValue& value) {
  v1::Attribute attribute;
  attribute.set_name(std::string(name));
  if (const auto* number = std::get_if<int64_t>(&value)) attribute.set_int_value(*number);
  if (const auto* number = std::get_if<double>(&value)) attribute.set_float_value(*number);
  if (const auto* yes = std::get_if<bool>(&value)) attribute.set_bool_value(*yes);
  if (const auto* choice = std::get_if<std::string>(&value)) attribute.set_string_value(*choice);
  return attribute;
}

// Which inputs come in chunks: of those with the output's shape some, at random, and at least one.
std::vector<size_t> ChunkedInputs(const OpCase& op_case, const Plan& plan, Rng& rng) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    const std::optional<TestTensor>& input = op_case.inputs[i];
    if (input.has_value() && SameShape(input->desc().shape, plan.call.outputs[0].desc.shape))
      fitting.push_back(i);
  }
  if (fitting.empty()) return {};
  const size_t never_kept = fitting[rng() % fitting.size()];
  std::erase_if(fitting, [&](size_t i) { return i != never_kept && rng() % 4 == 0; });
  return fitting;
}

// A case as a command.
struct ChunkedCase {
  v1::Command command;
  std::vector<std::string> raw;
  std::vector<size_t> chunked;  // inputs of the case
};

ChunkedCase ToChunked(const OpCase& op_case, const Plan& plan, Rng& rng) {
  ChunkedCase made;
  made.chunked = ChunkedInputs(op_case, plan, rng);
  v1::Call& call = *made.command.mutable_execute_chunked()->mutable_call();
  call.set_op(std::string(op_case.op->name));
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.inputs[i].has_value()) continue;
    const TestTensor& input = *op_case.inputs[i];
    v1::Tensor& tensor = *call.add_inputs();
    tensor.set_name(std::string(op_case.op->inputs[i].name));
    tensor.set_dtype(static_cast<v1::DataType>(input.desc().dtype));
    tensor.mutable_shape()->Add(input.desc().shape.begin(), input.desc().shape.end());
    if (absl::c_linear_search(made.chunked, i)) {
      tensor.mutable_chunked();
      continue;
    }
    tensor.set_raw_index(static_cast<uint32_t>(made.raw.size()));
    made.raw.emplace_back(reinterpret_cast<const char*>(input.bytes().data()),
                          input.bytes().size());
  }
  for (size_t i = 0; i < op_case.attributes.size(); ++i) {
    if (!IsGiven(op_case.attributes[i])) continue;
    *call.add_attributes() = ToAttribute(op_case.op->attributes[i].name, op_case.attributes[i]);
  }
  for (size_t i = 0; i < op_case.output_dtypes.size(); ++i) {
    v1::Tensor& output = *call.add_outputs();
    output.set_name(std::string(op_case.op->outputs[i].name));
    output.set_dtype(static_cast<v1::DataType>(op_case.output_dtypes[i]));
  }
  return made;
}

// The bytes of the chunked inputs, cut and interleaved at random within the skew.
class Feeder {
 public:
  Feeder(const OpCase& op_case, const std::vector<size_t>& chunked, int64_t max_skew_bytes,
         Rng& rng)
      : op_case_(op_case), max_skew_bytes_(max_skew_bytes), rng_(rng) {
    for (const size_t input : chunked) left_.push_back({input, 0});
  }

  void Feed(SessionHarness& session, uint64_t call) {
    while (true) {
      std::vector<Part*> open;
      for (Part& part : left_) {
        if (part.sent < Tensor(part).count()) open.push_back(&part);
      }
      if (open.empty()) return;
      SendSome(session, call, *open[rng_() % open.size()]);
    }
  }

 private:
  struct Part {
    size_t input;
    int64_t sent;  // elements
  };

  const TestTensor& Tensor(const Part& part) const { return *op_case_.inputs[part.input]; }

  void SendSome(SessionHarness& session, uint64_t call, Part& part) {
    const TestTensor& tensor = Tensor(part);
    const auto element = static_cast<int64_t>(DTypeSize(tensor.desc().dtype));
    int64_t least = part.sent;
    for (const Part& other : left_) least = std::min(least, other.sent);
    const int64_t room =
        std::min(tensor.count() - part.sent, max_skew_bytes_ / element - (part.sent - least));
    const int64_t most = rng_() % 2 == 0 ? room : std::min<int64_t>(room, 3);
    const int64_t count = most == 0 ? 0 : static_cast<int64_t>(rng_() % (most + 1));
    v1::Command chunk;
    chunk.mutable_input_chunk()->set_command(call);
    chunk.mutable_input_chunk()->set_input(std::string(op_case_.op->inputs[part.input].name));
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes().data());
    session.Send(chunk, {std::string(bytes + part.sent * element, count * element)});
    part.sent += count;
  }

  const OpCase& op_case_;
  const int64_t max_skew_bytes_;
  Rng& rng_;
  std::vector<Part> left_;
};

class SessionPiecesTest : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operators, SessionPiecesTest, ::testing::ValuesIn(OperatorNames()),
                         [](const auto& param) { return param.param; });

TEST_P(SessionPiecesTest, AnyCutsGiveTheWholeCallsBits) {
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  Rng rng = MakeRng(1);
  int calls = 0;
  for (const OpCase& op_case : CasesOf(**FindOperator(GetParam()))) {
    const Plan plan = *engine->MakePlan(ToNamedCall(op_case));
    if (!op_case.op->runs_in_pieces(plan.call)) continue;
    const ChunkedCase chunked = ToChunked(op_case, plan, rng);
    if (chunked.chunked.empty()) continue;
    const server::SessionLimits limits{.max_skew_bytes = static_cast<int64_t>(16 + rng() % 5000),
                                       .chunk_bytes = static_cast<int64_t>(8 + rng() % 3000)};
    SessionHarness session(*engine, limits);
    const uint64_t id = session.Send(chunked.command, chunked.raw);
    Feeder(op_case, chunked.chunked, limits.max_skew_bytes, rng).Feed(session, id);
    const Reply reply = session.Await(id);
    ASSERT_THAT(reply, IsOk()) << op_case.label << reply.last().error().message();
    const TestTensor whole = opserve::testing::Run(*engine, op_case)->front();
    const auto* bits = reinterpret_cast<const char*>(whole.bytes().data());
    EXPECT_TRUE(reply.bytes(op_case.op->outputs[0].name) == std::string(bits, whole.bytes().size()))
        << op_case.label;
    ++calls;
  }
  EXPECT_GT(calls, 3);
}

TEST(SessionPiecesTableTest, AtLeastSixOperatorsCan) { EXPECT_GE(OperatorNames().size(), 6u); }

}  // namespace
}  // namespace opserve::testing
