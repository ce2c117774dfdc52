// Element-wise calls in pieces: the bits of the whole call, however it is cut.
#include "core/engine/run/piecewise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/engine/run/kernel_run.h"
#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_device.h"
#include "tests/support/operator_test.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using Flags = absl::InlinedVector<bool, 4>;
std::span<const bool> SpanOf(const Flags& flags) { return {flags.data(), flags.size()}; }

std::vector<const Operator*> PiecewiseOperators() {
  std::vector<const Operator*> found;
  for (const Operator* op : AllOperators()) {
    if (op->runs_in_pieces != nullptr) found.push_back(op);
  }
  return found;
}

// Of the reductions of a gradient the mean, whose 1/n must be that of the whole call.
const std::vector<AttributeValue>& AttributesOf(const Operator& op) {
  const std::vector<LabelledAttributes>& lists = TestOf(op).measured;
  return lists[lists.size() > 1 && op.name.ends_with("Backward") ? 1 : 0].values;
}

TestTensor RandomWithSpecials(DType dtype, const Dims& shape, Rng& rng) {
  TestTensor tensor = TestTensor::Random(dtype, shape, rng);
  const double specials[] = {std::nan(""), std::numeric_limits<double>::infinity(), -0.0, 0.5};
  for (const double special : specials) {
    if (tensor.count() > 0)
      tensor.Set(static_cast<int64_t>(rng() % static_cast<uint64_t>(tensor.count())),
                 Number{special});
  }
  return tensor;
}

// A call whose inputs are chunked as `chunked` says; the others are broadcast to the output.
struct PieceCase {
  OpCase op_case;
  Flags chunked;
};

class PiecewiseTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static constexpr int64_t kRows = 37;
  static constexpr int64_t kColumns = 301;
  static constexpr int64_t kCount = kRows * kColumns;

  // `broadcast` is the shape of the inputs that are not chunked.
  PieceCase MakeCase(DType dtype, Flags chunked, const Dims& broadcast) {
    std::vector<std::optional<TestTensor>> inputs;
    for (const bool whole : chunked) {
      inputs.emplace_back(
          RandomWithSpecials(dtype, whole ? Dims{kRows, kColumns} : broadcast, rng_));
    }
    return {CallOf(GetParam()->name, std::move(inputs), AttributesOf(*GetParam())),
            std::move(chunked)};
  }

  static Plan PlanOf(Engine& engine, const OpCase& op_case) {
    absl::StatusOr<Plan> plan = engine.MakePlan(ToNamedCall(op_case));
    EXPECT_THAT(plan, IsOk());
    return *std::move(plan);
  }

  // The range's bytes of what is chunked, moved to an odd address and cut in two; all of the rest.
  static std::vector<Fragments> InputsOf(const PieceCase& piece, ElementRange range,
                                         std::vector<std::vector<std::byte>>& memory) {
    std::vector<Fragments> inputs;
    memory.reserve(piece.chunked.size());
    for (size_t i = 0; i < piece.chunked.size(); ++i) {
      const TestTensor& tensor = *piece.op_case.inputs[i];
      std::span<const std::byte> bytes = tensor.bytes();
      if (piece.chunked[i]) {
        const size_t size = DTypeSize(tensor.desc().dtype);
        bytes = bytes.subspan(static_cast<size_t>(range.begin) * size,
                              static_cast<size_t>(range.count) * size);
      }
      std::vector<std::byte>& moved = memory.emplace_back(bytes.size() + 1);
      std::copy(bytes.begin(), bytes.end(), moved.begin() + 1);
      Fragments& fragments = inputs.emplace_back();
      // The first input comes in two pieces, the second where it lies, the third misaligned.
      const size_t cut = i == 0 ? bytes.size() / 3 : 0;
      const std::span<const std::byte> from = i == 1 ? bytes : std::span(moved).subspan(1);
      fragments.Append(from.first(cut));
      fragments.Append(from.subspan(cut));
    }
    return inputs;
  }

  // Runs the call in pieces that are cut at random.
  std::vector<std::byte> RunInPieces(Engine& engine, const Plan& plan, const PieceCase& piece) {
    std::vector<std::byte> made;
    for (int64_t begin = 0; begin < kCount;) {
      const int64_t most = rng_() % 2 == 0 ? 100 : kCount;
      const int64_t count =
          std::min(kCount - begin, static_cast<int64_t>(rng_() % static_cast<uint64_t>(most)));
      const ElementRange range{begin, count};
      std::vector<std::vector<std::byte>> memory;
      const absl::StatusOr<PooledBuffer> bytes = engine.RunPiece(
          plan, range, SpanOf(piece.chunked), InputsOf(piece, range, memory), ClientId::kNone);
      EXPECT_THAT(bytes, IsOk());
      if (!bytes.ok()) return {};
      made.insert(made.end(), bytes->data(), bytes->data() + bytes->size());
      begin += count;
    }
    return made;
  }

  static std::vector<std::byte> RangeOf(const TestTensor& tensor, ElementRange range) {
    const size_t size = DTypeSize(tensor.desc().dtype);
    const auto begin = tensor.bytes().begin() + range.begin * static_cast<int64_t>(size);
    return {begin, begin + range.count * static_cast<int64_t>(size)};
  }

  // The output of a range, all of whose inputs are chunked, in the memory of input `over`.
  static std::vector<std::byte> RunOver(const Plan& plan, const PieceCase& piece,
                                        ElementRange range, size_t over) {
    std::vector<std::vector<std::byte>> memory;
    for (const auto& input : piece.op_case.inputs) memory.push_back(RangeOf(*input, range));
    KernelRun run(plan);
    EXPECT_THAT(run.LeaseScratch(), IsOk());
    run.SetInputs([&](size_t i) { return memory[i].data(); });
    run.SetOutputs([&](size_t /*output*/) { return memory[over].data(); });
    const Workers workers(plan.device->workers());
    EXPECT_THAT(run.Run(workers, range, SpanOf(piece.chunked)), IsOk());
    return memory[over];
  }

  void ExpectTheBitsOfTheWhole(Engine& engine, const PieceCase& piece) {
    const Plan plan = PlanOf(engine, piece.op_case);
    ASSERT_THAT(CheckPiecewise(plan, SpanOf(piece.chunked)), IsOk());
    const auto whole = testing::Run(*host_, piece.op_case);
    ASSERT_THAT(whole, IsOk());
    EXPECT_TRUE(RunInPieces(engine, plan, piece) == whole->front().bytes());
  }

  // Which inputs are chunked, in all ways that leave the output's shape to one of them.
  static std::vector<Flags> Choices() {
    const size_t inputs = GetParam()->inputs.size();
    std::vector<Flags> choices;
    for (size_t mask = 1; mask < size_t{1} << inputs; ++mask) {
      Flags& chunked = choices.emplace_back();
      for (size_t i = 0; i < inputs; ++i) chunked.push_back((mask >> i) % 2 != 0);
    }
    return choices;
  }

  Rng rng_ = MakeRng(41);
  FakeClock clock_;
  std::unique_ptr<Engine> host_ = MakeEngine(2);
};

TEST_P(PiecewiseTest, AnyCutsGiveTheBitsOfTheWhole) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const Flags& chunked : Choices()) {
      for (const Dims& broadcast :
           {Dims{}, Dims{kColumns}, Dims{kRows, 1}, Dims{kRows, kColumns}}) {
        SCOPED_TRACE(std::string(DTypeName(dtype)) + ShapeToString(broadcast));
        ExpectTheBitsOfTheWhole(*host_, MakeCase(dtype, chunked, broadcast));
        if (HasFailure()) return;
      }
    }
  }
}

