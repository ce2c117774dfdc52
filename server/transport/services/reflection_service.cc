#include "server/transport/services/reflection_service.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/slice.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "server/transport/messages/control_message.h"
#include "server/transport/messages/status.h"

namespace opserve::server {
namespace {

namespace reflection = grpc::reflection::v1;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using Request = reflection::ServerReflectionRequest;
using Response = reflection::ServerReflectionResponse;

// Version 1 and what clients from before it ask for: the same messages under another name.
using ReflectionMethods = reflection::ServerReflection::WithRawCallbackMethod_ServerReflectionInfo<
    reflection::ServerReflection::Service>;
using OldReflection = grpc::reflection::v1alpha::ServerReflection;
using OldReflectionMethods =
    OldReflection::WithRawCallbackMethod_ServerReflectionInfo<OldReflection::Service>;

void SetError(grpc::StatusCode code, std::string message, Response& response) {
  response.mutable_error_response()->set_error_code(code);
  response.mutable_error_response()->set_error_message(std::move(message));
}

// The files of some services, and the answers about them.
class ServedFiles {
 public:
  explicit ServedFiles(std::vector<std::string> services) : services_(std::move(services)) {
    for (const std::string& name : services_)
      Add(*DescriptorPool::generated_pool()->FindServiceByName(name)->file());
    // No service's file imports what the details of an error are.
    Add(*google::rpc::ErrorInfo::descriptor()->file());
    for (auto& [name, answer] : answers_) answer = Encode(*pool_.FindFileByName(name));
  }

  grpc::ByteBuffer Answer(Request request) const {
    request.DiscardUnknownFields();
    Response response;
    response.set_valid_host(request.host());
    const grpc::Slice* files = Find(request, response);
    *response.mutable_original_request() = std::move(request);
    // Messages that follow each other are one with the fields of both.
    std::vector<grpc::Slice> slices = {grpc::Slice(response.SerializeAsString())};
    if (files != nullptr) slices.push_back(*files);
    return grpc::ByteBuffer(slices.data(), slices.size());
  }

 private:
  void Add(const FileDescriptor& file) {
    if (!answers_.try_emplace(file.name()).second) return;
    for (int i = 0; i < file.dependency_count(); ++i) Add(*file.dependency(i));
    FileDescriptorProto proto;
    file.CopyTo(&proto);
    pool_.BuildFile(proto);
  }

  // A response with that file and all that it imports.
  static grpc::Slice Encode(const FileDescriptor& file) {
    Response response;
    std::vector<const FileDescriptor*> files = {&file};
    for (size_t i = 0; i < files.size(); ++i) {
      FileDescriptorProto proto;
      files[i]->CopyTo(&proto);
      response.mutable_file_descriptor_response()->add_file_descriptor_proto(
          proto.SerializeAsString());
      for (int d = 0; d < files[i]->dependency_count(); ++d) {
        const FileDescriptor* imported = files[i]->dependency(d);
        if (std::find(files.begin(), files.end(), imported) == files.end())
          files.push_back(imported);
      }
    }
    return grpc::Slice(response.SerializeAsString());
  }

  // What a request asks for: a file, or else put into `response`.
  const grpc::Slice* Find(const Request& request, Response& response) const {
    switch (request.message_request_case()) {
      case Request::kFileByFilename:
        return AnswerOf(pool_.FindFileByName(request.file_by_filename()), "file",
                        request.file_by_filename(), response);
      case Request::kFileContainingSymbol:
        return AnswerOf(pool_.FindFileContainingSymbol(request.file_containing_symbol()), "symbol",
                        request.file_containing_symbol(), response);
      case Request::kFileContainingExtension:
        return FindExtension(request.file_containing_extension(), response);
      case Request::kAllExtensionNumbersOfType:
        ListExtensions(request.all_extension_numbers_of_type(), response);
        return nullptr;
      case Request::kListServices:
        for (const std::string& name : services_)
          response.mutable_list_services_response()->add_service()->set_name(name);
        return nullptr;
      case Request::MESSAGE_REQUEST_NOT_SET:
        break;
    }
    SetError(grpc::StatusCode::INVALID_ARGUMENT,
             "message_request: want one of its fields, got none", response);
    return nullptr;
  }

