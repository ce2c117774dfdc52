// Buffers and transfers.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <ostream>

#include "tests/server/session/session_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class SessionMemoryTest : public SessionFixture {
 protected:
  void SetUp() override { MakeStreams(); }

  // A fresh one, with limits_ as they are now.
  void ResetSession() {
    EndSession();
    MakeStreams();
  }
};

TEST_F(SessionMemoryTest, QueryMemory) {
  limits_.memory_limit_bytes = 5000;
  ResetSession();
  v1::MemoryState memory = session().Do("query_memory { context: 1 }").last().memory();
  EXPECT_EQ(memory.used_bytes(), 0);
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 3000 }");
  session().Do("allocate { buffer: 2 context: 1 size_bytes: 0 }");
  session().Do("allocate { buffer: 3 context: 1 size_bytes: 2000 }");
  session().Do("free { buffer: 3 }");
  memory = session().Do("query_memory { context: 1 }").last().memory();
  EXPECT_EQ(memory.used_bytes(), 3000);
  EXPECT_EQ(memory.peak_bytes(), 5000);
  EXPECT_GE(memory.device().used_bytes(), 3000);
  EXPECT_EQ(memory.device().limit_bytes(), int64_t{64} << 20);
}

TEST_F(SessionMemoryTest, FreedMemoryLastsAsLongAsWorkThatUsesIt) {
  MakeBuffer(1, std::string(64, 'a'));
  device().Hold(Work::kDownload);
  const uint64_t read = session().Send("download { source { buffer: 1 row_bytes: 64 } stream: 1 }");
  session().Do("free { buffer: 1 }");
  EXPECT_EQ(session().Do("query_memory { context: 1 }").last().memory().used_bytes(), 64);
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 64 }");  // the id is free
  session().Do("upload { destination { buffer: 1 } stream: 2 }", {std::string(64, 'b')});
  device().Release(Work::kDownload);
  EXPECT_EQ(session().Await(read).bytes(), std::string(64, 'a'));
  session().AwaitIdle();
}

TEST_F(SessionMemoryTest, UploadsOfAnySize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4097}, size_t{3} << 20}) {
    const std::string bytes = Noise(size, size);
    MakeBuffer(1, bytes);
    EXPECT_EQ(Contents(1, size), bytes) << size;
    session().Do("free { buffer: 1 }");
  }
}

TEST_F(SessionMemoryTest, StridedRegions) {
  MakeBuffer(1, std::string(20, '.'));
  session().Do(
      "upload { destination { buffer: 1 offset_bytes: 1 row_bytes: 3 rows: 4 stride_bytes: 5 } "
      "stream: 1 }",
      {"abcdefghijkl"});
  EXPECT_EQ(Contents(1, 20), ".abc..def..ghi..jkl.");
  const Reply columns = session().Do(
      "download { source { buffer: 1 offset_bytes: 2 row_bytes: 1 rows: 4 stride_bytes: 5 } "
      "stream: "
      "1 }");
  EXPECT_EQ(columns.bytes(), "behk");
  session().Do(
      "fill { destination { buffer: 1 offset_bytes: 4 row_bytes: 2 rows: 3 stride_bytes: 5 } "
      "pattern: 'xy' "
      "stream: 1 }");
  EXPECT_EQ(Contents(1, 20), ".abcxydefxyghixyjkl.");
}

TEST_F(SessionMemoryTest, CopiesMayRegroupRows) {
  MakeBuffer(1, "abcdefghijkl");
  MakeBuffer(2, std::string(12, '.'));
  session().Do(
      "copy { source { buffer: 1 row_bytes: 4 rows: 2 stride_bytes: 6 } "
      "destination { buffer: 2 offset_bytes: 1 row_bytes: 2 rows: 4 stride_bytes: 3 } stream: 1 }");
  EXPECT_EQ(Contents(2, 12), ".ab.cd.gh.ij");
  session().Do(
      "copy { source { buffer: 1 row_bytes: 0 } destination { buffer: 1 row_bytes: 0 } stream: 1 "
      "}");
}

TEST_F(SessionMemoryTest, RegionsBesideEachOtherDoNotOverlap) {
  MakeBuffer(1, "ab..cd..ef..");
  session().Do(
      "copy { source { buffer: 1 row_bytes: 2 rows: 3 stride_bytes: 4 } "
      "destination { buffer: 1 offset_bytes: 2 row_bytes: 2 rows: 3 stride_bytes: 4 } stream: 1 }");
  EXPECT_EQ(Contents(1, 12), "ababcdcdefef");
  session().Refuse(
      "copy { source { buffer: 1 row_bytes: 3 rows: 3 stride_bytes: 4 } "
      "destination { buffer: 1 offset_bytes: 2 row_bytes: 2 rows: 2 stride_bytes: 4 } stream: 1 }",
      kInvalid, "destination");
  session().Refuse(
      "copy { source { buffer: 1 row_bytes: 6 } destination { buffer: 1 offset_bytes: 5 row_bytes: "
      "6 } "
      "stream: 1 }",
      kInvalid, "destination");
}

