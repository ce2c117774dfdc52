// The client's TLS and token as gRPC's credentials. Only for the sources that know gRPC.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>
#include <string_view>

#include <opserve/client.h>

#include "absl/status/status.h"

namespace opserve::client {

// Whether the target is this machine, by its name.
bool IsLoopback(std::string_view target);

// OK, or what of `options` cannot be (161002), by the name of its field: texts that are no PEM, a
// certificate without its key, a token that no header may have, or one that the network would see.
absl::Status CheckCredentials(std::string_view target, const ConnectOptions& options);

// Of options that were checked; `arguments` are told the name that the server is to have.
std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const ConnectOptions& options,
                                                          grpc::ChannelArguments& arguments);

// Into a call's metadata, unless it is empty.
void AddToken(const std::string& token, grpc::ClientContext& context);

// Why a connection with TLS did not come about, of what gRPC says of it: in words for people, ": "
// in front. Empty where that tells nothing.
std::string_view WhyTlsFailed(std::string_view text);

}  // namespace opserve::client
