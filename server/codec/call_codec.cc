#include "server/codec/call_codec.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/op_table.h"
#include "server/codec/attribute_codec.h"
#include "server/codec/program_codec.h"
#include "server/codec/tensor_codec.h"

namespace opserve::server {
namespace {

// By TensorData.
constexpr std::string_view kWanted[] = {"", "data (raw_index or values)",
                                        "data (raw_index, values or shared)",
                                        "data (raw_index or values, or chunked)", "data (buffer)"};

bool Takes(TensorData where, v1::Tensor::DataCase data) {
  if (where == TensorData::kIgnored) return true;
  switch (data) {
    case v1::Tensor::kRawIndex:
    case v1::Tensor::kValues:
      return where == TensorData::kMessage || where == TensorData::kMessageOrShared ||
             where == TensorData::kMessageOrChunks;
    case v1::Tensor::kShared:
      return where == TensorData::kMessageOrShared;
    case v1::Tensor::kBuffer:
      return where == TensorData::kBuffers;
    case v1::Tensor::kChunked:
      return where == TensorData::kMessageOrChunks;
    case v1::Tensor::kValue:
    case v1::Tensor::DATA_NOT_SET:
      break;
  }
  return false;
}

std::string_view DataInWords(const v1::Tensor& tensor) {
  switch (tensor.data_case()) {
    case v1::Tensor::kRawIndex:
      return "raw_index";
    case v1::Tensor::kValues:
      return "values";
    case v1::Tensor::kShared:
      return "shared, which goes with Execute and ExecuteBatch";
    case v1::Tensor::kBuffer:
      return "buffer, which goes with a session's executors";
    case v1::Tensor::kChunked:
      return "chunked, which goes with an ExecuteChunkedCommand";
    case v1::Tensor::kValue:
      return "value, which goes with the steps of a program";
    case v1::Tensor::DATA_NOT_SET:
      break;
  }
  return "none";
}

class CallDecoder {
 public:
  CallDecoder(const v1::Call& call, const Operator& op, TensorData data,
              std::span<const Fragments> raw, std::vector<v1::BufferView>& views)
      : call_(call), op_(op), data_(data), raw_(raw), views_(views) {}

  absl::StatusOr<NamedCall> Decode() {
    named_.op = &op_;
    named_.device = call_.device();
    for (const v1::Tensor& tensor : call_.inputs()) OPSERVE_RETURN_IF_ERROR(DecodeInput(tensor));
    for (const v1::Attribute& attribute : call_.attributes()) {
      OPSERVE_RETURN_IF_ERROR(CheckName(attribute.name(), "attribute"));
      OPSERVE_RETURN_IF_ERROR(CheckName(attribute.string_value(), attribute.name()));
      named_.attributes.push_back({attribute.name(), DecodeAttribute(attribute)});
    }
    for (const v1::Tensor& tensor : call_.outputs()) OPSERVE_RETURN_IF_ERROR(DecodeOutput(tensor));
    return std::move(named_);
  }

 private:
  absl::Status DecodeInput(const v1::Tensor& tensor) {
    const std::string& name = tensor.name();
    OPSERVE_RETURN_IF_ERROR(CheckName(name, "input"));
    OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, DecodeDesc(tensor));
    const int attribute = op_.FindInput(name) < 0 ? op_.FindAttribute(name) : -1;
    if (attribute < 0) {
      OPSERVE_RETURN_IF_ERROR(CheckInputData(tensor));
      int storage = -1;
      if (data_ != TensorData::kIgnored) {
        OPSERVE_ASSIGN_OR_RETURN(storage, StorageOf(tensor));
      }
      named_.inputs.push_back({name, std::move(desc), storage});
      return absl::OkStatus();
    }
    const AttributeKind kind = op_.attributes[static_cast<size_t>(attribute)].kind;
    OPSERVE_ASSIGN_OR_RETURN(AttributeValue value, DecodeAttributeTensor(tensor, desc, kind));
    named_.attributes.push_back({name, std::move(value)});
    return absl::OkStatus();
  }

  absl::Status CheckInputData(const v1::Tensor& tensor) const {
    const std::string_view want = kWanted[static_cast<size_t>(data_)];
    if (Takes(data_, tensor.data_case())) return absl::OkStatus();
    return tensor.data_case() == v1::Tensor::DATA_NOT_SET
               ? MissingParameter(tensor.name(), want)
               : InvalidParameter(tensor.name(), want, DataInWords(tensor));
  }