// As a program's steps do that run together.
TEST_P(PiecewiseTest, TheOutputMayLieWhereAnInputDid) {
  const PieceCase piece = MakeCase(DType::kFloat32, Choices().back(), {});
  const Plan plan = PlanOf(*host_, piece.op_case);
  const auto whole = testing::Run(*host_, piece.op_case);
  ASSERT_THAT(whole, IsOk());
  for (size_t over = 0; over < piece.chunked.size(); ++over) {
    for (const ElementRange range : {ElementRange{0, kCount}, ElementRange{77, 5001}}) {
      SCOPED_TRACE(over);
      EXPECT_TRUE(RunOver(plan, piece, range, over) == RangeOf(whole->front(), range));
    }
  }
}

TEST_P(PiecewiseTest, MixedDTypesAreConvertedInEachPiece) {
  PieceCase piece = MakeCase(DType::kFloat32, Choices().back(), {});
  for (size_t i = 1; i < piece.op_case.inputs.size(); ++i)
    piece.op_case.inputs[i] = RandomWithSpecials(DType::kFloat16, {kRows, kColumns}, rng_);
  piece.op_case.output_dtypes = {DType::kBFloat16};
  ExpectTheBitsOfTheWhole(*host_, piece);
}

TEST_P(PiecewiseTest, WorksOnADeviceWithMemoryOfItsOwn) {
  const ManualEngine manual = MakeManualEngine(clock_);
  ExpectTheBitsOfTheWhole(*manual.engine, MakeCase(DType::kFloat16, Choices().front(), {}));
  EXPECT_EQ(manual.device->memory().stats().used_bytes, 0);
  EXPECT_EQ(manual.device->host_memory().stats().used_bytes, 0);
}

TEST_P(PiecewiseTest, RefusesWhatCannotBeChunked) {
  const PieceCase piece = MakeCase(DType::kFloat32, Choices().back(), {});
  const Plan plan = PlanOf(*host_, piece.op_case);
  const Flags none(piece.chunked.size(), false);
  ExpectError(CheckPiecewise(plan, SpanOf(none)), kParamInvalid, "chunked");
  ExpectError(CheckPiecewise(plan, {}), kParamInvalid, "chunked");
  PieceCase view = piece;
  view.op_case = Scattered(piece.op_case);
  ExpectError(CheckPiecewise(PlanOf(*host_, view.op_case), SpanOf(view.chunked)), kParamInvalid,
              GetParam()->inputs[0].name);
  if (GetParam()->inputs.size() < 2) return;
  PieceCase row = piece;
  row.op_case.inputs[1] = TestTensor::Full(DType::kFloat32, {kColumns}, 1);
  ExpectError(CheckPiecewise(PlanOf(*host_, row.op_case), SpanOf(row.chunked)), kParamInvalid,
              GetParam()->inputs[1].name);
}

TEST_P(PiecewiseTest, RefusesBytesThatAreNotTheRanges) {
  const PieceCase piece = MakeCase(DType::kFloat32, Choices().back(), {});
  const Plan plan = PlanOf(*host_, piece.op_case);
  std::vector<std::vector<std::byte>> memory;
  const std::vector<Fragments> ten = InputsOf(piece, {0, 10}, memory);
  const auto run = [&](ElementRange range) {
    return host_->RunPiece(plan, range, SpanOf(piece.chunked), ten, ClientId::kNone).status();
  };
  EXPECT_THAT(run({0, 10}), IsOk());
  ExpectError(run({0, 11}), kParamInvalid, GetParam()->inputs[0].name);
  for (const ElementRange& outside :
       {ElementRange{-1, 10}, ElementRange{0, -1}, ElementRange{kCount - 9, 10},
        ElementRange{std::numeric_limits<int64_t>::max(), 10}}) {
    ExpectError(run(outside), kParamInvalid, "range");
  }
  ExpectError(host_->RunPiece(plan, {0, 10}, SpanOf(piece.chunked), {}, ClientId::kNone).status(),
              kParamNullptr, GetParam()->inputs[0].name);
}

