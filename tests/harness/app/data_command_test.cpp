// `fedarena data`: what is listed, what is verified, fetched and drawn, and what a user gets to read when
// that fails.
#include <signal.h>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/images/image_grid.hpp"
#include "tests/datasets/web_server.hpp"
#include "tests/harness/app/golden.hpp"
#include "tests/harness/app/small_experiment.hpp"
#include "tests/matchers.hpp"
#include "tests/results/images/decoded_png.hpp"

namespace fedarena::test {
namespace {

using results::Raster;

const std::string kImages = "train-images-idx3-ubyte";

using DataCommand = ScratchTest;

TEST_F(DataCommand, ListsAndExplainsDataSets) {
  scratch.write("folder/mnist/" + kImages, "");
  for (const char* name : {"train-labels-idx1-ubyte", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte"})
    scratch.write(fs::path("folder/mnist") / name, "");
  const std::string folder = (scratch / "folder").string();
  expect_answers(scratch, "data.txt");
  const Outcome found = call("data list", {.environment = {{"FEDARENA_DATA", folder}}});
  EXPECT_THAT(found.out, ContainsRegex("\nmnist +" + folder + "/mnist +Handwritten"));
  EXPECT_THAT(found.out, HasSubstr("Looked in: " + folder + ", "));
  EXPECT_THAT(found.out, HasSubstr("`fedarena data fetch NAME` brings fashion-mnist, cifar10"));
}

TEST_F(DataCommand, MistakesAreRefusedWithARemedy) {
  scratch.write("table.csv", "x,y\n1,a\n2,b\n3,a\n");
  scratch.write("a-file", "");
  fs::create_directory(scratch / "empty");
  expect_refusals(scratch, "bad_data_commands.txt");
  EXPECT_FALSE(fs::exists(scratch / "grid.png"));
}

TEST_F(DataCommand, VerifySaysWhatIsWrongWithAFile) {
  for (const char* name : {"train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    scratch.write(fs::path("mnist") / name, "short");
  const std::string header{"\0\0\x08\x03\0\0\xEA\x60\0\0\0\x1C\0\0\0\x1C", 16};
  fs::resize_file(scratch.write("mnist/" + kImages, header), 47'040'016);  // sparse
  const Outcome outcome = failed("data verify mnist --from .");
  EXPECT_THAT(outcome.err,
              has_all("the files of mnist are not as they should be", "`fedarena data fetch mnist`"));
  EXPECT_THAT(outcome.out, HasSubstr("mnist: wrong: ./mnist/" + kImages +
                                     ": this is not the published file: the SHA-256"));
  EXPECT_THAT(outcome.out,
              HasSubstr("mnist: wrong: ./mnist/t10k-labels-idx1-ubyte: the content ends after 5 bytes"))
      << "one bad file hides no other";
}

TEST_F(DataCommand, VerifyTellsAllThatIsThere) {
  EXPECT_EQ(succeed("data verify").out,
            "glyphs: verified: 12000 training and 2000 test examples, 10 classes\n"
            "linear-mixture: verified: 1000 training and 1000 test examples, a regression, 100 users\n"
            "mnist: not there\nfashion-mnist: not there\ncifar10: not there\ncifar100: not there\n"
            "svhn: not there\nfemnist: not there\nfed-emnist: not there\n");
  for (const char* name : {"train.bin", "test.bin"}) scratch.write(fs::path("data/cifar100") / name, "short");
  const Outcome wrong = failed("data verify --from data");
  EXPECT_THAT(wrong.out, has_all("cifar100: wrong: data/cifar100/train.bin: the content ends after 5 bytes",
                                 "cifar100: wrong: data/cifar100/test.bin: the content ends after 5 bytes"));
  EXPECT_THAT(wrong.err, HasSubstr("the files of 1 data set are not as they should be"));
}

TEST_F(DataCommand, VerifyReadsTheUsersOwnFilesWithTheirSettings) {
  scratch.write("table.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n");
  EXPECT_EQ(succeed("data verify csv --set path=table.csv --set data.target=\"y\"").out,
            "csv: verified: 4 training and 1 test examples, 2 classes\n"
            "csv: 4 training rows and 1 test row\n"
            "  numbers: \"x\"\n"
            "  target: \"y\", 2 classes (training + test rows): \"a\" 2 + 1, \"b\" 2 + 0\n");
  scratch.write("table.csv", "x,y\n1,a\n,b\n3,a\n");
  EXPECT_EQ(refused("data verify csv --set path=table.csv --set target=y"),
            "fedarena: table.csv:3:1: the field of column \"x\" is empty; allowed: a finite number\n"
            "  Fill it in, or name the columns to learn from in features, where missing = \"drop\" leaves "
            "such rows out\n");
}

// A grey picture of 2 x 1 pixels.
std::string picture(std::uint8_t left, std::uint8_t right) {
  return results::to_png({.width = 2, .height = 1, .channels = 1, .samples = {left, right}});
}

TEST_F(DataCommand, PreviewDrawsTheFirstImagesOfEveryClass) {
  scratch.write("own/train/cat/1.png", picture(10, 20));
  scratch.write("own/train/cat/2.png", picture(30, 40));
  scratch.write("own/train/cat/3.png", picture(50, 60));
  scratch.write("own/train/dog/1.png", picture(70, 80));
  scratch.write("own/test/dog/1.png", picture(90, 100));
  const CommandLine preview = "data preview image-folder --set path=own --per-class 2 --scale 1 -o grid.png";
  EXPECT_EQ(
      succeed(preview).out,
      "image-folder, training examples: the first 2 of each of 2 classes, 3 images of 2 x 1 pixels, grey\n"
      "image-folder: pictures of 2 x 1 grey\n"
      "  classes (training + test pictures): \"cat\" 3 + 0, \"dog\" 1 + 1\n"
      "grid.png: 6 x 4 pixels, a row for every class\n");
  const Raster grid = results::decoded_png(content_of(scratch / "grid.png"));
  const std::vector<std::uint8_t> expected = {10,  20,  255, 255, 30,  40,   //
                                              255, 255, 255, 255, 255, 255,  //
                                              255, 255, 255, 255, 255, 255,  //
                                              70,  80,  255, 255, 255, 255};
  EXPECT_EQ(grid.samples, expected);
  EXPECT_THAT(succeed(preview + "--part test").out,
              HasSubstr("test examples: the first 2 of each of 1 classes, 1 images"));
  EXPECT_EQ(results::decoded_png(content_of(scratch / "grid.png")).at(0, 1, 0), 100);
  EXPECT_EQ(refused("data preview image-folder --set path=own -o own/train/dog/new.png"),
            "fedarena: own/train/dog/new.png: --output: would change own, which the command reads\n"
            "  choose another place\n");
  EXPECT_FALSE(fs::exists(scratch / "own/train/dog/new.png"));
}

TEST_F(DataCommand, FetchBringsThePublishedFilesFromAServer) {
  const fs::path data = published_data();
  if (data.empty()) return;
  const WebServer server([&](const WebRequest& request) {
    const fs::path file = data / request.path.substr(1);
    return fs::exists(file) ? ranged(request, content_of(file)) : WebAnswer{.status = 404};
  });
  const CommandLine fetch = "data fetch mnist --from " + server.address() + "mnist";
  const std::string folder = (scratch / ".cache/fedarena/mnist").string();
  EXPECT_EQ(succeed(fetch).out,
            fmt::format("train-images-idx3-ubyte: fetched, 47040016 bytes with the published SHA-256\n"
                        "train-labels-idx1-ubyte: fetched, 60008 bytes with the published SHA-256\n"
                        "t10k-images-idx3-ubyte: fetched, 7840016 bytes with the published SHA-256\n"
                        "t10k-labels-idx1-ubyte: fetched, 10008 bytes with the published SHA-256\n"
                        "mnist: all 4 files are in {}\n",
                        folder));
  EXPECT_EQ(
      succeed("data verify mnist").out,
      fmt::format("mnist: verified: 60000 training and 10000 test examples, 10 classes in {}\n", folder));
  EXPECT_THAT(succeed(fetch).out, HasSubstr(kImages + ": kept, it is the published file"));
  EXPECT_EQ(server.requests().size(), 4U) << "nothing was fetched twice";
}

TEST_F(DataCommand, FetchCopiesAndSaysHowRunsFindTheFiles) {
  const fs::path data = published_data();
  if (data.empty()) return;
  const CommandLine fetch = "data fetch mnist --from " + data.string() + " --to here";
  EXPECT_THAT(succeed(fetch).out,
              has_all("mnist: all 4 files are in here/mnist\n",
                      fmt::format("Set FEDARENA_DATA to {}", (scratch / "here").string())));
  EXPECT_THAT(call(fetch, {.environment = {{"FEDARENA_DATA", "here"}}}).out,
              Not(HasSubstr("Set FEDARENA_DATA")));
}

TEST_F(DataCommand, FetchShowsItsProgressAndStopsAtCtrlC) {
  // Half of the file comes, and then nothing.
  const WebServer server([](const WebRequest& request) {
    if (request.first) return WebAnswer{.silent = true};
    return WebAnswer{.body = std::string(1'000'000, 'x'), .cut_after = 500'000};
  });
  Program program(scratch, "data fetch mnist --from " + server.address(), {.terminal = true});
  ASSERT_TRUE(program.wait_until([&] { return server.requests().size() == 2; })) << program.err();
  program.send(SIGINT);
  const Outcome outcome = program.finish();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("\r\033[K" + kImages + ".gz: "));
  EXPECT_THAT(outcome.err, HasSubstr("Stopped; what has come is kept. The same command goes on from there."));
  EXPECT_EQ(fs::file_size(scratch / (".cache/fedarena/mnist/" + kImages + ".gz.part")), 500'000U);
}

}  // namespace
}  // namespace fedarena::test
