#include "client/cli/files/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/files/files.h"
#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

namespace fs = std::filesystem;

class FileWriterTest : public ::testing::Test {
 public:
  ~FileWriterTest() override { fs::remove_all(folder_); }

 protected:
  FileWriterTest() : folder_(fs::path(::testing::TempDir()) / absl::StrCat("writer", getpid())) {
    fs::create_directories(folder_);
  }

  std::string Path(const char* name) const { return (folder_ / name).string(); }
  static void Put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string Text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static absl::Status Append(FileWriter& writer, const std::string& text) {
    return writer.Append(std::as_bytes(std::span(text)));
  }

  const fs::path folder_;
};

TEST_F(FileWriterTest, TheFileChangesWhenItIsComplete) {
  Put(Path("x"), "old");
  {
    const auto writer = FileWriter::Open(Path("x"));
    ASSERT_THAT(writer, testing::IsOk());
    EXPECT_EQ(Append(**writer, "n"), absl::OkStatus());
    EXPECT_EQ(Append(**writer, "ew"), absl::OkStatus());
    EXPECT_EQ(Text(Path("x")), "old");
    EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  }
  EXPECT_EQ(Text(Path("x")), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileWriterTest, NothingIsLeftOfAFileThatIsNotFinished) {
  {
    const auto writer = FileWriter::Open(Path("x"));
    ASSERT_THAT(writer, testing::IsOk());
    EXPECT_EQ(Append(**writer, "part"), absl::OkStatus());
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(FileWriterTest, LinksStayLinks) {
  Put(Path("x"), "old");
  fs::create_symlink(Path("x"), Path("link"));
  const auto writer = FileWriter::Open(Path("link"));
  ASSERT_THAT(writer, testing::IsOk());
  EXPECT_EQ(Append(**writer, "new"), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Text(Path("x")), "new");
}

TEST_F(FileWriterTest, DevicesAreWrittenAtOnce) {
  const auto writer = FileWriter::Open("/dev/null");
  ASSERT_THAT(writer, testing::IsOk());
  EXPECT_EQ(Append(**writer, "x"), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileWriterTest, ErrorsNameThePath) {
  const absl::Status status = FileWriter::Open(Path("none/x")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(ToStd(status.message())), ::testing::HasSubstr(Path("none/x")));
}

constexpr size_t kMiB = size_t{1} << 20;

size_t Nothing(std::span<const std::byte> /*start*/) { return 0; }

TEST_F(FileWriterTest, WhatNeverEndsIsReadAsFarAsItIsWanted) {
  const auto two_and_a_half = [](std::span<const std::byte> start) {
    EXPECT_EQ(start.size(), kMiB);
    return kMiB * 5 / 2;
  };
  EXPECT_EQ((*ReadFile("/dev/zero", Nothing))->size(), kMiB);
  EXPECT_EQ((*ReadFile("/dev/zero", two_and_a_half))->size(), kMiB * 5 / 2 + 1);
  EXPECT_EQ((*MapFile("/dev/zero", two_and_a_half)).bytes.size(), kMiB * 5 / 2 + 1);
}

TEST_F(FileWriterTest, FilesAreReadWhole) {
  const std::string contents(3 << 20, 'x');
  const auto all = [&](std::span<const std::byte> /*start*/) { return contents.size(); };
  Put(Path("x"), contents);
  EXPECT_EQ(**ReadFile(Path("x"), all), contents);
  Put(Path("x"), "contents");
  EXPECT_EQ(**ReadFile(Path("x"), all), "contents");
}

TEST_F(FileWriterTest, MappedFilesAreWhatWasWritten) {
  Put(Path("x"), "contents");
  Put(Path("empty"), "");
  const absl::StatusOr<MappedFile> file = MapFile(Path("x"), Nothing);
  ASSERT_THAT(file, testing::IsOk());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()),
            "contents");
  EXPECT_EQ(MapFile(Path("empty"), Nothing)->bytes.size(), 0u);
  EXPECT_EQ(MapFile(Path("none"), Nothing).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace opserve::cli
