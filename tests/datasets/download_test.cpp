#include "datasets/fetch/download.hpp"

#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/datasets/published_toy.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/datasets/web_server.hpp"

namespace fedarena {
namespace {

using test::ranged;
using test::WebAnswer;
using test::WebRequest;
using test::WebServer;

class DownloadTest : public ScratchFolder {
 protected:
  // No proxy of the machine may stand between a test and its server.
  DownloadTest() { setenv("no_proxy", "*", 1); }

  bool fetch(const std::string& address) { return fetch(address, {}); }
  bool fetch(const std::string& address, const OnProgress& on_progress) {
    GrowingFile file(path_);
    return download(
        {.address = address, .most = most_, .on_progress = on_progress, .patience = std::chrono::seconds(1)},
        file);
  }
  std::string refusal(const std::string& address) {
    return message_of([&] { fetch(address); });
  }
  std::string content() const { return test::content_of(path_); }

  std::filesystem::path path_ = folder_ / "below" / "file.part";
  std::int64_t most_ = 1'000'000;
  std::string noise_ = test::noise(300'000);
  const WebServer::Handler in_ranges_ = [this](const WebRequest& request) { return ranged(request, noise_); };
  const WebServer::Handler as_a_whole_ = [this](const WebRequest&) { return WebAnswer{.body = noise_}; };
};

TEST_F(DownloadTest, BringsAFileAndTellsHowFarItIs) {
  const WebServer server(in_ranges_);
  std::pair<std::int64_t, std::int64_t> last;
  EXPECT_FALSE(fetch(server.address() + "some/file", [&](std::int64_t done, std::int64_t whole) {
    last = {done, whole};
    return true;
  }));
  EXPECT_EQ(content(), noise_);
  EXPECT_EQ(last, std::pair(std::int64_t{300'000}, std::int64_t{300'000}));
  ASSERT_THAT(server.requests(), SizeIs(1));
  EXPECT_EQ(server.requests().front().path, "/some/file");
}

TEST_F(DownloadTest, GoesOnWhereTheConnectionBroke) {
  int count = 0;
  const WebServer server([&](const WebRequest& request) {
    WebAnswer answer = ranged(request, noise_);
    if (++count < 3) answer.cut_after = 100'000;
    return answer;
  });
  EXPECT_TRUE(fetch(server.address())) << "it came in pieces";
  EXPECT_EQ(content(), noise_);
  ASSERT_THAT(server.requests(), SizeIs(3));
  EXPECT_EQ(server.requests()[1].first, 100'000);
  EXPECT_EQ(server.requests()[2].first, 200'000);
}

TEST_F(DownloadTest, GoesOnWhereAnEarlierProgramStopped) {
  write("below/file.part", Bytes(noise_.begin(), noise_.begin() + 1'000));
  const WebServer server(in_ranges_);
  std::int64_t whole = 0;
  EXPECT_TRUE(fetch(server.address(), [&](std::int64_t /*done*/, std::int64_t found) {
    whole = found;
    return true;
  }));
  EXPECT_EQ(content(), noise_);
  EXPECT_EQ(whole, 300'000);
  ASSERT_THAT(server.requests(), SizeIs(1));
  EXPECT_EQ(server.requests().front().first, 1'000);
}

// A server that knows no ranges, one that gives another range, and one that has less than is there.
TEST_F(DownloadTest, BeginsAnewWhereTheAnswerDoesNotContinueWhatIsThere) {
  const WebServer::Handler in_another_range = [&](const WebRequest& request) {
    WebAnswer answer = ranged(request, noise_);
    if (request.first) answer.headers = {"Content-Range: bytes 999-299999/300000"};
    return answer;
  };
  for (const auto& [there, handler, requests] : std::vector<std::tuple<std::size_t, WebServer::Handler, int>>{
           {1'000, as_a_whole_, 1}, {1'000, in_another_range, 2}, {400'000, in_ranges_, 2}}) {
    write("below/file.part", Bytes(there, 7));
    const WebServer server(handler);
    EXPECT_FALSE(fetch(server.address())) << "all bytes are of one answer";
    EXPECT_EQ(content(), noise_);
    EXPECT_THAT(server.requests(), SizeIs(requests));
  }
}

TEST_F(DownloadTest, TakesAFileThatIsThereAsAWhole) {
  write("below/file.part", Bytes(noise_.begin(), noise_.end()));
  const WebServer server(in_ranges_);
  EXPECT_TRUE(fetch(server.address()));
  EXPECT_EQ(content(), noise_);
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(DownloadTest, GivesUpWhenTheConnectionBreaksAgainAndAgain) {
  const WebServer server([&](const WebRequest& request) {
    WebAnswer answer = ranged(request, noise_);
    answer.cut_after = 1'000;
    return answer;
  });
  EXPECT_THAT(refusal(server.address()), has_all(server.address(), "the connection broke after 5000 bytes",
                                                 "The same command goes on from there"));
  EXPECT_EQ(content(), noise_.substr(0, 5'000)) << "what has come is kept";
  EXPECT_THAT(server.requests(), SizeIs(5));
}

TEST_F(DownloadTest, GivesUpWhenAConnectionBringsNothing) {
  for (const WebAnswer& answer : {WebAnswer{.body = noise_, .cut_after = 0}, WebAnswer{.silent = true}}) {
    const WebServer server([&](const WebRequest&) { return answer; });
    EXPECT_THAT(refusal(server.address()), HasSubstr("the connection broke after 0 bytes"));
    EXPECT_THAT(server.requests(), SizeIs(1));
  }
}

// At such a rate the file would take hours.
TEST_F(DownloadTest, GivesUpOnAServerThatTrickles) {
  int count = 0;
  const WebServer server([&](const WebRequest&) {
    return count++ == 0 ? WebAnswer{.body = noise_.substr(0, 100), .trickling = true}
                        : WebAnswer{.silent = true};
  });
  EXPECT_THAT(refusal(server.address()), HasSubstr("Less than 1024 bytes/sec"));
}

// Redirects /N to /N-1, down to /0.
WebAnswer countdown(const WebRequest& request) {
  const int left = std::stoi(request.path.substr(1));
  if (left == 0) return {.body = "there"};
  return {.status = 302, .headers = {fmt::format("Location: /{}", left - 1)}, .body = "go there"};
}

TEST_F(DownloadTest, FollowsAFewRedirects) {
  const WebServer server(countdown);
  fetch(server.address() + "5");
  EXPECT_EQ(content(), "there");
  EXPECT_THAT(refusal(server.address() + "6"), HasSubstr("redirects more than 5 times"));
  const WebServer loop(
      [](const WebRequest&) { return WebAnswer{.status = 301, .headers = {"Location: /"}}; });
  EXPECT_THAT(refusal(loop.address()), HasSubstr("redirects more than 5 times"));
}

TEST_F(DownloadTest, FollowsRedirectsToTheWebAlone) {
  const auto secret = write("secret", {'x'});
  const WebServer server([&](const WebRequest&) {
    return WebAnswer{.status = 302, .headers = {"Location: file://" + secret.string()}};
  });
  EXPECT_THAT(refusal(server.address()), has_all("cannot be followed", "allowed: http://"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(DownloadTest, RefusesWhatIsNotThere) {
  write("below/file.part", Bytes(10, 7));
  for (const int status : {403, 404, 410, 500, 503}) {
    const WebServer server(
        [&](const WebRequest&) { return WebAnswer{.status = status, .body = "an error page"}; });
    EXPECT_THAT(refusal(server.address() + "gone"),
                has_all(server.address() + "gone", fmt::format("the server answers {}", status), "--from"));
    EXPECT_EQ(content(), std::string(10, 7)) << "no error page is part of the file";
  }
}

TEST_F(DownloadTest, RefusesAnAnswerThatIsNoFile) {
  const WebServer nothing([](const WebRequest&) { return WebAnswer{.status = 204}; });
  EXPECT_THAT(refusal(nothing.address()), HasSubstr("the server answers 204"));
  const WebServer choices([](const WebRequest&) { return WebAnswer{.status = 300, .body = "choose"}; });
  EXPECT_THAT(refusal(choices.address()), HasSubstr("the server answers 300"));
  EXPECT_FALSE(std::filesystem::exists(path_.parent_path())) << "the folder was made for the file";
}

TEST_F(DownloadTest, RefusesAFileThatIsTooLong) {
  for (const bool length : {true, false}) {
    const WebServer server([&](const WebRequest&) { return WebAnswer{.body = noise_, .length = length}; });
    most_ = 300'000;
    fetch(server.address());
    EXPECT_EQ(content(), noise_);
    GrowingFile(path_).remove();
    most_ = 299'999;
    EXPECT_THAT(refusal(server.address()), HasSubstr("the file is longer than 299999 bytes"));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(DownloadTest, BeginsAnewWhenWhatWasThereMakesAFileTooLong) {
  // The server has other bytes now, and knows no better than to add them.
  write("below/file.part", Bytes(200'000, 7));
  most_ = 300'000;
  const WebServer server([&](const WebRequest& request) {
    if (!request.first) return WebAnswer{.body = noise_};
    return WebAnswer{.status = 206, .headers = {"Content-Range: bytes 200000-499999/500000"}, .body = noise_};
  });
  EXPECT_FALSE(fetch(server.address()));
  EXPECT_EQ(content(), noise_);
}

TEST_F(DownloadTest, StopsWhenItIsToldTo) {
  const WebServer server([&](const WebRequest& request) {
    WebAnswer answer = ranged(request, noise_);
    answer.silent = !request.first;
    return answer;
  });
  write("below/file.part", Bytes(noise_.begin(), noise_.begin() + 1'000));
  EXPECT_THROW(fetch(server.address(), [](std::int64_t, std::int64_t) { return false; }), Interrupted);
  EXPECT_EQ(content(), noise_.substr(0, content().size())) << "what has come is the beginning of the file";
  EXPECT_GE(content().size(), 1'000U);
}

TEST_F(DownloadTest, ReportsWhatItsListenerThrows) {
  const WebServer server(as_a_whole_);
  const auto fail = [](std::int64_t, std::int64_t) -> bool { throw Error::of("enough"); };
  EXPECT_EQ(message_of([&] { fetch(server.address(), fail); }), "enough");
}

TEST_F(DownloadTest, RefusesServersThatCannotBeReached) {
  std::string address;
  {
    const WebServer server([](const WebRequest&) { return WebAnswer{}; });
    address = server.address();
  }
  EXPECT_THAT(refusal(address), AllOf(HasSubstr("cannot be reached"), HasSubstr("--from DIR")));
  EXPECT_THAT(refusal("http://no-such-host.invalid/"), HasSubstr("cannot be reached"));
  EXPECT_THAT(refusal("http://"), HasSubstr("this is not a web address"));
}

class SecureDownloadTest : public DownloadTest {
 protected:
  ~SecureDownloadTest() override { unsetenv("CURL_CA_BUNDLE"); }
  void trust(const WebServer& server) const {
    setenv("CURL_CA_BUNDLE", scratch_.write("authority.pem", server.certificate()).c_str(), 1);
  }
};

TEST_F(SecureDownloadTest, TrustsNoCertificateThatNobodyVouchesFor) {
  const WebServer server(as_a_whole_, true);
  EXPECT_THAT(refusal(server.address()), has_all("no trusted connection", "CURL_CA_BUNDLE"));
  EXPECT_THAT(server.requests(), SizeIs(0));
  trust(server);
  fetch(server.address());
  EXPECT_EQ(content(), noise_);
}

TEST_F(SecureDownloadTest, TrustsACertificateForItsOwnHostAlone) {
  const WebServer server(as_a_whole_, true);
  trust(server);
  std::string other = server.address();
  other.replace(other.find("localhost"), 9, "127.0.0.1");
  EXPECT_THAT(refusal(other), HasSubstr("no trusted connection"));
}

TEST_F(SecureDownloadTest, IsNotLedOffTheSecureWeb) {
  const WebServer plain(as_a_whole_);
  const WebServer secure(
      [&](const WebRequest&) {
        return WebAnswer{.status = 302, .headers = {"Location: " + plain.address()}};
      },
      true);
  trust(secure);
  EXPECT_THAT(refusal(secure.address()), has_all("cannot be followed", "after https:// only that"));
  EXPECT_THAT(plain.requests(), SizeIs(0));
  // The other way round is an improvement.
  const WebServer content_server([&](const WebRequest&) { return WebAnswer{.body = "secure"}; }, true);
  trust(content_server);
  const WebServer upgrade([&](const WebRequest&) {
    return WebAnswer{.status = 302, .headers = {"Location: " + content_server.address()}};
  });
  fetch(upgrade.address());
  EXPECT_EQ(content(), "secure");
}

TEST_F(DownloadTest, TwoAtOnceDoNotMixTheirBytes) {
  const GrowingFile taken(path_);
  expect_refused("another process is writing", [&] { GrowingFile again(path_); });
}

}  // namespace
}  // namespace fedarena
