// GroupNorm and its gradient in float64.
#include <cmath>
#include <limits>

#include "tests/support/reference_rows.h"

namespace opserve::testing {
namespace {

struct Sizes {
  int64_t batch, channels, area, groups;
  int64_t per_group() const { return channels / groups; }
};

int64_t IntOf(const OpCase& op_case, size_t attribute) {
  return std::get<int64_t>(op_case.attributes[attribute]);
}

Sizes SizesOf(const OpCase& op_case) {
  return {IntOf(op_case, 0), IntOf(op_case, 1), IntOf(op_case, 2), IntOf(op_case, 3)};
}

// The parameter of a channel, or `absent`.
double ChannelOf(const std::optional<TestTensor>& tensor, int64_t channel, double absent) {
  return tensor.has_value() ? tensor->At(channel) : absent;
}

Reference Zeros(int64_t count) {
  const std::vector<double> zeros(static_cast<size_t>(count), 0.0);
  return {zeros, zeros};
}

// A signed sum beside the sum of its magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
  void Add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
  void Add(const Sum& other, double factor) {
    value += other.value * factor;
    magnitude += other.magnitude * std::fabs(factor);
  }
};

struct Moments {
  double mean = 0, mean_magnitude = 0, rstd = 0;
};

Moments MomentsOf(const TestTensor& self, int64_t begin, int64_t count, double eps) {
  Moments moments;
  for (int64_t i = begin; i < begin + count; ++i) {
    moments.mean += self.At(i) / static_cast<double>(count);
    moments.mean_magnitude += std::fabs(self.At(i)) / static_cast<double>(count);
  }
  double variance = count == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (int64_t i = begin; i < begin + count; ++i) {
    variance +=
        (self.At(i) - moments.mean) * (self.At(i) - moments.mean) / static_cast<double>(count);
  }
  moments.rstd = 1 / std::sqrt(variance + eps);
  return moments;
}

}  // namespace

std::vector<Reference> GroupNormReference(const OpCase& op_case) {
  const Sizes size = SizesOf(op_case);
  const double eps = std::get<double>(op_case.attributes[4]);
  const TestTensor& self = *op_case.inputs[0];
  std::vector<Reference> outputs = {Zeros(self.count()), Zeros(size.batch * size.groups),
                                    Zeros(size.batch * size.groups)};
  const int64_t in_group = size.per_group() * size.area;
  for (int64_t group = 0; group < size.batch * size.groups; ++group) {
    const Moments moments = MomentsOf(self, group * in_group, in_group, eps);
    const auto g = static_cast<size_t>(group);
    outputs[1].values[g] = moments.mean;
    outputs[1].magnitudes[g] = moments.mean_magnitude;
    outputs[2].values[g] = outputs[2].magnitudes[g] = moments.rstd;
    for (int64_t i = group * in_group; i < (group + 1) * in_group; ++i) {
      const int64_t channel = i / size.area % size.channels;
      const double scale = moments.rstd * ChannelOf(op_case.inputs[1], channel, 1);
      Sum out;
      out.Add(self.At(i) * scale);
      out.Add({-moments.mean, moments.mean_magnitude}, scale);
      out.Add(ChannelOf(op_case.inputs[2], channel, 0));
      outputs[0].values[static_cast<size_t>(i)] = out.value;
      outputs[0].magnitudes[static_cast<size_t>(i)] = out.magnitude;
    }
  }
  return outputs;
}

namespace {

// Σ dy·x and Σ dy of each row (n, c).
struct RowSums {
  std::vector<Sum> ds, db;
};

RowSums RowSumsOf(const Sizes& size, const TestTensor& dy, const TestTensor& x) {
  RowSums sums;
  sums.ds.resize(static_cast<size_t>(size.batch * size.channels));
  sums.db = sums.ds;
  for (int64_t i = 0; i < x.count(); ++i) {
    sums.ds[static_cast<size_t>(i / size.area)].Add(dy.At(i) * x.At(i));
    sums.db[static_cast<size_t>(i / size.area)].Add(dy.At(i));
  }
  return sums;
}

void AddTo(Reference& reference, int64_t at, const Sum& sum) {
  reference.values[static_cast<size_t>(at)] += sum.value;
  reference.magnitudes[static_cast<size_t>(at)] += sum.magnitude;
}

// c1·dy + c2·x + c3 over the rows of one group.
void WriteGroup(const OpCase& op_case, const Sizes& size, const RowSums& sums, int64_t group,
                Reference& grad_input) {
  const double s = 1 / static_cast<double>(size.per_group() * size.area);
  const double mean = op_case.inputs[2]->At(group);
  const double rstd = op_case.inputs[3]->At(group);
  Sum group_ds, group_db;
  for (int64_t c = group * size.per_group(); c < (group + 1) * size.per_group(); ++c) {
    const double weight = ChannelOf(op_case.inputs[4], c % size.channels, 1);
    group_ds.Add(sums.ds[static_cast<size_t>(c)], weight);
    group_db.Add(sums.db[static_cast<size_t>(c)], weight);
  }
  Sum c2, c3;
  c2.Add(group_db, mean * rstd * rstd * rstd * s);
  c2.Add(group_ds, -rstd * rstd * rstd * s);
  c3.Add(c2, -mean);
  c3.Add(group_db, -rstd * s);
  for (int64_t row = group * size.per_group(); row < (group + 1) * size.per_group(); ++row) {
    const double c1 = rstd * ChannelOf(op_case.inputs[4], row % size.channels, 1);
    for (int64_t i = row * size.area; i < (row + 1) * size.area; ++i) {
      Sum out = c3;
      out.Add(c1 * op_case.inputs[0]->At(i));
      out.Add(c2, op_case.inputs[1]->At(i));
      AddTo(grad_input, i, out);
    }
  }
}

}  // namespace

std::vector<Reference> GroupNormBackwardReference(const OpCase& op_case) {
  const Sizes size = SizesOf(op_case);
  const std::vector<bool> mask = std::get<std::vector<bool>>(op_case.attributes[4]);
  const RowSums sums = RowSumsOf(size, *op_case.inputs[0], *op_case.inputs[1]);
  std::vector<Reference> outputs = {Zeros(mask[0] ? op_case.inputs[1]->count() : 0),
                                    Zeros(mask[1] ? size.channels : 0),
                                    Zeros(mask[2] ? size.channels : 0)};
  for (int64_t row = 0; row < size.batch * size.channels; ++row) {
    const int64_t channel = row % size.channels;
    const double mean = op_case.inputs[2]->At(row / size.per_group());
    const double rstd = op_case.inputs[3]->At(row / size.per_group());
    Sum gamma;
    gamma.Add(sums.ds[static_cast<size_t>(row)], rstd);
    gamma.Add(sums.db[static_cast<size_t>(row)], -mean * rstd);
    if (mask[1]) AddTo(outputs[1], channel, gamma);
    if (mask[2]) AddTo(outputs[2], channel, sums.db[static_cast<size_t>(row)]);
  }
  if (mask[0]) {
    for (int64_t group = 0; group * size.per_group() < size.batch * size.channels; ++group)
      WriteGroup(op_case, size, sums, group, outputs[0]);
  }
  return outputs;
}

}  // namespace opserve::testing
