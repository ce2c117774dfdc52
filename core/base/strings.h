// Text: names that people mistype, and Abseil's edge. Debian's absl::string_view is a type of its
// own; core speaks std::string_view.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace opserve {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

// "text", between quotation marks.
std::string Quoted(std::string_view text);

// The one of `candidates` that is nearest to `word` by edit distance, if it is near enough to be a
// typing slip (at most a third of the word's length, at least 1; letter case and '_' do not count);
// empty otherwise.
template <typename Range>
std::string_view NearestMatch(std::string_view word, const Range& candidates);

// "; did you mean "mean"?", to end what was wanted with: of NearestMatch, between two `quote`;
// empty where there is none. It begins with kSuggestion.
template <typename Range>
std::string DidYouMean(std::string_view word, const Range& candidates, char quote = '"');

inline constexpr std::string_view kSuggestion = "; did you mean ";

// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// Lower case, without '_' and '-'.
std::string FoldName(std::string_view name);

template <typename Range>
std::string_view NearestMatch(std::string_view word, const Range& candidates) {
  const std::string folded = FoldName(word);
  size_t best = folded.size() / 3 + 1;
  std::string_view nearest;
  for (const auto& candidate : candidates) {
    const size_t distance = EditDistance(folded, FoldName(candidate));
    if (distance < best || (distance == best && nearest.empty())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

template <typename Range>
std::string DidYouMean(std::string_view word, const Range& candidates, char quote) {
  const std::string nearest(NearestMatch(word, candidates));
  return nearest.empty() ? "" : std::string(kSuggestion) + (quote + nearest + quote) + "?";
}

}  // namespace opserve
