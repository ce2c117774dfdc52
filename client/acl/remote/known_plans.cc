#include "client/acl/remote/known_plans.h"

#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "client/acl/remote/remote_memory.h"

namespace opserve::acl {
namespace {

// Every part has its length or a fixed one, so different calls are different bytes.
class Key {
 public:
  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void Add(Number number) { bytes_.append(reinterpret_cast<const char*>(&number), sizeof number); }

  void Add(std::string_view text) {
    Add(text.size());
    bytes_.append(text);
  }
  void Add(const std::string& text) {
    const std::string_view view = text;
    Add(view);
  }

  template <typename Number>
  void Add(std::span<const Number> numbers) {
    Add(numbers.size());
    for (const Number& number : numbers) Add(number);
  }
  template <typename Number>
  void Add(const std::vector<Number>& numbers) {
    Add(numbers.size());
    for (const Number number : numbers) Add(number);  // a bool of a vector is a copy
  }

  void Add(const TensorDesc& desc) {
    Add(desc.dtype);
    Add(std::span<const int64_t>(desc.shape));
    Add(std::span<const int64_t>(desc.strides));
    Add(desc.storage_offset);
  }

  void Add(const MemoryView& view) {
    const bool is_there = view.memory != nullptr;
    Add(is_there ? static_cast<const RemoteMemory&>(*view.memory).serial() : 0);
    Add(view.offset_bytes);
  }

  void Add(const AttributeValue& value) {
    Add(value.index());
    std::visit(
        [this](const auto& held) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) Add(held);
        },
        value);
  }

  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string KnownPlans::KeyOf(const OperatorCall& call) {
  Key key;
  key.Add(call.named.op->name);
  for (const NamedInput& input : call.named.inputs) {
    key.Add(input.name);
    key.Add(input.desc);
    key.Add(call.StorageOf(input));
  }
  for (const NamedAttribute& attribute : call.named.attributes) {
    key.Add(attribute.name);
    key.Add(attribute.value);
  }
  for (const NamedOutput& output : call.named.outputs) {
    key.Add(output.name);
    key.Add(output.missing);
    if (output.missing) continue;
    key.Add(*output.given);
    key.Add(call.StorageOf(output));
  }
  return std::move(key).Take();
}

std::optional<int64_t> KnownPlans::Find(const std::string& key) {
  const MutexLock lock(mutex_);
  const auto found = workspace_bytes_.find(key);
  if (found == workspace_bytes_.end()) return std::nullopt;
  return found->second;
}

void KnownPlans::Remember(std::string key, int64_t workspace_bytes) {
  const size_t bytes = key.size();
  if (bytes > kMostBytes) return;
  const MutexLock lock(mutex_);
  if (workspace_bytes_.size() == kMost || bytes_ + bytes > kMostBytes) {
    workspace_bytes_.clear();
    bytes_ = 0;
  }
  if (workspace_bytes_.insert_or_assign(std::move(key), workspace_bytes).second) bytes_ += bytes;
}

}  // namespace opserve::acl