TEST_F(SessionMemoryTest, FillPatterns) {
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 16 }");
  for (const std::string pattern : {"1", "12", "1234", "12345678"}) {
    session().Do(absl::StrCat("fill { destination { buffer: 1 row_bytes: 16 } pattern: '", pattern,
                              "' stream: 1 }"));
    std::string want;
    while (want.size() < 16) want += pattern;
    EXPECT_EQ(Contents(1, 16), want);
  }
  for (const std::string pattern : {"", "123", "12345", "123456789"}) {
    session().Refuse(absl::StrCat("fill { destination { buffer: 1 row_bytes: 0 } pattern: '",
                                  pattern, "' stream: 1 }"),
                     kInvalid, "pattern");
  }
  session().Refuse("fill { destination { buffer: 1 row_bytes: 6 } pattern: '1234' stream: 1 }",
                   kInvalid, "destination.row_bytes");
}

TEST_F(SessionMemoryTest, DownloadsComeInChunksInOrder) {
  const std::string bytes = Noise(1000, 1);
  MakeBuffer(1, bytes);
  for (const int chunk : {1000, 999, 400, 128, 2000}) {
    const Reply reply = session().Do(absl::StrCat(
        "download { source { buffer: 1 row_bytes: 1000 } stream: 1 chunk_bytes: ", chunk, " }"));
    EXPECT_EQ(reply.bytes(), bytes);
    EXPECT_EQ(reply.answers.size(), static_cast<size_t>((1000 + chunk - 1) / chunk + 1));
    for (const v1::Answer& answer : reply.answers)
      EXPECT_EQ(answer.more(), &answer != &reply.last());
  }
  const Reply strided = session().Do(
      "download { source { buffer: 1 row_bytes: 7 rows: 100 stride_bytes: 10 } stream: 1 "
      "chunk_bytes: 64 }");
  std::string want;
  for (size_t row = 0; row < 100; ++row) want += bytes.substr(row * 10, 7);
  EXPECT_EQ(strided.bytes(), want);
}

TEST_F(SessionMemoryTest, ChunkSizesOutOfRange) {
  MakeBuffer(1, "12345678");
  for (const int64_t chunk :
       {int64_t{-1}, limits_.window_bytes + 1, std::numeric_limits<int64_t>::max()}) {
    session().Refuse(
        absl::StrCat("download { source { buffer: 1 row_bytes: 8 } stream: 1 chunk_bytes: ", chunk,
                     " }"),
        kInvalid, "chunk_bytes");
  }
}

TEST_F(SessionMemoryTest, ADownloadHoldsItsStreamUntilItsLastByteWasTaken) {
  limits_.window_bytes = 1024;
  limits_.chunk_bytes = 512;
  ResetSession();
  const std::string bytes = Noise(4096, 2);
  MakeBuffer(1, bytes);
  const uint64_t read =
      session().Send("download { source { buffer: 1 row_bytes: 4096 } stream: 1 }");
  const uint64_t fill =
      session().Send("fill { destination { buffer: 1 row_bytes: 4096 } pattern: 'x' stream: 1 }");
  session().Do("synchronize { stream: 2 }");
  EXPECT_FALSE(session().answers().contains(fill));
  EXPECT_EQ(session().Await(read).bytes(), bytes);
  EXPECT_THAT(session().Await(fill), IsOk());
}

TEST_F(SessionMemoryTest, ADetachedDownloadLeavesItsStreamGoing) {
  limits_.window_bytes = 1024;
  limits_.chunk_bytes = 512;
  ResetSession();
  const std::string bytes = Noise(4096, 3);
  MakeBuffer(1, bytes);
  session().Do("allocate { buffer: 2 context: 1 size_bytes: 8 }");
  device().Hold(Work::kDownload);
  const uint64_t read =
      session().Send("download { source { buffer: 1 row_bytes: 4096 } stream: 1 detached: true }");
  device().AwaitHeld(Work::kDownload);
  session().Do("fill { destination { buffer: 2 row_bytes: 8 } pattern: 'x' stream: 1 }");
  session().Do("synchronize { stream: 1 }");
  EXPECT_FALSE(session().answers().contains(read));
  device().Release(Work::kDownload);
  EXPECT_EQ(session().Await(read).bytes(), bytes);
}

