#include <algorithm>
#include <optional>
#include <utility>

#include "client/cpp/messages.h"
#include "client/cpp/read_message.h"
#include "client/cpp/wire_reader.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

static_assert(static_cast<int>(DType::kFloat32) == v1::DTYPE_FLOAT32 &&
              static_cast<int>(DType::kBool) == v1::DTYPE_BOOL &&
              kNumDTypes == v1::DType_ARRAYSIZE);

// Copied next to each other into one piece: cheaper than a piece of its own.
constexpr size_t kSmallBytes = 4096;

template <typename List, typename Values>
void FillList(List* list, const Values& values) {
  for (const auto value : values) list->add_values(value);
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
  };
  std::visit(Setter{attribute}, value);
}

void FillTensor(const std::string& name, const TensorView& view, v1::Tensor& tensor) {
  tensor.set_name(name);
  tensor.set_dtype(ToWire(view.dtype));
  tensor.mutable_shape()->Assign(view.shape.begin(), view.shape.end());
  tensor.mutable_strides()->Assign(view.strides.begin(), view.strides.end());
  tensor.set_storage_offset(view.storage_offset);
}

// All but the data.
void FillCall(const Call& call, v1::Call& message) {
  message.set_operator_(call.op());
  message.set_device(call.device());
  for (const auto& [name, view] : call.inputs()) FillTensor(name, view, *message.add_inputs());
  for (const auto& [name, value] : call.attributes())
    FillAttribute(name, value, *message.add_attributes());
  for (const auto& [name, dtype] : call.output_dtypes()) {
    v1::Tensor& output = *message.add_outputs();
    output.set_name(name);
    output.set_dtype(ToWire(dtype));
  }
}

// Index of the view whose storage is `view`'s too; the number of `views` when there is none.
size_t FindStorage(const std::vector<const TensorView*>& views, const TensorView& view) {
  const auto same = [&view](const TensorView* other) {
    return other->storage.data() == view.storage.data() &&
           other->storage.size() == view.storage.size();
  };
  return static_cast<size_t>(std::find_if(views.begin(), views.end(), same) - views.begin());
}

void AppendVarint(uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void AppendRaw(const TensorView& view, Request& request) {
  std::string header;
  AppendVarint(
      (v1::ExecuteRequest::kRawFieldNumber << 3) | static_cast<unsigned>(WireReader::Type::kBytes),
      header);
  AppendVarint(view.storage.size(), header);
  request.AppendCopy(header);
  if (view.storage.size() <= kSmallBytes) {
    request.AppendCopy({reinterpret_cast<const char*>(view.storage.data()), view.storage.size()});
  } else {
    request.AppendView(view.storage, view.owner);
  }
}

struct RawBytes {
  std::shared_ptr<std::byte> bytes;
  size_t size = 0;
};

struct Answer {
  std::vector<v1::Tensor> outputs;
  std::vector<RawBytes> raw;
};

// False at malformed bytes.
bool ReadField(WireReader& reader, const WireReader::Field& field, Answer& answer) {
  if (field.type != WireReader::Type::kBytes) return reader.SkipField(field);
  if (field.number == v1::ExecuteResponse::kOutputsFieldNumber) {
    std::string bytes(field.length, '\0');
    return reader.Read(reinterpret_cast<std::byte*>(bytes.data()), bytes.size()) &&
           answer.outputs.emplace_back().ParseFromString(bytes);
  }
  if (field.number == v1::ExecuteResponse::kRawFieldNumber) {
    const RawBytes& raw =
        answer.raw.emplace_back(RawBytes{AllocateTensorBytes(field.length), field.length});
    return reader.Read(raw.bytes.get(), raw.size);
  }
  return reader.SkipField(field);
}

absl::StatusOr<Tensor> MakeTensor(const v1::Tensor& output, const std::vector<RawBytes>& raw) {
  const auto bad = [&output](std::string_view what) {
    return BadAnswer("ExecuteResponse", output.name() + ": " + std::string(what));
  };
  if (output.strides_size() != 0 || output.storage_offset() != 0)
    return bad("an output that is not dense");
  OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, ReadDesc(output, "ExecuteResponse"));
  if (output.data_case() == v1::Tensor::kValues)
    return bad("values where raw bytes were asked for");
  if (output.data_case() == v1::Tensor::DATA_NOT_SET) {
    if (desc.num_elements() != 0) return bad("elements without data");
    return Tensor(std::move(desc), nullptr);
  }
  if (output.raw_index() >= raw.size()) return bad("a raw_index that is too large");
  const RawBytes& bytes = raw[output.raw_index()];
  if (static_cast<int64_t>(bytes.size) != desc.size_bytes())
    return bad("bytes that do not fit the shape");
  return Tensor(std::move(desc), bytes.bytes);
}

}  // namespace

Request MakeGetWorkspaceSizeRequest(const Call& call) {
  v1::GetWorkspaceSizeRequest message;
  FillCall(call, *message.mutable_call());
  Request request;
  request.AppendCopy(message.SerializeAsString());
  return request;
}

Request MakeExecuteRequest(const Call& call) {
  v1::ExecuteRequest message;
  FillCall(call, *message.mutable_call());
  message.set_output_encoding(v1::TENSOR_ENCODING_RAW);
  std::vector<const TensorView*> storages;
  for (size_t i = 0; i < call.inputs().size(); ++i) {
    const TensorView& view = call.inputs()[i].second;
    const size_t index = FindStorage(storages, view);
    if (index == storages.size()) storages.push_back(&view);
    message.mutable_call()
        ->mutable_inputs(static_cast<int>(i))
        ->set_raw_index(static_cast<uint32_t>(index));
  }
  Request request;
  request.AppendCopy(message.SerializeAsString());
  for (const TensorView* view : storages) AppendRaw(*view, request);
  return request;
}

absl::StatusOr<ExecuteResult> ReadExecuteResult(const Fragments& fragments) {
  WireReader reader(fragments);
  Answer answer;
  while (reader.remaining() > 0) {
    WireReader::Field field;
    if (!reader.ReadField(field) || !ReadField(reader, field, answer)) {
      return BadAnswer("ExecuteResponse", "malformed bytes");
    }
  }
  ExecuteResult result;
  for (const v1::Tensor& output : answer.outputs) {
    OPSERVE_ASSIGN_OR_RETURN(Tensor tensor, MakeTensor(output, answer.raw));
    result.outputs.push_back({output.name(), std::move(tensor)});
  }
  return result;
}

}  // namespace opserve::client
