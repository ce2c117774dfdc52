#include <opserve/program.h>

#include <array>
#include <memory>

namespace opserve::client {

Value Value::Constant(TensorView view) {
  Value value("");
  value.constant_ = std::move(view);
  return value;
}

Value Value::Constant(float number) {
  const auto kept = std::make_shared<const float>(number);
  TensorView view =
      TensorView::OfBytes(DType::kFloat32, {}, std::as_bytes(std::span(kept.get(), 1)));
  view.owner = kept;
  return Constant(std::move(view));
}

Value Value::Of(std::string_view output) const {
  Value value(*this);
  value.name_ = name_ + "." + std::string(output);
  return value;
}

Value Value::Reshaped(Dims shape) const {
  Value value(*this);
  value.layout_ = Layout{.shape = std::move(shape), .strides = std::nullopt};
  return value;
}

Value Value::Viewed(Dims shape, Dims strides, int64_t storage_offset) const {
  Value value(*this);
  value.layout_ = Layout{std::move(shape), std::move(strides), storage_offset};
  return value;
}

Value Program::Step(std::string_view name, std::string_view op,
                    std::vector<std::pair<std::string, Value>> inputs,
                    std::vector<std::pair<std::string, AttributeValue>> attributes) {
  steps_.push_back({std::string(name), std::string(op), std::move(inputs), std::move(attributes)});
  return Value(name);
}

Program& Program::Output(std::string_view name, const Value& value) {
  outputs_.push_back({std::string(name), value.name()});
  return *this;
}

Program& Program::Gradients(const Value& of, std::vector<std::string> with_respect_to,
                            std::string_view seed) {
  gradients_ = {of.name(), std::move(with_respect_to), std::string(seed)};
  return *this;
}

Program& Program::MaxWorkspace(int64_t bytes) {
  if (!gradients_.has_value()) gradients_ = GradientRequest();
  gradients_->max_workspace_bytes = bytes;
  return *this;
}

}  // namespace opserve::client