TEST_F(SessionMemoryTest, UploadsWantOneEntryOfTheRegionsSize) {
  MakeBuffer(1, "12345678");
  session().Refuse("upload { destination { buffer: 1 } stream: 1 }", kInvalid, "raw_index");
  session().Refuse("upload { destination { buffer: 1 } stream: 1 }", kInvalid, "raw", {"1", "2"});
  session().Refuse("upload { destination { buffer: 1 row_bytes: 3 } stream: 1 }", kInvalid, "raw",
                   {"1"});
  session().Refuse("upload { destination { buffer: 1 rows: 2 } stream: 1 }", kInvalid, "raw",
                   {"1"});
  session().Refuse("upload { destination { buffer: 1 } stream: 1 }", kInvalid, "destination",
                   {"123456789"});
}

TEST_F(SessionMemoryTest, CopiesWantAsManyBytes) {
  MakeBuffer(1, "12345678");
  MakeBuffer(2, "12345678");
  session().Refuse(
      "copy { source { buffer: 1 row_bytes: 4 } destination { buffer: 2 row_bytes: 5 } stream: 1 }",
      kInvalid, "destination");
}

struct BadRegion {
  const char* label;
  const char* region;
  const char* field;  // of the region, in the error
};

void PrintTo(const BadRegion& bad, std::ostream* out) { *out << bad.label; }

constexpr BadRegion kBadRegions[] = {
    {"NegativeOffset", "offset_bytes: -1 row_bytes: 1", ".offset_bytes"},
    {"NegativeRow", "row_bytes: -1", ".row_bytes"},
    {"NegativeRows", "row_bytes: 1 rows: -1", ".rows"},
    {"StrideBelowRow", "row_bytes: 4 rows: 2 stride_bytes: 3", ".stride_bytes"},
    {"BehindTheEnd", "offset_bytes: 9", ""},
    {"AcrossTheEnd", "offset_bytes: 1 row_bytes: 8", ""},
    {"LastRowAcrossTheEnd", "row_bytes: 1 rows: 3 stride_bytes: 4", ""},
    {"HugeOffset", "offset_bytes: 9223372036854775807 row_bytes: 1", ""},
    {"HugeRow", "offset_bytes: 1 row_bytes: 9223372036854775807", ""},
    {"HugeStride", "row_bytes: 1 rows: 3 stride_bytes: 9223372036854775807", ""},
    {"HugeRows", "row_bytes: 4 rows: 4611686018427387905 stride_bytes: 4", ""},
    {"HugeRowsThatWrapToNothing", "row_bytes: 4 rows: 4611686018427387904 stride_bytes: 4", ""},
};

class BadRegionTest : public SessionMemoryTest, public ::testing::WithParamInterface<BadRegion> {};
INSTANTIATE_TEST_SUITE_P(Regions, BadRegionTest, ::testing::ValuesIn(kBadRegions),
                         [](const auto& param) { return param.param.label; });

TEST_P(BadRegionTest, IsRefusedByEveryTransfer) {
  MakeBuffer(1, "12345678");
  MakeBuffer(2, "12345678");
  const std::string bad = absl::StrCat("{ buffer: 1 ", GetParam().region, " }");
  const std::string good = "{ buffer: 2 row_bytes: 8 }";
  const std::string from = absl::StrCat("source", GetParam().field);
  const std::string to = absl::StrCat("destination", GetParam().field);
  session().Refuse(absl::StrCat("download { source ", bad, " stream: 1 }"), kInvalid, from);
  session().Refuse(absl::StrCat("copy { source ", bad, " destination ", good, " stream: 1 }"),
                   kInvalid, from);
  session().Refuse(absl::StrCat("copy { source ", good, " destination ", bad, " stream: 1 }"),
                   kInvalid, to);
  session().Refuse(absl::StrCat("fill { destination ", bad, " pattern: 'x' stream: 1 }"), kInvalid,
                   to);
  session().Refuse(absl::StrCat("upload { destination ", bad, " stream: 1 }"), kInvalid, to, {"1"});
  EXPECT_EQ(Contents(1, 8), "12345678");
}

// No bytes, however many rows they are in: done at once.
TEST_F(SessionMemoryTest, EmptyRowsWithoutNumber) {
  MakeBuffer(1, "12345678");
  const std::string region = "{ buffer: 1 offset_bytes: 8 row_bytes: 0 rows: 9223372036854775807 }";
  EXPECT_EQ(session().Do(absl::StrCat("download { source ", region, " stream: 1 }")).bytes(), "");
  session().Do(absl::StrCat("copy { source ", region, " destination { buffer: 1 } stream: 1 }"));
  session().Do(absl::StrCat("copy { source { buffer: 1 } destination ", region, " stream: 1 }"));
  session().Do(absl::StrCat("fill { destination ", region, " pattern: 'x' stream: 1 }"));
  session().Do(absl::StrCat("upload { destination ", region, " stream: 1 }"), {""});
}

}  // namespace
}  // namespace opserve::testing
