#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/loadtest/report/page_text.h"
#include "client/loadtest/report/texts.h"

namespace opserve::loadtest {

std::string ReportPage(const std::vector<std::string>& runs) {
  return absl::StrReplaceAll(kPageText,
                             {{"@RUNS@", absl::StrCat("[", absl::StrJoin(runs, ","), "]")}});
}

}  // namespace opserve::loadtest
