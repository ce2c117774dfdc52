#include "tests/ops/gate_calls.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/support/calls.h"
#include "tests/support/gradient_problem.h"

namespace opserve::testing {
namespace {

size_t WholeOf(const Operator& op) { return op.inputs.size() == 1 ? 0 : 1; }

size_t DimOf(const OpCase& op_case, const Dims& shape) {
  const auto* given = std::get_if<int64_t>(&op_case.attributes[0]);
  const int64_t dim = given == nullptr ? -1 : *given;
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
}

// Where the elements of a half lie in the whole.
class GatePositions {
 public:
  explicit GatePositions(const OpCase& op_case) {
    const Dims& shape = op_case.inputs[WholeOf(*op_case.op)]->desc().shape;
    const size_t dim = DimOf(op_case, shape);
    for (size_t i = dim + 1; i < shape.size(); ++i) inner_ *= shape[i];
    half_ = inner_ * (shape[dim] / 2);
    count_ = *NumElements(shape) / 2;
  }
  int64_t count() const { return count_; }
  int64_t First(int64_t i) const { return i / half_ * 2 * half_ + i % half_; }
  int64_t Second(int64_t i) const { return First(i) + half_; }

 private:
  int64_t inner_ = 1;
  int64_t half_ = 0;
  int64_t count_ = 0;
};

std::vector<double> GateElementsAt(const OpCase& op_case, const GatePositions& positions,
                                   int64_t i) {
  std::vector<double> elements;
  for (size_t k = 0; k < op_case.inputs.size(); ++k) {
    const TestTensor& input = *op_case.inputs[k];
    if (k == WholeOf(*op_case.op)) {
      elements.push_back(input.At(positions.First(i)));
      elements.push_back(input.At(positions.Second(i)));
    } else {
      elements.push_back(input.At(i));
    }
  }
  return elements;
}

void Put(const std::vector<double>& terms, int64_t at, Reference& reference) {
  double value = 0;
  double magnitude = 0;
  for (size_t i = 1; i < terms.size(); ++i) {
    value += terms[i];
    magnitude += std::fabs(terms[i]);
  }
  reference.values[static_cast<size_t>(at)] = terms[0] * value;
  reference.magnitudes[static_cast<size_t>(at)] = std::fabs(terms[0]) * magnitude;
}

Reference Sized(int64_t count) {
  const std::vector<double> zeros(static_cast<size_t>(count));
  return {zeros, zeros};
}

struct GateShape {
  Dims whole;
  int64_t dim;
};

Dims HalfOf(const GateShape& gate) {
  Dims half = gate.whole;
  half[static_cast<size_t>(gate.dim < 0 ? gate.dim + static_cast<int64_t>(half.size())
                                        : gate.dim)] /= 2;
  return half;
}

// But for the smallest number, of which float32 has no half.
TestTensor OfMagnitudes(DType dtype, const Dims& shape, Rng& rng) {
  TestTensor tensor = TestTensor::OfAllMagnitudes(dtype, shape, rng);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (std::fabs(tensor.At(i)) == 0x1p-149) tensor.Set(i, 0x1p-140);
  }
  return tensor;
}

// Inputs of `dtypes` in turns; a gradient that comes in is an ordinary number.
OpCase GateCase(const Operator& op, const GateShape& gate, const std::vector<DType>& dtypes,
                std::vector<AttributeValue> attributes, bool of_all_magnitudes, Rng& rng) {
  OpCase op_case;
  op_case.op = &op;
  op_case.attributes = std::move(attributes);
  op_case.attributes[0] = gate.dim;
  op_case.label = absl::StrCat(ShapeToString(gate.whole), "/");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const DType dtype = dtypes[i % dtypes.size()];
    const Dims shape = i == WholeOf(op) ? gate.whole : HalfOf(gate);
    const bool magnitudes = of_all_magnitudes && i == WholeOf(op);
    op_case.inputs.push_back(magnitudes ? OfMagnitudes(dtype, shape, rng)
                                        : TestTensor::Random(dtype, shape, rng));
    absl::StrAppend(&op_case.label, std::string(DTypeShortName(dtype)));
  }
  for (const AttributeValue& value : op_case.attributes)
    absl::StrAppend(&op_case.label, "/", AttributeInWords(value));
  return op_case;
}

const std::vector<GateShape>& GateShapes() {
  static const std::vector<GateShape> shapes = {
      {{4, 6}, -1},   {{2}, 0},         {{6, 4}, 0},
      {{2, 4, 3}, 1}, {{3, 5, 14}, -1}, {{2, 33}, 0},
      {{4098}, -1},   {{3, 21846}, 1},  {{2, 1, 3, 1, 2, 4, 2, 5}, -3},
      {{0, 4}, 1},    {{3, 0, 2}, -2},  {{70, 40, 1}, -2}};
  return shapes;
}

}  // namespace

