#include "datasets/fetch/fetch.hpp"

#include <cstdlib>
#include <map>

#include <gmock/gmock.h>

#include "tests/datasets/published_toy.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/datasets/web_server.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

using test::gz;
using test::published;
using test::ranged;
using test::tar_gz;
using test::WebAnswer;
using test::WebRequest;
using test::WebServer;

class FetchTest : public ScratchFolder {
 protected:
  FetchTest() { setenv("no_proxy", "*", 1); }

  // What the server has, by path; anything else is 404.
  WebAnswer answer(const WebRequest& request) const {
    const auto found = offered_.find(request.path);
    return found == offered_.end() ? WebAnswer{.status = 404, .body = "no such page"}
                                   : ranged(request, found->second);
  }

  void fetch(const std::string& from = {}) {
    said_.clear();
    fetch_published(wanted_, target_, {.from = from, .patience = std::chrono::seconds(5)},
                    {.say = [&](const std::string& sentence) { said_.push_back(sentence); },
                     .progress = [&](const std::string&, std::int64_t, std::int64_t) { return !stop_; }});
  }
  std::string refusal(const std::string& from = {}) {
    return message_of([&] { fetch(from); });
  }
  std::vector<std::string> names() const { return names_in(target_); }
  std::string content(const std::string& name) const { return test::content_of(target_ / name); }
  void expect_both_alone() const {
    EXPECT_EQ(content("a"), a_);
    EXPECT_EQ(content("b"), b_);
    EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (const WebRequest& request : server_.requests()) paths.push_back(request.path);
    return paths;
  }

  std::string a_ = test::noise(200'000), b_ = test::noise(3'000, 2);
  std::map<std::string, std::string> offered_ = {{"/toy/a.gz", gz(a_)},
                                                 {"/toy/b.gz", gz(b_)},
                                                 {"/toy/toy.tar.gz", tar_gz({{"toy/a", a_}, {"toy/b", b_}})}};
  WebServer server_{[this](const WebRequest& request) { return answer(request); }};
  PublishedFiles wanted_{"toy",
                         {"toy", "toy-1.0"},
                         {published("a", a_), published("b", b_)},
                         "the publisher's page is example.org",
                         {.addresses = {server_.address() + "toy/"}, .ending = ".gz"}};
  fs::path target_ = folder_ / "data" / "toy";
  std::vector<std::string> said_;
  bool stop_ = false;
};

TEST_F(FetchTest, BringsEveryFileAndLeavesNothingElse) {
  fetch();
  expect_both_alone();
  EXPECT_THAT(paths(), ElementsAre("/toy/a.gz", "/toy/b.gz"));
  EXPECT_THAT(said_, ElementsAre("a: fetched, 200000 bytes with the published SHA-256",
                                 "b: fetched, 3000 bytes with the published SHA-256"));
}

TEST_F(FetchTest, KeepsGoodFilesUnread) {
  scratch_.write("data/toy/a", a_);
  scratch_.write("data/toy/b.gz", gz(b_));
  fetch();
  EXPECT_THAT(paths(), IsEmpty());
  EXPECT_THAT(said_,
              ElementsAre("a: kept, it is the published file", "b.gz: kept, it is the published file"));
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b.gz"));
}

TEST_F(FetchTest, ReplacesABadFile) {
  scratch_.write("data/toy/a", "bad");
  scratch_.write("data/toy/b.gz", "bad");
  fetch();
  EXPECT_EQ(content("a"), a_);
  EXPECT_EQ(content("b"), b_);
  EXPECT_THAT(said_, Contains("a: not the published file, to be replaced"));
  EXPECT_EQ(find_published(wanted_, {folder_ / "data"}).at(1), target_ / "b") << "the good one is read";
  fetch();
  EXPECT_THAT(paths(), SizeIs(2)) << "nothing is left to be fetched";
}