INSTANTIATE_TEST_SUITE_P(Operators, PiecewiseTest, ::testing::ValuesIn(PiecewiseOperators()),
                         [](const auto& op) { return std::string(op.param->name); });

TEST(PiecewiseCallsTest, LossesAndActivationsAreMaps) {
  std::vector<std::string_view> names;
  for (const Operator* op : PiecewiseOperators()) names.push_back(op->name);
  EXPECT_THAT(names, ::testing::IsSupersetOf<std::string_view>(
                         {"L1Loss", "L1LossBackward", "SmoothL1Loss", "SmoothL1LossBackward",
                          "Hardshrink", "HardshrinkBackward"}));
  for (const std::string_view other :
       {"GroupNorm", "GroupNormBackward", "CtcLoss", "CtcLossBackward"})
    EXPECT_THAT(names, ::testing::Not(::testing::Contains(other)));
}

TEST(PiecewiseCallsTest, SumsAndNormsAreNone) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const bool chunked[] = {true, true};
  for (const char* op : {"L1Loss", "SmoothL1Loss"}) {
    std::vector<AttributeValue> attributes = {int64_t{1}};
    if (std::string_view(op) == "SmoothL1Loss") attributes.emplace_back(1.0);
    const OpCase mean = CallOf(op, {Floats({1, 2}), Floats({1, 2})}, attributes);
    ExpectError(CheckPiecewise(*engine->MakePlan(ToNamedCall(mean)), chunked), kParamInvalid,
                "operator");
  }
  for (const Operator* op : AllOperators()) {
    if (op->runs_in_pieces != nullptr) continue;
    const Plan plan = *engine->MakePlan(ToNamedCall(CasesOf(*op)[0]));
    const Flags all(plan.call.inputs.size(), true);
    ExpectError(CheckPiecewise(plan, SpanOf(all)), kParamInvalid, "operator");
  }
}

// Pieces that are written past the caches, and begin anywhere.
TEST(PiecewiseCallsTest, LargePiecesGiveTheBitsOfTheWhole) {
  const std::unique_ptr<Engine> engine = MakeEngine(2);
  constexpr int64_t kCount = 9'000'001;
  constexpr ElementRange kRange{12'345, kCount - 20'000};
  Rng rng = MakeRng(43);
  const TestTensor self = TestTensor::Random(DType::kFloat32, {kCount}, rng);
  const OpCase op_case = CallOf("Hardshrink", {self}, {0.5});
  const bool chunked[] = {true};
  const Fragments window(std::span(self.bytes()).subspan(4 * kRange.begin, 4 * kRange.count));
  const auto piece = engine->RunPiece(*engine->MakePlan(ToNamedCall(op_case)), kRange, chunked,
                                      {&window, 1}, ClientId::kNone);
  ASSERT_THAT(piece, IsOk());
  const auto whole = testing::Run(*engine, op_case);
  EXPECT_EQ(
      std::memcmp(piece->data(), whole->front().bytes().data() + 4 * kRange.begin, piece->size()),
      0);
}

