// What may come in the place of the last word, without a server.
#include "client/cli/commands/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opserve::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Of = Completion::Of;

TEST(CompletionTest, CommandsAndOptions) {
  EXPECT_THAT(CompletionOf({""}).words, Contains("program"));
  EXPECT_THAT(CompletionOf({"pr"}).words, ElementsAre("program"));
  EXPECT_THAT(CompletionOf({"program", ""}).words, ElementsAre("run", "plan", "show"));
  EXPECT_THAT(CompletionOf({"run", "--ses"}).words, ElementsAre("--session"));
  EXPECT_THAT(CompletionOf({"run", "--ta"}).words, ElementsAre("--target"));
  EXPECT_THAT(CompletionOf({"ops", "--"}).words, Not(Contains("--session")));
  EXPECT_THAT(CompletionOf({"completion", ""}).words, ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(CompletionOf({"nonsense", "x"}).words, IsEmpty());
  EXPECT_THAT(CompletionOf({}).words, IsEmpty());
}

TEST(CompletionTest, WhatOnlyAServerKnows) {
  EXPECT_EQ(CompletionOf({"run", ""}).of, Of::kOperator);
  EXPECT_EQ(CompletionOf({"ops", "L1"}).of, Of::kOperator);
  EXPECT_EQ(CompletionOf({"run", "Relu", ""}).of, Of::kNothing);
  const Completion input = CompletionOf({"--timeout", "5s", "run", "--json", "Relu", "-i", "se"});
  EXPECT_EQ(input.of, Of::kInput);
  EXPECT_EQ(input.op, "Relu");
  EXPECT_EQ(CompletionOf({"run", "Relu", "-i", "self=1", "-a", ""}).of, Of::kAttribute);
  EXPECT_EQ(CompletionOf({"run", "Relu", "-o", ""}).of, Of::kOutput);
  EXPECT_EQ(CompletionOf({"run", "--device", ""}).of, Of::kDevice);
  EXPECT_EQ(CompletionOf({"program", "run", ""}).of, Of::kFile);
  EXPECT_EQ(CompletionOf({"program", "run", "a.program", "-i", ""}).of, Of::kFile);
  EXPECT_EQ(CompletionOf({"--cacert", ""}).of, Of::kFile);
}

TEST(CompletionTest, TheServerThatTheWordsName) {
  const Completion completion =
      CompletionOf({"run", "--target", "unix:/x", "Relu", "--token-file=t", "-i", ""});
  EXPECT_EQ(completion.connection.target, "unix:/x");
  EXPECT_EQ(completion.connection.connect.token_file, "t");
}

TEST(CompletionTest, NothingOfAServerThatIsNotThere) {
  EXPECT_EQ(CompletionLines({"--target", "unix:/nonexistent", "run", "Re"}), ":files\n");
  EXPECT_EQ(CompletionLines({"--target", "unix:/nonexistent", "de"}), "devices\n");
}

}  // namespace
}  // namespace opserve::cli