  // As DecodeStorages orders them, or the index of the view; -1 for none.
  absl::StatusOr<int> StorageOf(const v1::Tensor& tensor) {
    switch (tensor.data_case()) {
      case v1::Tensor::kRawIndex:
        if (tensor.raw_index() < raw_.size()) return static_cast<int>(tensor.raw_index());
        return OutOfRange(
            tensor.name(),
            absl::StrCat("a raw_index below ", raw_.size(), ", the number of raw entries"),
            absl::StrCat(tensor.raw_index()));
      case v1::Tensor::kValues:
        return static_cast<int>(raw_.size()) + values_seen_++;
      case v1::Tensor::kShared:
        return FirstShared() + shared_seen_++;
      case v1::Tensor::kBuffer:
        return AddView(tensor.buffer());
      case v1::Tensor::kChunked:
      case v1::Tensor::kValue:
      case v1::Tensor::DATA_NOT_SET:
        break;
    }
    return -1;
  }

  // The storages in shared memory come after those of the message.
  int FirstShared() {
    if (first_shared_ >= 0) return first_shared_;
    first_shared_ = static_cast<int>(raw_.size());
    for (const v1::Tensor& tensor : call_.inputs()) first_shared_ += tensor.has_values() ? 1 : 0;
    return first_shared_;
  }

  int AddView(const v1::BufferView& view) {
    views_.push_back(view);
    return static_cast<int>(views_.size()) - 1;
  }

  absl::Status CheckAttributeData(const v1::Tensor& tensor) const {
    const bool has_raw_entries = data_ != TensorData::kIgnored && data_ != TensorData::kBuffers;
    const std::string_view want = has_raw_entries
                                      ? "data (raw_index or values) for an attribute"
                                      : "values for an attribute, as there are no raw entries";
    if (tensor.has_values() || (has_raw_entries && tensor.has_raw_index())) return absl::OkStatus();
    return tensor.data_case() == v1::Tensor::DATA_NOT_SET
               ? MissingParameter(tensor.name(), want)
               : InvalidParameter(tensor.name(), want, DataInWords(tensor));
  }

  absl::StatusOr<AttributeValue> DecodeAttributeTensor(const v1::Tensor& tensor,
                                                       const TensorDesc& desc, AttributeKind kind) {
    const std::string& name = tensor.name();
    OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, name));
    if (!desc.IsPlain())
      return InvalidParameter(name, "a dense tensor for an attribute",
                              "strides or a storage_offset");
    if (desc.num_elements() > kMaxAttributeTensorElements) {
      return InvalidParameter(
          name, absl::StrCat("at most ", kMaxAttributeTensorElements, " elements for an attribute"),
          absl::StrCat(desc.num_elements()));
    }
    OPSERVE_RETURN_IF_ERROR(CheckAttributeData(tensor));
    OPSERVE_ASSIGN_OR_RETURN(const int storage, StorageOf(tensor));
    std::vector<std::byte> bytes;
    if (tensor.has_values()) {
      OPSERVE_ASSIGN_OR_RETURN(bytes, DecodeValues(tensor.values(), desc, name));
    } else {
      const Fragments& entry = raw_[static_cast<size_t>(storage)];
      OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, static_cast<int64_t>(entry.size_bytes()), name));
      bytes.resize(entry.size_bytes());
      entry.CopyTo(bytes.data(), 0, bytes.size());
    }
    return AttributeOfTensor(desc, bytes.data(), kind, name);
  }

  absl::Status DecodeOutput(const v1::Tensor& tensor) {
    const std::string& name = tensor.name();
    OPSERVE_RETURN_IF_ERROR(CheckName(name, "output"));
    const bool takes_buffers = data_ == TensorData::kBuffers || data_ == TensorData::kIgnored;
    if (takes_buffers && tensor.has_buffer()) return DecodeGivenOutput(tensor);
    if (tensor.strides_size() > 0 || tensor.storage_offset() != 0) {
      return InvalidParameter(name, "a dense output", "strides or a storage_offset");
    }
    const bool is_shared = data_ == TensorData::kMessageOrShared && tensor.has_shared();
    const bool is_ignored = data_ == TensorData::kIgnored && tensor.has_shared();
    if (!is_shared && !is_ignored && tensor.data_case() != v1::Tensor::DATA_NOT_SET) {
      return InvalidParameter(name, "an output without data", DataInWords(tensor));
    }
    OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, DecodeDesc(tensor));
    NamedOutput& output = named_.outputs.emplace_back();
    output.name = name;
    output.dtype = desc.dtype;
    if (is_shared) output.storage = shared_outputs_++;
    if (!desc.shape.empty() || tensor.scalar()) output.shape = std::move(desc.shape);
    return absl::OkStatus();
  }

  absl::Status DecodeGivenOutput(const v1::Tensor& tensor) {
    OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, DecodeDesc(tensor));
    NamedOutput& output = named_.outputs.emplace_back();
    output.name = tensor.name();
    output.given = std::move(desc);
    if (data_ == TensorData::kBuffers) output.storage = AddView(tensor.buffer());
    return absl::OkStatus();
  }

  const v1::Call& call_;
  const Operator& op_;
  const TensorData data_;
  const std::span<const Fragments> raw_;
  int values_seen_ = 0;
  int shared_seen_ = 0;
  int first_shared_ = -1;
  int shared_outputs_ = 0;
  std::vector<v1::BufferView>& views_;
  NamedCall named_;
};