  const grpc::Slice* AnswerOf(const FileDescriptor* file, const char* kind, const std::string& name,
                              Response& response) const {
    if (file != nullptr) return &answers_.at(file->name());
    SetError(grpc::StatusCode::NOT_FOUND, absl::StrCat("there is no ", kind, " ", name), response);
    return nullptr;
  }

  const grpc::Slice* FindExtension(const reflection::ExtensionRequest& asked,
                                   Response& response) const {
    const auto* type = pool_.FindMessageTypeByName(asked.containing_type());
    const auto* extension =
        type == nullptr ? nullptr : pool_.FindExtensionByNumber(type, asked.extension_number());
    return AnswerOf(extension == nullptr ? nullptr : extension->file(), "extension of",
                    absl::StrCat(asked.containing_type(), " numbered ", asked.extension_number()),
                    response);
  }

  void ListExtensions(const std::string& name, Response& response) const {
    const auto* type = pool_.FindMessageTypeByName(name);
    if (type == nullptr) {
      SetError(grpc::StatusCode::NOT_FOUND, absl::StrCat("there is no message ", name), response);
      return;
    }
    std::vector<const google::protobuf::FieldDescriptor*> extensions;
    pool_.FindAllExtensions(type, &extensions);
    auto& numbers = *response.mutable_all_extension_numbers_response();
    numbers.set_base_type_name(name);
    for (const auto* extension : extensions) numbers.add_extension_number(extension->number());
  }

  const std::vector<std::string> services_;
  // generated_pool keeps, for good, each name that was looked for and not found.
  DescriptorPool pool_;
  absl::flat_hash_map<std::string, grpc::Slice> answers_;
};

// One stream: reads, answers, reads again. Owned by gRPC: lives until OnDone.
class ReflectionCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ReflectionCall(const ServedFiles& files, int64_t max_inflated_bytes, const absl::Status& admitted)
      : files_(files), max_inflated_bytes_(max_inflated_bytes) {
    if (admitted.ok()) {
      StartRead(&in_);
    } else {
      Finish(ToGrpcStatus(admitted));
    }
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    Request request;
    const absl::Status status = ReadControlMessage(in_, max_inflated_bytes_, request);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    out_ = files_.Answer(std::move(request));
    StartWrite(&out_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&in_);
  }

  void OnDone() override { delete this; }

  const ServedFiles& files_;
  const int64_t max_inflated_bytes_;
  grpc::ByteBuffer in_;
  grpc::ByteBuffer out_;
};

template <typename Methods>
class ReflectionService final : public Methods {
 public:
  ReflectionService(std::shared_ptr<const ServedFiles> files, int64_t max_inflated_bytes,
                    const Gate& gate)
      : files_(std::move(files)), max_inflated_bytes_(max_inflated_bytes), gate_(gate) {}

 private:
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ServerReflectionInfo(
      grpc::CallbackServerContext* context) override {
    return new ReflectionCall(*files_, max_inflated_bytes_,
                              gate_.Admit(Role::kDiscover, *context).status());
  }

  const std::shared_ptr<const ServedFiles> files_;
  const int64_t max_inflated_bytes_;
  const Gate& gate_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeReflectionServices(
    std::span<const std::string_view> services, int64_t max_inflated_bytes, const Gate& gate) {
  // Nothing else of its file is used: without this the linker leaves the descriptors out.
  google::protobuf::LinkMessageReflection<grpc::reflection::v1alpha::ServerReflectionRequest>();
  std::vector<std::string> names(services.begin(), services.end());
  names.emplace_back(grpc::health::v1::Health::service_full_name());
  names.emplace_back(reflection::ServerReflection::service_full_name());
  names.emplace_back(OldReflection::service_full_name());
  const auto files = std::make_shared<const ServedFiles>(std::move(names));
  std::vector<std::unique_ptr<grpc::Service>> made;
  made.push_back(
      std::make_unique<ReflectionService<ReflectionMethods>>(files, max_inflated_bytes, gate));
  made.push_back(
      std::make_unique<ReflectionService<OldReflectionMethods>>(files, max_inflated_bytes, gate));
  return made;
}

}  // namespace opserve::server