TEST(PiecewiseCallsTest, ACallIsCountedOnce) {
  const std::unique_ptr<Engine> engine = MakeEngine(1);
  const OpCase op_case = CallOf("HardshrinkBackward", {Floats({1, 2, 3, 4}), Floats({1})}, {0.5});
  const Plan plan = *engine->MakePlan(ToNamedCall(op_case));
  const bool chunked[] = {true, false};
  const std::span<const std::byte> bytes = op_case.inputs[0]->bytes();
  for (const ElementRange range : {ElementRange{0, 0}, ElementRange{0, 1}, ElementRange{1, 3}}) {
    const Fragments inputs[] = {Fragments(bytes.subspan(4 * static_cast<size_t>(range.begin),
                                                        4 * static_cast<size_t>(range.count))),
                                Fragments(op_case.inputs[1]->bytes())};
    EXPECT_THAT(engine->RunPiece(plan, range, chunked, inputs, ClientId::kNone), IsOk());
  }
  EXPECT_FALSE(engine->RunPiece(plan, {1, 3}, chunked, {}, ClientId::kNone).ok());
  const EngineStatistics counted = engine->statistics();
  EXPECT_EQ(counted.inline_calls, 1);
  EXPECT_EQ(counted.queued_calls, 0);
  ASSERT_EQ(counted.operators.size(), 1u);
  EXPECT_EQ(counted.operators[0].op, "HardshrinkBackward");
  EXPECT_EQ(counted.operators[0].calls, 1);
  EXPECT_EQ(counted.operators[0].ended[0], 1);
  EXPECT_EQ(counted.operators[0].failed_calls, 1);
  EXPECT_EQ(counted.operators[0].input_bytes, 4 * 4 + 4);
  EXPECT_EQ(counted.operators[0].output_bytes, 4 * 4);
}

TEST(PiecewiseCallsTest, MemoryIsThatOfTheClient) {
  constexpr ClientId kClient{1};
  EngineOptions options;
  options.memory_limit_bytes = 1 << 20;
  options.client_share = 0.5;
  const std::unique_ptr<Engine> engine = *Engine::Create(options);
  const OpCase op_case =
      CallOf("Hardshrink", {TestTensor::Full(DType::kFloat32, {1 << 16}, 1)}, {0.5});
  const Plan plan = *engine->MakePlan(ToNamedCall(op_case));
  const bool chunked[] = {true};
  std::vector<std::byte> memory(op_case.inputs[0]->bytes().size() + 1);
  const auto run = [&](const std::byte* start) {
    const Fragments bytes({start, memory.size() - 1});
    return engine->RunPiece(plan, {0, 1 << 16}, chunked, {&bytes, 1}, kClient);
  };
  {
    const auto made = run(memory.data());
    ASSERT_THAT(made, IsOk());
    EXPECT_THAT(run(memory.data()), IsOk());  // as much again, which is half of all
    ExpectError(run(memory.data() + 1).status(), ErrorReason::kResourceLimit, "memory limit");
  }
  EXPECT_THAT(run(memory.data() + 1), IsOk());
}

// A call that no memory holds, and that takes too long for a call in one piece.
TEST(PiecewiseCallsTest, HugeCallsNeedNoHugeMemory) {
  EngineOptions options;
  options.calls.max_time = absl::Seconds(1);
  const std::unique_ptr<Engine> engine = *Engine::Create(options);
  NamedCall call;
  call.op = *FindOperator("Hardshrink");
  const Dims shape = {int64_t{1} << 55};
  call.inputs.push_back({"self", TensorDesc::Dense(DType::kFloat32, shape), -1});
  call.attributes.push_back({"lambd", 0.5});
  const bool chunked[] = {true};
  ExpectError(engine->MakePlan(call).status(), ErrorReason::kResourceLimit, "max_call_time");
  const bool none[] = {false};
  ExpectError(engine->MakePiecewisePlan(call, none).status(), kParamInvalid, "chunked");
  const absl::StatusOr<Plan> plan = engine->MakePiecewisePlan(call, chunked);
  ASSERT_THAT(plan, IsOk());
  const float values[] = {1, 0.25, -2};
  const Fragments input(std::as_bytes(std::span(values)));
  const auto piece =
      engine->RunPiece(*plan, {shape[0] - 3, 3}, chunked, {&input, 1}, ClientId::kNone);
  ASSERT_THAT(piece, IsOk());
  float got[3];
  std::memcpy(got, piece->data(), sizeof(got));
  EXPECT_THAT(got, ::testing::ElementsAre(1, 0, -2));
}

}  // namespace
}  // namespace opserve::testing
