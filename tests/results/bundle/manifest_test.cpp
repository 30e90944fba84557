#include "results/bundle/manifest.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/message_of.hpp"

namespace fedarena::results {
namespace {

using test::message_of;
using testing::HasSubstr;

const std::string kDigest(64, 'a');

Manifest sample() {
  return {.runs = {{.folder = "grid/fedavg-seed-1",
                    .files = {{.name = "rounds.jsonl", .bytes = 12, .sha256 = kDigest},
                              {.name = "synthetic/round-0001/images.npy", .bytes = 0, .sha256 = kDigest}}},
                   {.folder = "grid/fedavg-seed-2", .files = {}}}};
}

std::string refusal(const Manifest& manifest) {
  return message_of([&] { parse_manifest(to_json_text(manifest), "a.tar.gz"); });
}

TEST(Manifest, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_manifest(to_json_text(sample()), "a.tar.gz"), sample());
}

TEST(Manifest, NamesNothingOutsideOfItsFolder) {
  for (const char* name : {"../summary.json", "/etc/passwd", "a/../../b", "a/./b", "a//b", ".", "..", "",
                           "a\\b", "a\nb", "C:/b", "a/"}) {
    SCOPED_TRACE(name);
    Manifest file = sample();
    file.runs[0].files[0].name = name;
    EXPECT_THAT(refusal(file), HasSubstr("without . and .."));
    Manifest folder = sample();
    folder.runs[0].folder = name;
    EXPECT_THAT(refusal(folder), HasSubstr("without . and .."));
  }
}

TEST(Manifest, ListsAFileOnce) {
  Manifest manifest = sample();
  manifest.runs[0].files[1] = manifest.runs[0].files[0];
  EXPECT_THAT(refusal(manifest), HasSubstr("each file once"));
}

TEST(Manifest, HoldsNoMoreThanABundleMay) {
  Manifest manifest = sample();
  manifest.runs[0].files[0].bytes = kMostBundledBytes;
  EXPECT_EQ(parse_manifest(to_json_text(manifest), "a.tar.gz"), manifest);
  manifest.runs[0].files[1].bytes = 1;
  EXPECT_THAT(refusal(manifest), HasSubstr("no more than 4 GiB"));
}

TEST(Manifest, RefusesOtherTexts) {
  Manifest manifest = sample();
  manifest.runs[0].files[0].sha256 = "ABC";
  EXPECT_THAT(refusal(manifest), HasSubstr("64 lower-case hexadecimal digits"));
  EXPECT_THAT(refusal({}), HasSubstr("at least one run"));
  const auto text_refusal = [](const std::string& text) {
    return message_of([&] { parse_manifest(text, "a.tar.gz"); });
  };
  EXPECT_THAT(text_refusal("{}"), HasSubstr("a.tar.gz"));
  EXPECT_THAT(text_refusal("none"), HasSubstr("a.tar.gz"));
  EXPECT_THAT(text_refusal(R"({"schema": 2, "runs": []})"), HasSubstr("another version of fedarena"));
  EXPECT_THAT(text_refusal(R"({"schema": 1, "runs": [{"folder": "a", "files": [], "mode": 1}]})"),
              HasSubstr("mode"));
}

}  // namespace
}  // namespace fedarena::results
