#include "client/cpp/wire/call_messages.h"

#include <algorithm>
#include <variant>

#include "client/cpp/values/shared_region.h"
#include "client/cpp/wire/program_messages.h"
#include "client/cpp/wire/read_message.h"
#include "client/cpp/wire/wire_reader.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

static_assert(static_cast<int>(DType::kFloat32) == v1::DATA_TYPE_FLOAT32 &&
              static_cast<int>(DType::kBool) == v1::DATA_TYPE_BOOL &&
              kNumDTypes == v1::DataType_ARRAYSIZE);

// Copied next to each other into one piece: cheaper than a piece of its own.
constexpr size_t kMaxCopiedBytes = 4096;

template <typename List, typename Values>
void FillList(List* list, const Values& values) {
  for (const auto value : values) list->add_values(value);
}

// Index of the entry that is `view`'s storage too; the number of `entries` when there is none.
size_t FindStorage(const std::vector<RawEntry>& entries, const TensorView& view) {
  const auto same = [&view](const RawEntry& entry) {
    return entry.bytes.data() == view.storage.data() && entry.bytes.size() == view.storage.size();
  };
  return static_cast<size_t>(std::find_if(entries.begin(), entries.end(), same) - entries.begin());
}

// All but the strides.
template <typename Layout>
void FillDims(std::string_view name, const Layout& layout, v1::Tensor& tensor) {
  tensor.set_name(name.data(), name.size());
  tensor.set_dtype(ToWire(layout.dtype));
  tensor.mutable_shape()->Assign(layout.shape.begin(), layout.shape.end());
  tensor.set_storage_offset(layout.storage_offset);
}

}  // namespace

void FillTensor(std::string_view name, const TensorView& view, v1::Tensor& tensor) {
  FillDims(name, view, tensor);
  tensor.mutable_strides()->Assign(view.strides.begin(), view.strides.end());
}

void FillTensor(std::string_view name, const TensorDesc& desc, v1::Tensor& tensor) {
  FillDims(name, desc, tensor);
  if (desc.IsPlain()) return;
  tensor.mutable_strides()->Assign(desc.strides.begin(), desc.strides.end());
}

void FillAttribute(const std::string& name, const AttributeValue& value, v1::Attribute& attribute) {
  attribute.set_name(name);
  struct Setter {
    v1::Attribute& out;
    void operator()(int64_t number) const { out.set_int_value(number); }
    void operator()(double number) const { out.set_float_value(number); }
    void operator()(bool flag) const { out.set_bool_value(flag); }
    void operator()(const std::vector<int64_t>& list) const {
      FillList(out.mutable_int_list(), list);
    }
    void operator()(const std::vector<bool>& list) const {
      FillList(out.mutable_bool_list(), list);
    }
    void operator()(const std::vector<double>& list) const {
      FillList(out.mutable_float_list(), list);
    }
    void operator()(const std::string& choice) const { out.set_string_value(choice); }
  };
  std::visit(Setter{attribute}, value);
}

std::optional<AttributeValue> ReadAttributeValue(const v1::Attribute& attribute) {
  switch (attribute.value_case()) {
    case v1::Attribute::kIntValue:
      return attribute.int_value();
    case v1::Attribute::kFloatValue:
      return attribute.float_value();
    case v1::Attribute::kBoolValue:
      return attribute.bool_value();
    case v1::Attribute::kIntList:
      return std::vector<int64_t>(attribute.int_list().values().begin(),
                                  attribute.int_list().values().end());
    case v1::Attribute::kBoolList:
      return std::vector<bool>(attribute.bool_list().values().begin(),
                               attribute.bool_list().values().end());
    case v1::Attribute::kFloatList:
      return std::vector<double>(attribute.float_list().values().begin(),
                                 attribute.float_list().values().end());
    case v1::Attribute::kStringValue:
      return attribute.string_value();
    case v1::Attribute::VALUE_NOT_SET:
      break;
  }
  return std::nullopt;
}

void FillCall(const Call& call, v1::Call& message) {
  if (call.program() != nullptr) {
    FillProgram(*call.program(), *message.mutable_program());
  } else {
    message.set_op(call.op());
  }
  message.set_device(call.device());
  message.set_report_execution(call.reports_execution());
  for (const auto& [name, view] : call.inputs()) FillTensor(name, view, *message.add_inputs());
  for (const auto& [name, value] : call.attributes())
    FillAttribute(name, value, *message.add_attributes());
  for (const auto& [name, dtype] : call.output_dtypes()) {
    v1::Tensor& output = *message.add_outputs();
    output.set_name(name);
    output.set_dtype(ToWire(dtype));
  }
  for (const auto& [name, view] : call.outputs()) {
    v1::Tensor& output = *message.add_outputs();
    FillTensor(name, view, output);
    output.set_scalar(view.shape.empty());
  }
}

void FillShared(const SharedPlace& place, v1::Tensor& tensor) {
  v1::SharedView& view = *tensor.mutable_shared();
  if (place.region == nullptr) return;  // of an empty view: for the server to refuse
  view.set_region(place.region->id);
  view.set_offset_bytes(place.offset_bytes);
  view.set_size_bytes(place.size_bytes);
}

void FillSharedOutputs(const Call& call, v1::Call& message) {
  const size_t others = call.output_dtypes().size();
  for (size_t i = 0; i < call.outputs().size(); ++i) {
    FillShared(call.outputs()[i].second.shared,
               *message.mutable_outputs(static_cast<int>(others + i)));
  }
}

std::vector<RawEntry> FillRawIndices(const Call& call, v1::Call& message) {
  std::vector<RawEntry> entries;
  for (size_t i = 0; i < call.inputs().size(); ++i) {
    const TensorView& view = call.inputs()[i].second;
    if (view.shared.region != nullptr) {
      FillShared(view.shared, *message.mutable_inputs(static_cast<int>(i)));
      continue;
    }
    const size_t index = FindStorage(entries, view);
    if (index == entries.size()) entries.push_back({view.storage, view.owner});
    message.mutable_inputs(static_cast<int>(i))->set_raw_index(static_cast<uint32_t>(index));
  }
  return entries;
}

void AppendVarint(uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

bool IsCopied(std::span<const std::byte> bytes) { return bytes.size() <= kMaxCopiedBytes; }

void AppendRaw(uint32_t field_number, const RawEntry& entry, Request& request) {
  std::string header;
  AppendVarint((field_number << 3) | static_cast<unsigned>(WireReader::Type::kBytes), header);
  AppendVarint(entry.bytes.size(), header);
  request.AppendCopy(header);
  if (IsCopied(entry.bytes)) {
    request.AppendCopy({reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size()});
  } else {
    request.AppendView(entry.bytes, entry.owner);
  }
}

}  // namespace opserve::client