TEST_F(FetchTest, PutsNoWrongFileInPlaceOfAnother) {
  scratch_.write("data/toy/a", "bad, but mine");
  for (const std::string& wrong : {gz(b_), std::string("<html>"), gz(a_).substr(0, 1'000), gz(a_ + "x")}) {
    offered_["/toy/a.gz"] = wrong;
    EXPECT_THAT(refusal(), HasSubstr(server_.address() + "toy/a.gz: "));
    EXPECT_EQ(content("a"), "bad, but mine");
    EXPECT_THAT(names(), UnorderedElementsAre("a")) << "nothing of the wrong file is gone on from";
  }
}

TEST_F(FetchTest, RefusesABodyThatIsTooLong) {
  offered_["/toy/a.gz"] = test::noise(2'000'000);
  EXPECT_THAT(refusal(), HasSubstr("the file is longer than 1250576 bytes"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(FetchTest, ReportsAFileThatIsNotThere) {
  offered_.erase("/toy/b.gz");
  EXPECT_THAT(refusal(), has_all("toy/b.gz: the server answers 404", "--from"));
  EXPECT_EQ(content("a"), a_) << "what was fetched before stays";
}

TEST_F(FetchTest, GoesOnAfterItWasStopped) {
  stop_ = true;
  EXPECT_THROW(fetch(), Interrupted);
  scratch_.write("data/toy/a.gz.part", gz(a_).substr(0, 50'000));
  stop_ = false;
  fetch();
  EXPECT_EQ(content("a"), a_);
  EXPECT_EQ(server_.requests().at(server_.requests().size() - 2).first, 50'000);
  EXPECT_THAT(names(), UnorderedElementsAre("a", "b"));
}

TEST_F(FetchTest, FetchesAsAWholeWhatDoesNotFitTogether) {
  scratch_.write("data/toy/a.gz.part", gz(b_));
  fetch();
  EXPECT_EQ(content("a"), a_);
  EXPECT_THAT(said_,
              Contains("a.gz: the parts of two transfers do not fit together; fetching it as a whole"));
  EXPECT_THAT(paths(), ElementsAre("/toy/a.gz", "/toy/a.gz", "/toy/b.gz"));
}

TEST_F(FetchTest, FetchesAsAWholeOnlyOnce) {
  scratch_.write("data/toy/a.gz.part", "begun");
  offered_["/toy/a.gz"] = gz(b_);
  EXPECT_THAT(refusal(), HasSubstr("a ends after 3000 bytes"));
  EXPECT_THAT(paths(), ElementsAre("/toy/a.gz", "/toy/a.gz"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(FetchTest, KeepsATransferForWhichThereIsNoRoomToUnpack) {
  scratch_.write("data/toy/a.unverified/in-the-way", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("a.unverified: the file cannot be written"), HasSubstr("--to DIR")));
  EXPECT_EQ(content("a.gz.part"), gz(a_)) << "the source is not to blame";
}

TEST_F(FetchTest, TakesWhatIsMissingOutOfAnArchive) {
  wanted_.publication = {.addresses = {server_.address() + "toy/"}, .archive = "toy.tar.gz"};
  fetch();
  expect_both_alone();
  EXPECT_THAT(paths(), ElementsAre("/toy/toy.tar.gz"));
  fs::remove(target_ / "b");
  offered_["/toy/toy.tar.gz"] = tar_gz({{"toy/a", "another a"}, {"toy/b", b_}});
  fetch();
  expect_both_alone();
}

TEST_F(FetchTest, TriesTheNextAddress) {
  wanted_.publication.addresses = {server_.address() + "gone/", server_.address() + "toy/"};
  fetch();
  EXPECT_EQ(content("a"), a_);
  EXPECT_EQ(said_.front(),
            fmt::format("{0}gone/a.gz: the server answers 404; trying {0}toy/", server_.address()));
  wanted_.publication.addresses = {server_.address() + "gone/", server_.address() + "lost/"};
  fs::remove_all(target_);
  EXPECT_THAT(refusal(), HasSubstr("lost/a.gz: the server answers 404"));
}

TEST_F(FetchTest, TakesAnotherAddress) {
  wanted_.publication.addresses = {"http://no-such-host.invalid/"};
  fetch(server_.address() + "toy");
  EXPECT_EQ(content("b"), b_);
}

TEST_F(FetchTest, RefusesAnAddressWithoutAServer) {
  for (const char* address : {"http://", "https:///toy"})
    EXPECT_THAT(refusal(address), HasSubstr("the address names no server"));
}

TEST_F(FetchTest, CopiesFromAFolder) {
  scratch_.write("stick/a", a_);
  scratch_.write("stick/toy-1.0/b.gz", gz(b_));
  fetch((folder_ / "stick").string());
  expect_both_alone();
  EXPECT_THAT(paths(), IsEmpty());
}

TEST_F(FetchTest, UnpacksAnArchiveOfAFolder) {
  wanted_.publication = {.addresses = {server_.address()}, .archive = "toy.tar.gz"};
  scratch_.write("stick/toy.tar.gz", offered_["/toy/toy.tar.gz"]);
  fetch((folder_ / "stick").string());
  EXPECT_EQ(content("b"), b_);
  EXPECT_TRUE(fs::exists(folder_ / "stick/toy.tar.gz")) << "it is the user's";
}

TEST_F(FetchTest, RefusesAFolderThatDoesNotServe) {
  EXPECT_THAT(refusal((folder_ / "nowhere").string()), HasSubstr("there is no such folder"));
  scratch_.write("stick/a", b_);
  EXPECT_THAT(refusal((folder_ / "stick").string()),
              has_all("stick/a: a ends after 3000 bytes", "allowed: exactly 200000 bytes"));
  scratch_.write("stick/a", a_);
  EXPECT_THAT(refusal((folder_ / "stick").string()), HasSubstr("the folder holds neither b nor b.gz"));
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(FetchTest, RefusesATargetThatIsNoFolder) {
  scratch_.write("data/toy", "a file");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("a.gz.part: the file cannot be written"), HasSubstr("--to DIR")));
}

TEST_F(FetchTest, BelongsWhereFilesAreReadFrom) {
  const SearchPath both = {folder_ / "one", folder_ / "two"};
  EXPECT_EQ(fetch_folder(wanted_, both), folder_ / "one/toy");
  scratch_.write("two/toy-1.0/a", "");
  EXPECT_EQ(fetch_folder(wanted_, both), folder_ / "two/toy-1.0") << "some are there";
  scratch_.write("one/toy/a.gz", "");
  EXPECT_EQ(fetch_folder(wanted_, both), folder_ / "one/toy");
  scratch_.write("two/toy-1.0/b", "");
  EXPECT_EQ(fetch_folder(wanted_, both), folder_ / "two/toy-1.0") << "all are there";
  EXPECT_THAT(message_of([&] { fetch_folder(wanted_, {}); }), HasSubstr("Name one with --to DIR"));
}

}  // namespace
}  // namespace fedarena