std::vector<OpCase> GateCases(const Operator& op, Rng& rng) {
  const std::vector<std::vector<AttributeValue>>& lists = TestOf(op).attributes;
  const std::vector<std::vector<DType>> dtypes = {{DType::kFloat32},
                                                  {DType::kFloat16},
                                                  {DType::kBFloat16},
                                                  {DType::kBFloat16, DType::kFloat16},
                                                  {DType::kFloat32, DType::kBFloat16}};
  std::vector<OpCase> cases;
  size_t turn = 0;
  for (const GateShape& shape : GateShapes()) {
    for (const std::vector<DType>& types : {dtypes[0], dtypes[turn % dtypes.size()]})
      cases.push_back(GateCase(op, shape, types, lists[turn++ % lists.size()], false, rng));
  }
  for (const std::vector<DType>& types : dtypes) {
    for (const std::vector<AttributeValue>& list : lists) {
      cases.push_back(GateCase(op, {{6, 9, 10}, 0}, types, list, false, rng));
      cases.push_back(GateCase(op, {{3, 2600}, 1}, types, list, true, rng));
    }
  }
  cases.push_back(GateCase(op, {{8, 3}, 0}, {DType::kFloat16}, lists[0], false, rng));
  cases.back().output_dtypes.assign(op.outputs.size(), DType::kFloat32);
  cases.push_back(GateCase(op, {{8, 3}, 0}, {DType::kFloat32}, lists[0], false, rng));
  cases.back().output_dtypes.assign(op.outputs.size(), DType::kBFloat16);
  return cases;
}

std::vector<OpCase> GateAccuracyCases(const Operator& op, DType dtype, Rng& rng) {
  // Input 0 of the first two has 8 elements.
  const bool is_forward = WholeOf(op) == 0;
  const std::vector<GateShape> shapes = {
      is_forward ? GateShape{{2, 4}, -1} : GateShape{{2, 8}, -1},
      is_forward ? GateShape{{4, 2}, 0} : GateShape{{2, 4, 2}, -2},
      {{37, 638}, -1},
      {{20, 3, 200}, 0}};
  std::vector<OpCase> cases;
  for (const LabelledAttributes& list : TestOf(op).measured) {
    for (const GateShape& shape : shapes) {
      cases.push_back(GateCase(op, shape, {dtype}, list.values, false, rng));
      cases.back().label = list.label;
    }
  }
  return cases;
}

std::vector<LongCall> GateLongCalls(const Operator& op) {
  const auto call = [&op](std::string label, DType dtype, const GateShape& gate) {
    std::vector<TensorDesc> inputs;
    for (size_t i = 0; i < op.inputs.size(); ++i)
      inputs.push_back(Repeated(dtype, i == WholeOf(op) ? gate.whole : HalfOf(gate)));
    std::vector<AttributeValue> attributes = TestOf(op).measured.front().values;
    attributes[0] = gate.dim;
    return Planned(std::move(label), Draft(op.name, inputs, attributes));
  };
  constexpr int64_t kHuge = int64_t{1} << 50;
  return {call("halves", DType::kFloat32, {{kHuge}, 0}),
          call("rows", DType::kFloat16, {{kHuge, 2}, 1}),
          call("columns", DType::kBFloat16, {{6, kHuge}, 0})};
}

Reference HalfReference(const OpCase& op_case, const GateTerms& terms) {
  const GatePositions positions(op_case);
  Reference reference = Sized(positions.count());
  for (int64_t i = 0; i < positions.count(); ++i)
    Put(terms(GateElementsAt(op_case, positions, i)), i, reference);
  return reference;
}

Reference WholeReference(const OpCase& op_case, const GateTerms& first, const GateTerms& second) {
  const GatePositions positions(op_case);
  Reference reference = Sized(2 * positions.count());
  for (int64_t i = 0; i < positions.count(); ++i) {
    const std::vector<double> elements = GateElementsAt(op_case, positions, i);
    Put(first(elements), positions.First(i), reference);
    Put(second(elements), positions.Second(i), reference);
  }
  return reference;
}

double Decayed(double value, double exponent) { return exponent < -260 ? 0 : value; }

GradientProblem GateProblem(std::string_view forward, std::vector<AttributeValue> attributes,
                            Rng& rng, int turn) {
  const GateShape shapes[] = {{{6, 4}, -1}, {{4, 2, 3}, 0}, {{2, 3, 4}, -1}};
  const GateShape& gate = shapes[turn % 3];
  attributes[0] = gate.dim;
  return ProblemOf(CallOf(forward, {Normal(gate.whole, rng)}, std::move(attributes)), rng);
}

}  // namespace opserve::testing
