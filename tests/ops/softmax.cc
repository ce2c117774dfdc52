// The tests' Softmax, LogSoftmax and their gradients.
#include <algorithm>
#include <cmath>

#include "tests/ops/activation_calls.h"
#include "tests/ops/row_calls.h"

namespace opserve::testing::softmax {
namespace {

// The largest, and the sum of the exponentials above it.
struct Exponentials {
  double largest = 0;
  double sum = 0;

  explicit Exponentials(const Row& x) {
    largest = x.empty() ? 0 : *std::max_element(x.begin(), x.end());
    for (const double element : x) sum += std::exp(element - largest);
  }
};

// Elements of a sum, without their signs.
double Magnitude(const Row& terms) {
  double sum = 0;
  for (const double term : terms) sum += std::fabs(term);
  return sum;
}

Row Products(const Row& a, const Row& b) {
  Row products = a;
  for (size_t i = 0; i < a.size(); ++i) products[i] *= b[i];
  return products;
}

double SumOf(const Row& terms) {
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum;
}

template <int64_t kDim>
GradientProblem Problem(std::string_view forward, Rng& rng) {
  return ElementwiseProblem(forward, {kDim}, {}, rng);
}

}  // namespace

extern const OperatorTest kSoftmaxTest = {
    .reference =
        [](const OpCase& c) {
          return RowReference(c, [](const std::vector<Row>& in, Row& values, Row& magnitudes) {
            const Exponentials of_row(in[0]);
            for (size_t i = 0; i < values.size(); ++i)
              values[i] = std::exp(in[0][i] - of_row.largest) / of_row.sum;
            magnitudes = values;
          });
        },
    .cases = RowCases,
    .accuracy_cases = RowAccuracyCases,
    .long_calls = RowLongCalls,
    .ulps = 4,
    .aten = "_softmax(self, dim, False)",
};

extern const OperatorTest kSoftmaxBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return RowReference(c, [](const std::vector<Row>& in, Row& values, Row& magnitudes) {
            const Row products = Products(in[0], in[1]);
            const double sum = SumOf(products);
            const double magnitude = Magnitude(products);
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = in[1][i] * (in[0][i] - sum);
              magnitudes[i] = std::fabs(in[1][i]) * (std::fabs(in[0][i]) + magnitude);
            }
          });
        },
    .cases = RowCases,
    .accuracy_cases = RowAccuracyCases,
    .long_calls = RowLongCalls,
    .ulps = 4,
    .aten = "_softmax_backward_data(grad_output, output, dim, dtype)",
    .gradient = Smooth([](Rng& rng, int turn) {
      return turn % 2 == 0 ? Problem<0>("Softmax", rng) : Problem<-1>("Softmax", rng);
    }),
};

extern const OperatorTest kLogSoftmaxTest = {
    .reference =
        [](const OpCase& c) {
          return RowReference(c, [](const std::vector<Row>& in, Row& values, Row& magnitudes) {
            const Exponentials of_row(in[0]);
            for (size_t i = 0; i < values.size(); ++i) {
              const double distance = in[0][i] - of_row.largest;
              values[i] = distance - std::log(of_row.sum);
              magnitudes[i] = std::fabs(distance) + std::fabs(std::log(of_row.sum));
            }
          });
        },
    .cases = RowCases,
    .accuracy_cases = RowAccuracyCases,
    .long_calls = RowLongCalls,
    .ulps = 4,
    .aten = "_log_softmax(self, dim, False)",
};

extern const OperatorTest kLogSoftmaxBackwardTest = {
    .reference =
        [](const OpCase& c) {
          return RowReference(c, [](const std::vector<Row>& in, Row& values, Row& magnitudes) {
            const double sum = SumOf(in[0]);
            const double magnitude = Magnitude(in[0]);
            for (size_t i = 0; i < values.size(); ++i) {
              values[i] = in[0][i] - std::exp(in[1][i]) * sum;
              magnitudes[i] = std::fabs(in[0][i]) + std::exp(in[1][i]) * magnitude;
            }
          });
        },
    .cases = RowCases,
    .accuracy_cases = RowAccuracyCases,
    .long_calls = RowLongCalls,
    .ulps = 4,
    .aten = "_log_softmax_backward_data(grad_output, output, dim, dtype)",
    .gradient = Smooth([](Rng& rng, int turn) {
      return turn % 2 == 0 ? Problem<0>("LogSoftmax", rng) : Problem<-1>("LogSoftmax", rng);
    }),
};

}  // namespace opserve::testing::softmax
