#include "results/plot/gnuplot.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/text/markup.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

[[noreturn]] void fail(std::string found, std::string remedy = {}) {
  throw Error(Complaint{
      .place = {}, .found = std::move(found), .allowed = {}, .nearest = {}, .remedy = std::move(remedy)});
}

[[noreturn]] void fail(std::string_view what, int code) {
  fail(fmt::format("gnuplot {}: {}", what, std::generic_category().message(code)));
}

// A stream of the child. Files rather than pipes, so that neither side ever waits for the other.
class ChildStream {
 public:
  ChildStream() : file_(std::tmpfile(), &std::fclose) {
    if (!file_) fail("needs a temporary file, which cannot be made", errno);
  }
  int descriptor() const { return ::fileno(file_.get()); }
  void write(std::string_view text) const {
    const std::size_t written = std::fwrite(text.data(), 1, text.size(), file_.get());
    if (written != text.size() || std::fflush(file_.get()) != 0) {
      fail("needs a temporary file, which cannot be written", errno);
    }
    std::rewind(file_.get());
  }
  std::string read() const {
    std::rewind(file_.get());
    std::string text;
    std::array<char, 4096> block{};
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file_.get())) {
      text.append(block.data(), count);
    }
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

// Starts it and waits; returns what waitpid() says.
int spawn(const ChildStream& in, const ChildStream& out, const ChildStream& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  // The user's own settings must not change a figure.
  std::string name = "gnuplot", option = "--default-settings";
  const std::array<char*, 3> arguments = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) {
    fail("gnuplot, which draws the plots, is not installed",
         "Install it (Debian and Ubuntu: apt-get install gnuplot-nox), or plot the output of --format json.");
  }
  if (failure != 0) fail("cannot be started", failure);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail("cannot be waited for", errno);
  }
  return status;
}

}  // namespace

Terminal terminal_of(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".png") return kPngTerminal;
  if (ending == ".svg") return kSvgTerminal;
  if (ending == ".pdf") return kPdfTerminal;
  if (ending == ".tex") return kTikzTerminal;
  throw Bug(fmt::format("no plot is written to a file that ends in \"{}\"", ending));
}

std::string terminal_lines(Terminal terminal, int width, int height) {
  constexpr double kPixelsPerInch = 200;
  std::string settings;
  if (terminal == kTikzTerminal) {
    settings = fmt::format("size {}in,{}in", width / kPixelsPerInch, height / kPixelsPerInch);
  } else if (terminal == kPdfTerminal) {
    settings = fmt::format("noenhanced size {}in,{}in font 'sans,9' background '#ffffff'",
                           width / kPixelsPerInch, height / kPixelsPerInch);
  } else {
    settings = fmt::format("noenhanced size {},{} font 'sans,20' background '#ffffff'", width, height);
  }
  return fmt::format("set encoding utf8\nset terminal {} {}\n", terminal, settings);
}

std::string gnuplot_string(std::string_view text, Terminal terminal) {
  constexpr std::string_view kHarmless = " .,:;=+-/()%<>";
  std::string result = "\"";
  bool after_number = false;  // gnuplot would count a digit that follows as part of the number
  for (const char letter : terminal == kTikzTerminal ? latex_escaped(text) : one_line(text)) {
    const auto code = static_cast<unsigned char>(letter);
    const bool digit = '0' <= letter && letter <= '9';
    const bool plain = (digit && !after_number) || ('a' <= letter && letter <= 'z') ||
                       ('A' <= letter && letter <= 'Z') || code >= 0x80 ||
                       kHarmless.find(letter) != std::string_view::npos;
    result += plain ? std::string(1, letter) : fmt::format("\\{:03o}", code);
    after_number = !plain;
  }
  return result + "\"";
}

std::string run_gnuplot(std::string_view script) {
  const ChildStream in, out, err;
  in.write(script);
  const int status = spawn(in, out, err);
  std::string picture = out.read();
  if (status != 0 || picture.empty()) {
    fail(fmt::format("gnuplot failed: {}", one_line(err.read())),
         "It must know the terminals pngcairo and svg; `gnuplot --version` should say 5.2 or newer.");
  }
  return picture;
}

}  // namespace fedarena::results
