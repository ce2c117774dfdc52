// What a client may connect with, and why TLS did not come about.
#include "client/cpp/transport/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/op_error.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::opserve::testing::IsOk;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----\n";
constexpr char kKey[] = "-----BEGIN PRIVATE KEY-----\n";
constexpr char kElsewhere[] = "example.org:8500";

void ExpectError(const absl::Status& status, ErrorReason reason, std::string_view parameter) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(GetErrorReasonInfo(detail->reason).name, GetErrorReasonInfo(reason).name) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
}

TEST(CredentialsTest, TakesWhatGoesTogether) {
  EXPECT_THAT(CheckCredentials(kElsewhere, {}), IsOk());
  EXPECT_THAT(CheckCredentials(kElsewhere, {.tls = TlsOptions()}), IsOk());
  EXPECT_THAT(CheckCredentials(kElsewhere, {.tls = TlsOptions{.root_ca = kCertificate}}), IsOk());
  const TlsOptions both{.certificate = kCertificate, .key = kKey};
  EXPECT_THAT(CheckCredentials(kElsewhere, {.tls = both, .token = "aZ09-._~+/="}), IsOk());
}

TEST(CredentialsTest, RefusesPartsAndWhatIsNoPem) {
  const auto check = [](const TlsOptions& tls) {
    return CheckCredentials(kElsewhere, {.tls = tls});
  };
  ExpectError(check({.certificate = kCertificate}), ErrorReason::kMissingParameter, "tls.key");
  ExpectError(check({.key = kKey}), ErrorReason::kMissingParameter, "tls.certificate");
  ExpectError(check({.root_ca = "x"}), ErrorReason::kInvalidParameter, "tls.root_ca");
  ExpectError(check({.certificate = kKey, .key = kKey}), ErrorReason::kInvalidParameter,
              "tls.certificate");
  ExpectError(check({.certificate = kCertificate, .key = kCertificate}),
              ErrorReason::kInvalidParameter, "tls.key");
}

TEST(CredentialsTest, ATokenGoesWhereNobodyReadsIt) {
  for (const char* target : {"localhost:1", "127.0.0.1:1", "127.8.9.10:1", "[::1]:1",
                             "unix:/socket", "unix-abstract:socket"})
    EXPECT_THAT(CheckCredentials(target, {.token = "secret"}), IsOk()) << target;
  for (const char* target :
       {kElsewhere, "dns:///localhost:1", "10.0.0.1:1", "unix01.example:1", "127.example.org:1",
        "127.0.0.1.example.org:1", "localhost.example.org:1", "[::1:2]:1"}) {
    const absl::Status status = CheckCredentials(target, {.token = "secret"});
    ExpectError(status, ErrorReason::kInvalidParameter, "token");
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("secret")));
    EXPECT_THAT(CheckCredentials(target, {.tls = TlsOptions(), .token = "secret"}), IsOk());
  }
}

TEST(CredentialsTest, ATokenIsOneWord) {
  for (const char* token : {"two words", "line\n", "s\xc3\xbc\xc3\x9f", "a,b", "\""}) {
    const absl::Status status = CheckCredentials("localhost:1", {.token = token});
    ExpectError(status, ErrorReason::kInvalidParameter, "token");
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr(token)));
  }
}

TEST(CredentialsTest, KnowsWhatGrpcSays) {
  EXPECT_THAT(std::string(WhyTlsFailed("error:0A000086:SSL routines::certificate verify failed")),
              HasSubstr("not trusted"));
  EXPECT_THAT(std::string(WhyTlsFailed("Peer name elsewhere is not in peer certificate")),
              HasSubstr("another name"));
  EXPECT_THAT(std::string(WhyTlsFailed("error:0A00010B:SSL routines::wrong version number")),
              HasSubstr("does not speak TLS"));
  EXPECT_EQ(WhyTlsFailed("Connection refused"), "");
}

}  // namespace
}  // namespace opserve::client
