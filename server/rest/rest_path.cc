#include "server/rest/rest_path.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace opserve::server {
namespace {

// A deeper path there is not.
constexpr size_t kMostSegments = 8;

// Without the empty ones that a slash at the end makes.
std::vector<std::string_view> SegmentsOf(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty() && segments.size() <= kMostSegments) {
    path.remove_prefix(1);  // a slash
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0 || end < path.size()) segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

struct Named {
  std::string_view name;
  RestResource resource;
};

template <typename Table>
RestResource Find(const Table& table, std::string_view name) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [name](const Named& each) { return each.name == name; });
  return found == std::end(table) ? RestResource::kNone : found->resource;
}

RestPath ParseModel(const std::vector<std::string_view>& segments) {
  static constexpr Named kOfModel[] = {
      {"ready", RestResource::kModelReady},           {"config", RestResource::kModelConfig},
      {"stats", RestResource::kModelStatistics},      {"infer", RestResource::kInfer},
      {"trace", RestResource::kUnsupported},          {"generate", RestResource::kUnsupported},
      {"generate_stream", RestResource::kUnsupported}};
  if (segments.size() == 3 && segments[2] == "stats")
    return {.resource = RestResource::kModelStatistics, .model = {}, .version = {}};
  RestPath path{.resource = RestResource::kModel, .model = segments[2], .version = {}};
  size_t next = 3;
  if (segments.size() > 4 && segments[3] == "versions") {
    path.version = segments[4];
    next = 5;
  }
  if (segments.size() > next) path.resource = Find(kOfModel, segments[next]);
  if (segments.size() > next + 1 && segments[next] != "trace") path.resource = RestResource::kNone;
  return path;
}

// What follows the kind of memory: an action, or region, its name and an action.
RestPath ParseMemory(const std::vector<std::string_view>& segments) {
  static constexpr Named kOfSystem[] = {{"status", RestResource::kRegions},
                                        {"register", RestResource::kRegister},
                                        {"unregister", RestResource::kUnregister}};
  static constexpr Named kOfCuda[] = {{"status", RestResource::kCudaRegions},
                                      {"register", RestResource::kCudaMemory},
                                      {"unregister", RestResource::kCudaMemory}};
  const bool has_region = segments.size() == 5 && segments[2] == "region";
  if (!has_region && segments.size() != 3) return {};
  const std::string_view action = segments.back();
  RestPath path{.resource = segments[1] == "cudasharedmemory" ? Find(kOfCuda, action)
                                                              : Find(kOfSystem, action),
                .model = {},
                .version = {}};
  if (has_region) path.region = segments[3];
  return path;
}

}  // namespace

bool IsRestPath(std::string_view path) { return path == "/v2" || path.starts_with("/v2/"); }

RestPath ParseRestPath(std::string_view path) {
  static constexpr Named kOfServer[] = {{"trace", RestResource::kUnsupported},
                                        {"logging", RestResource::kUnsupported}};
  const std::vector<std::string_view> segments = SegmentsOf(path);
  if (segments.empty() || segments[0] != "v2" || segments.size() > kMostSegments) return {};
  if (std::find(segments.begin(), segments.end(), "") != segments.end()) return {};
  if (segments.size() == 1) return {.resource = RestResource::kServer, .model = {}, .version = {}};
  const std::string_view part = segments[1];
  if (part == "models" && segments.size() > 2) return ParseModel(segments);
  if (part == "systemsharedmemory" || part == "cudasharedmemory") return ParseMemory(segments);
  RestResource resource = Find(kOfServer, part);
  if (part == "health" && segments.size() == 3) {
    static constexpr Named kOfHealth[] = {{"live", RestResource::kLive},
                                          {"ready", RestResource::kReady}};
    resource = Find(kOfHealth, segments[2]);
  }
  if (part == "repository" && segments.size() > 2) {
    resource = segments[2] == "models" ? RestResource::kUnsupported : RestResource::kNone;
    if (segments[2] == "index" && segments.size() == 3) resource = RestResource::kIndex;
  }
  return {.resource = resource, .model = {}, .version = {}};
}

}  // namespace opserve::server
