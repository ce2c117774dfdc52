// A typed program while it is made, step by step.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/program/typed_program.h"

namespace opserve {

// A value as a step sees it.
struct ValueView {
  int value = -1;
  TensorDesc desc;
};

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Profile profile) : profile_(profile) {}

  Profile profile() const { return profile_; }
  const TypedProgram::Value& value(int index) const {
    return program_.values[static_cast<size_t>(index)];
  }
  const std::vector<TypedProgram::Step>& steps() const { return program_.steps; }

  int AddInput(std::string name, TensorDesc desc);
  int AddConstant(TensorDesc desc, std::vector<std::byte> bytes);
  // A tensor of this shape whose elements are all `number`; takes memory for one.
  ValueView Filled(DType dtype, double number, std::span<const int64_t> shape = {});
  // As it is.
  ValueView View(int value) const { return {value, this->value(value).desc}; }

  // Plans `call`, whose inputs are described and come from `sources`, as a step. A name that is
  // taken gets a number. The first value that it makes. Errors name the step.
  absl::StatusOr<int> Add(std::string_view name, OpCall call, absl::InlinedVector<int, 4> sources);

  // `step` once more, on its sources: the first value that it makes.
  int Repeat(TypedProgram::Step step);

  // The first output of an operator of the table on these inputs, in schema order; attributes by
  // name.
  using Attributes = std::initializer_list<std::pair<std::string_view, AttributeValue>>;
  absl::StatusOr<ValueView> Apply(std::string_view step, std::string_view op,
                                  std::initializer_list<ValueView> inputs,
                                  Attributes attributes = {});

  // A copy that is dense, or `view` where it is plain.
  absl::StatusOr<ValueView> Dense(std::string_view step, ValueView view);
  absl::StatusOr<ValueView> Cast(std::string_view step, const ValueView& view, DType dtype);

  // With these outputs, each a dense copy where it is not a step's or comes twice; without the
  // steps that none of them needs.
  absl::StatusOr<TypedProgram> Finish(std::span<const ValueView> outputs,
                                      std::span<const TensorParam> names) &&;

 private:
  // Gives the step a name of its own and values. The first of these.
  int Append(TypedProgram::Step step);
  std::string UniqueName(std::string_view name);
  void DropUnused();

  const Profile profile_;
  TypedProgram program_;
  absl::flat_hash_map<std::string, int> names_;  // and the last number behind each
};

}  // namespace opserve