// What is called: an operator of the table, or one that was made of the call's program.
struct Callee {
  const Operator* op = nullptr;
  std::shared_ptr<const Program> program;
};

absl::StatusOr<Callee> CalleeOf(const v1::Call& call) {
  Callee callee;
  if (call.has_program()) {
    OPSERVE_ASSIGN_OR_RETURN(callee.program, DecodeProgram(call));
    callee.op = callee.program.get();
  } else {
    OPSERVE_ASSIGN_OR_RETURN(callee.op, FindCallee(call.op()));
  }
  return callee;
}

absl::StatusOr<NamedCall> Decode(const v1::Call& call, TensorData data,
                                 std::span<const Fragments> raw,
                                 std::vector<v1::BufferView>& views) {
  OPSERVE_ASSIGN_OR_RETURN(const Callee callee, CalleeOf(call));
  absl::StatusOr<NamedCall> named = CallDecoder(call, *callee.op, data, raw, views).Decode();
  if (!named.ok()) return WithOperator(named.status(), callee.op->name);
  named->made = callee.program;
  return named;
}

absl::Status CheckAllUsed(const v1::Call& call, size_t raw_entries) {
  std::vector<bool> used(raw_entries, false);
  for (const v1::Tensor& tensor : call.inputs()) {
    if (tensor.has_raw_index() && tensor.raw_index() < raw_entries) used[tensor.raw_index()] = true;
  }
  for (size_t i = 0; i < raw_entries; ++i) {
    if (!used[i])
      return InvalidParameter("raw", "entries that an input uses",
                              absl::StrCat("entry ", i, ", which none uses"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CallStorages> GatherStorages(const v1::Call& call, std::vector<Fragments> raw) {
  OPSERVE_RETURN_IF_ERROR(CheckAllUsed(call, raw.size()));
  CallStorages storages{.fragments = std::move(raw), .values = {}};
  for (const v1::Tensor& tensor : call.inputs()) {
    if (!tensor.has_values()) continue;
    OPSERVE_ASSIGN_OR_RETURN(const TensorDesc desc, DecodeDesc(tensor));
    OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, tensor.name()));
    OPSERVE_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                             DecodeValues(tensor.values(), desc, tensor.name()));
    storages.fragments.emplace_back(
        bytes);  // the bytes stay where they are when their vector moves
    storages.values.push_back(std::move(bytes));
  }
  return storages;
}

}  // namespace

absl::Status CheckName(std::string_view name, std::string_view kind) {
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return InvalidParameter(kind, absl::StrCat("a name of at most ", kMaxNameBytes, " bytes"),
                          absl::StrCat("one of ", name.size()));
}

absl::StatusOr<const Operator*> FindCallee(std::string_view name) {
  if (name.size() <= kMaxNameBytes) return FindOperator(name);
  return MakeError({.reason = ErrorReason::kOperatorNotFound,
                    .op = {},
                    .parameter = "operator",
                    .want = "the name of an operator",
                    .got = absl::StrCat("a name of ", name.size(), " bytes")});
}

std::string_view NameOfCallee(const v1::Call& call) {
  return call.has_program() ? kProgramName : std::string_view{call.op()};
}

absl::StatusOr<NamedCall> DecodeCall(const v1::Call& call, TensorData data,
                                     std::span<const Fragments> raw) {
  std::vector<v1::BufferView> none;
  return Decode(call, data, raw, none);
}

absl::StatusOr<ExecutorCall> DecodeExecutorCall(const v1::Call& call) {
  ExecutorCall executor;
  OPSERVE_ASSIGN_OR_RETURN(executor.named, Decode(call, TensorData::kBuffers, {}, executor.views));
  return executor;
}

absl::StatusOr<CallStorages> DecodeStorages(const v1::Call& call, std::vector<Fragments> raw) {
  absl::StatusOr<CallStorages> storages = GatherStorages(call, std::move(raw));
  if (storages.ok()) return storages;
  return WithOperator(storages.status(), NameOfCallee(call));
}

}  // namespace opserve::server
