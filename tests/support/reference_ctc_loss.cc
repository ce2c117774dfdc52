// CtcLoss and its gradient, from the recursions. They run in float64 too: this is in long double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/reference_rows.h"

namespace opserve::testing {
namespace {

using Real = long double;

constexpr Real kNegativeInfinity = -std::numeric_limits<Real>::infinity();

Real LogAdd(Real a, Real b) {
  const Real larger = std::max(a, b);
  if (larger == kNegativeInfinity) return kNegativeInfinity;
  return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

// One sample's problem.
struct Sample {
  int64_t length = 0;             // L
  std::vector<int64_t> extended;  // l', 2S + 1 classes
  std::function<Real(int64_t t, int64_t c)> log_prob;

  bool Skips(size_t s) const {
    return s >= 2 && extended[s] != extended[0] && extended[s] != extended[s - 2];
  }
};

class Problem {
 public:
  explicit Problem(const OpCase& op_case, size_t log_probs, size_t targets) {
    const std::vector<int64_t> input_lengths =
        std::get<std::vector<int64_t>>(op_case.attributes[0]);
    target_lengths = std::get<std::vector<int64_t>>(op_case.attributes[1]);
    blank = std::get<int64_t>(op_case.attributes[2]);
    zero_infinity = std::get<bool>(op_case.attributes[3]);
    const TestTensor& probs = *op_case.inputs[log_probs];
    const TestTensor& labels = *op_case.inputs[targets];
    steps = probs.desc().shape[0];
    batch = probs.desc().shape[1];
    classes = probs.desc().shape[2];
    int64_t start = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t count = target_lengths[static_cast<size_t>(b)];
      if (labels.desc().rank() == 2) start = b * labels.desc().shape[1];
      Sample& sample = samples.emplace_back();
      sample.length = input_lengths[static_cast<size_t>(b)];
      for (int64_t i = 0; i < count; ++i) {
        sample.extended.push_back(blank);
        sample.extended.push_back(static_cast<int64_t>(labels.At(start + i)));
      }
      sample.extended.push_back(blank);
      sample.log_prob = [this, &probs, b](int64_t t, int64_t c) {
        return probs.At((t * batch + b) * classes + c);
      };
      start += count;
    }
  }

  int64_t steps = 0, batch = 0, classes = 0, blank = 0;
  bool zero_infinity = false;
  std::vector<int64_t> target_lengths;
  std::vector<Sample> samples;
};

using Table = std::vector<std::vector<Real>>;  // [t][s]

Table Alpha(const Sample& sample) {
  Table alpha(static_cast<size_t>(sample.length),
              std::vector<Real>(sample.extended.size(), kNegativeInfinity));
  for (size_t t = 0; t < alpha.size(); ++t) {
    for (size_t s = 0; s < sample.extended.size(); ++s) {
      Real before = t == 0 ? (s < 2 ? 0 : kNegativeInfinity) : alpha[t - 1][s];
      if (t > 0 && s >= 1) before = LogAdd(before, alpha[t - 1][s - 1]);
      if (t > 0 && sample.Skips(s)) before = LogAdd(before, alpha[t - 1][s - 2]);
      alpha[t][s] = before + sample.log_prob(static_cast<int64_t>(t), sample.extended[s]);
    }
  }
  return alpha;
}

Table Beta(const Sample& sample) {
  const size_t states = sample.extended.size();
  Table beta(static_cast<size_t>(sample.length), std::vector<Real>(states, kNegativeInfinity));
  for (size_t left = 0; left < beta.size(); ++left) {
    const size_t t = beta.size() - 1 - left;
    for (size_t s = 0; s < states; ++s) {
      Real after = left == 0 ? (s + 2 >= states ? 0 : kNegativeInfinity) : beta[t + 1][s];
      if (left > 0 && s + 1 < states) after = LogAdd(after, beta[t + 1][s + 1]);
      if (left > 0 && s + 2 < states && sample.Skips(s + 2))
        after = LogAdd(after, beta[t + 1][s + 2]);
      beta[t][s] = after + sample.log_prob(static_cast<int64_t>(t), sample.extended[s]);
    }
  }
  return beta;
}

Real LossOf(const Sample& sample, const Table& alpha) {
  if (alpha.empty()) return sample.extended.size() == 1 ? 0 : -kNegativeInfinity;
  const std::vector<Real>& last = alpha.back();
  return -(last.size() == 1 ? last[0] : LogAdd(last[last.size() - 1], last[last.size() - 2]));
}

// Logs are sums of logs: an error of one ulp of each is an error of the sum's size.
double LogMagnitude(double value) { return std::fabs(value) + 1; }

}  // namespace

std::vector<Reference> CtcLossReference(const OpCase& op_case) {
  const Problem problem(op_case, 0, 1);
  const int64_t longest = problem.batch == 0 ? 0
                                             : *std::max_element(problem.target_lengths.begin(),
                                                                 problem.target_lengths.end());
  const auto width = static_cast<size_t>(2 * longest + 1);
  Reference loss, log_alpha;
  for (const Sample& sample : problem.samples) {
    const Table alpha = Alpha(sample);
    loss.values.push_back(static_cast<double>(LossOf(sample, alpha)));
    loss.magnitudes.push_back(LogMagnitude(loss.values.back()));
    for (size_t t = 0; t < static_cast<size_t>(problem.steps); ++t) {
      for (size_t s = 0; s < width; ++s) {
        const bool inside = t < alpha.size() && s < alpha[t].size();
        log_alpha.values.push_back(static_cast<double>(inside ? alpha[t][s] : kNegativeInfinity));
        log_alpha.magnitudes.push_back(LogMagnitude(log_alpha.values.back()));
      }
    }
  }
  return {loss, log_alpha};
}

std::vector<Reference> CtcLossBackwardReference(const OpCase& op_case) {
  const Problem problem(op_case, 1, 2);
  const TestTensor& log_alpha = *op_case.inputs[4];
  Reference grad;
  grad.values.assign(static_cast<size_t>(problem.steps * problem.batch * problem.classes), 0);
  grad.magnitudes = grad.values;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const Sample& sample = problem.samples[static_cast<size_t>(b)];
    const double loss = op_case.inputs[3]->At(b);
    const double factor = op_case.inputs[0]->At(b);
    if (problem.zero_infinity && loss == -kNegativeInfinity) continue;
    const Table beta = Beta(sample);
    for (int64_t t = 0; t < sample.length; ++t) {
      std::vector<Real> res(static_cast<size_t>(problem.classes), kNegativeInfinity);
      for (size_t s = 0; s < sample.extended.size(); ++s) {
        const Real alpha = log_alpha.At((b * problem.steps + t) * log_alpha.desc().shape[2] +
                                        static_cast<int64_t>(s));
        Real& sum = res[static_cast<size_t>(sample.extended[s])];
        sum = LogAdd(sum, alpha + beta[static_cast<size_t>(t)][s]);
      }
      for (int64_t c = 0; c < problem.classes; ++c) {
        const Real lp = sample.log_prob(t, c);
        const auto i = static_cast<size_t>((t * problem.batch + b) * problem.classes + c);
        const Real occupied = std::exp(res[static_cast<size_t>(c)] + loss - lp);
        grad.values[i] = static_cast<double>((std::exp(lp) - occupied) * factor);
        grad.magnitudes[i] = static_cast<double>((std::exp(lp) + occupied) * std::fabs(factor));
      }
    }
  }
  return {grad};
}

}  // namespace opserve::testing
