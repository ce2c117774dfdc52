#include "core/program/recomputation.h"

namespace opserve {
namespace {

double BytesOfResults(const ProgramBuilder& builder, const TypedProgram::Step& step) {
  double bytes = 0;
  for (size_t i = 0; i < step.call.outputs.size(); ++i)
    bytes += static_cast<double>(builder.value(step.value_of(i)).desc.size_bytes());
  return bytes;
}

}  // namespace

Recomputation::Recomputation(ProgramBuilder& builder, size_t segments)
    : builder_(builder), steps_(builder.steps().size()) {
  Cut(segments);
  FindKept();
}

void Recomputation::Cut(size_t segments) {
  double total = 0;
  for (const TypedProgram::Step& step : builder_.steps()) total += BytesOfResults(builder_, step);
  const double most = total / static_cast<double>(segments);
  double bytes = 0;
  Segment segment;
  for (size_t i = 0; i < steps_; ++i) {
    bytes += BytesOfResults(builder_, builder_.steps()[i]);
    const auto begun = static_cast<double>(segments_.size() + 1);
    if (bytes < begun * most || segments_.size() + 1 >= segments) continue;
    segment.end = i + 1;
    segments_.push_back(segment);
    segment.first = segment.end;
  }
  segment.end = steps_;
  if (segment.first < segment.end) segments_.push_back(segment);
}

void Recomputation::FindKept() {
  absl::flat_hash_map<int, size_t> made_in;
  for (size_t s = 0; s < segments_.size(); ++s) {
    for (size_t i = segments_[s].first; i < segments_[s].end; ++i) {
      const TypedProgram::Step& step = builder_.steps()[i];
      for (const int source : step.sources) {
        const auto made = made_in.find(source);
        if (made != made_in.end() && made->second != s) kept_.insert(source);
      }
      for (size_t o = 0; o < step.call.outputs.size(); ++o) made_in.emplace(step.value_of(o), s);
    }
  }
}

void Recomputation::GoBackTo(size_t index) {
  while (!segments_.empty() && index < segments_.back().first) segments_.pop_back();
  if (segments_.empty() || index + 1 != segments_.back().end || index + 1 == steps_) return;
  ComputeAgain(segments_.back());
}

void Recomputation::ComputeAgain(const Segment& segment) {
  again_.clear();
  first_again_.clear();
  for (size_t i = segment.first; i < segment.end; ++i) {
    const int first = builder_.steps()[i].first_value;
    const auto outputs = static_cast<int>(builder_.steps()[i].call.outputs.size());
    const int made = builder_.Repeat(StepToRead(i));
    for (int o = 0; o < outputs; ++o) {
      if (kept_.contains(first + o)) continue;
      again_.emplace(first + o, made + o);
      first_again_.emplace(first, made);
    }
  }
}

TypedProgram::Step Recomputation::StepToRead(size_t index) const {
  TypedProgram::Step step = builder_.steps()[index];
  for (int& source : step.sources) {
    if (const auto again = again_.find(source); again != again_.end()) source = again->second;
  }
  const auto first = first_again_.find(step.first_value);
  if (first != first_again_.end()) step.first_value = first->second;
  return step;
}

}  // namespace opserve
