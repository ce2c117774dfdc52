// Paths of the Open Inference Protocol.
#include "server/rest/rest_path.h"

#include <gtest/gtest.h>

namespace opserve::server {
namespace {

void Expect(std::string_view path, RestResource resource, std::string_view model = {},
            std::string_view version = {}, std::string_view region = {}) {
  const RestPath parsed = ParseRestPath(path);
  EXPECT_EQ(parsed.resource, resource) << path;
  if (resource == RestResource::kNone) return;
  EXPECT_EQ(parsed.model, model) << path;
  EXPECT_EQ(parsed.version, version) << path;
  EXPECT_EQ(parsed.region, region) << path;
}

TEST(RestPathTest, ThoseThatThereAre) {
  Expect("/v2", RestResource::kServer);
  Expect("/v2/", RestResource::kServer);
  Expect("/v2/health/live", RestResource::kLive);
  Expect("/v2/health/ready", RestResource::kReady);
  Expect("/v2/models/M", RestResource::kModel, "M");
  Expect("/v2/models/M/", RestResource::kModel, "M");
  Expect("/v2/models/M/versions/1", RestResource::kModel, "M", "1");
  Expect("/v2/models/M/ready", RestResource::kModelReady, "M");
  Expect("/v2/models/M/versions/1/ready", RestResource::kModelReady, "M", "1");
  Expect("/v2/models/M/config", RestResource::kModelConfig, "M");
  Expect("/v2/models/M/versions/2/config", RestResource::kModelConfig, "M", "2");
  Expect("/v2/models/M/stats", RestResource::kModelStatistics, "M");
  Expect("/v2/models/stats", RestResource::kModelStatistics);
  Expect("/v2/models/M/infer", RestResource::kInfer, "M");
  Expect("/v2/models/M/versions/1/infer", RestResource::kInfer, "M", "1");
  Expect("/v2/repository/index", RestResource::kIndex);
  Expect("/v2/systemsharedmemory/status", RestResource::kRegions);
  Expect("/v2/systemsharedmemory/region/r/status", RestResource::kRegions, "", "", "r");
  Expect("/v2/systemsharedmemory/region/r/register", RestResource::kRegister, "", "", "r");
  Expect("/v2/systemsharedmemory/region/r/unregister", RestResource::kUnregister, "", "", "r");
  Expect("/v2/systemsharedmemory/unregister", RestResource::kUnregister);
  Expect("/v2/cudasharedmemory/status", RestResource::kCudaRegions);
  Expect("/v2/cudasharedmemory/region/r/status", RestResource::kCudaRegions, "", "", "r");
  Expect("/v2/cudasharedmemory/region/r/register", RestResource::kCudaMemory, "", "", "r");
  Expect("/v2/cudasharedmemory/unregister", RestResource::kCudaMemory);
}

TEST(RestPathTest, ThoseThatOthersHave) {
  for (const char* path :
       {"/v2/repository/models/M/load", "/v2/repository/models/M/unload", "/v2/trace/setting",
        "/v2/logging", "/v2/models/M/generate", "/v2/models/M/trace/setting"}) {
    EXPECT_EQ(ParseRestPath(path).resource, RestResource::kUnsupported) << path;
  }
}

TEST(RestPathTest, ThoseThatNobodyHas) {
  for (const char* path : {"",
                           "/",
                           "/v1",
                           "/v22",
                           "/v2/x",
                           "/v2/health",
                           "/v2/health/live/x",
                           "/v2/models",
                           "/v2/models/M/x",
                           "/v2/models/M/infer/x",
                           "/v2/models/M/versions/1/x",
                           "/v2/repository",
                           "/v2/repository/index/x",
                           "/v2/systemsharedmemory",
                           "/v2/systemsharedmemory/region/r",
                           "/v2/systemsharedmemory/region/r/s/register",
                           "/v2/systemsharedmemory/x/r/register",
                           "/v2//models",
                           "/v2/models//ready",
                           "/v2/models//config",
                           "/v2/models//versions/1/ready",
                           "/v2/systemsharedmemory/region//unregister",
                           "/v2/cudasharedmemory/r/status",
                           "/v2/a/b/c/d/e/f/g/h/i/j"}) {
    EXPECT_EQ(ParseRestPath(path).resource, RestResource::kNone) << path;
  }
  EXPECT_FALSE(IsRestPath("/v22"));
  EXPECT_TRUE(IsRestPath("/v2/x"));
}

}  // namespace
}  // namespace opserve::server
