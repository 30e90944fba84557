#include <algorithm>
#include <atomic>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <langinfo.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "harness/app/stop_on_signal.hpp"
#include "harness/slurm/submission.hpp"
#include "results/live/live_runs.hpp"
#include "results/live/live_text.hpp"
#include "results/record/find_runs.hpp"

namespace fedarena {
namespace {

namespace fs = std::filesystem;

struct WatchArguments {
  std::vector<fs::path> folders = {"runs"};
  bool once = false;
};

// Of the user's locale; the program itself stays in "C", whose numbers have points.
results::Letters letters_of_locale() {
  const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return results::Letters::kAscii;
  const bool unicode = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
  freelocale(locale);
  return unicode ? results::Letters::kUnicode : results::Letters::kAscii;
}

results::Screen screen_of(std::FILE* terminal) {
  results::Screen screen{.letters = letters_of_locale()};
  winsize size{};
  if (ioctl(fileno(terminal), TIOCGWINSZ, &size) != 0) return screen;
  if (size.ws_col > 0) screen.columns = size.ws_col;
  if (size.ws_row > 1) screen.rows = size.ws_row - 1U;  // the last one is the cursor's
  return screen;
}

std::string frame(const std::vector<results::LiveCell>& cells, const WatchArguments& arguments,
                  const results::Screen& screen) {
  if (!cells.empty()) return results::live_text(cells, screen);
  return fmt::format(
      "no run yet in {}\n",
      fmt::join(names_of(arguments.folders, [](const fs::path& folder) { return folder.string(); }), ", "));
}

// Runs, and what Slurm does with them.
class Watch {
 public:
  explicit Watch(const std::vector<fs::path>& folders) : folders_(folders), runs_(folders) {}

  std::vector<results::LiveCell> look() {
    // All watchers of a cluster ask one controller. Where it does not answer, its last word counts.
    constexpr std::chrono::seconds kBetweenQuestions{10};
    const auto now = std::chrono::steady_clock::now();
    if (!asked_ || now - *asked_ >= kBetweenQuestions) {
      if (auto tasks = slurm::cell_tasks(folders_)) tasks_ = std::move(*tasks);
      asked_ = std::chrono::steady_clock::now();
    }
    auto cells = runs_.look(results::FolderLocks::read(), fs::file_time_type::clock::now());
    if (!tasks_.empty()) add_tasks(cells, tasks_);
    return cells;
  }
  bool any_process_left() const { return runs_.any_process_left(); }

 private:
  const std::vector<fs::path>& folders_;
  results::LiveRuns runs_;
  std::vector<slurm::CellTask> tasks_;
  std::optional<std::chrono::steady_clock::time_point> asked_;
};

int print_once(const WatchArguments& arguments) {
  const std::vector<results::LiveCell> cells = Watch(arguments.folders).look();
  if (cells.empty()) results::find_runs(arguments.folders);  // says where no run is
  print("{}", frame(cells, arguments, {.letters = letters_of_locale()}));
  return kSuccess;
}

// A terminal's second screen, which leaves the first one as it was.
class SecondScreen {
 public:
  SecondScreen() { fmt::print("\033[?1049h\033[?25l"); }  // without a cursor
  ~SecondScreen() {
    fmt::print("\033[?25h\033[?1049l");
    std::fflush(stdout);
  }
  SecondScreen(const SecondScreen&) = delete;
  SecondScreen& operator=(const SecondScreen&) = delete;

  // Overwrites what is there, so that nothing flickers.
  static void draw(const std::string& text) {
    std::string lines;
    for (const char letter : printable(text)) {
      if (letter == '\n') lines += "\033[K";
      lines += letter;
    }
    fmt::print("\033[H{}\033[J", lines);
    std::fflush(stdout);
  }
};

bool is_over(const std::vector<results::LiveCell>& cells) {
  return !cells.empty() && std::ranges::all_of(cells, [](const results::LiveCell& cell) {
    return cell.work == results::Work::kFinished || cell.work == results::Work::kFailed ||
           cell.work == results::Work::kBroken;
  });
}

int redraw_until_over(const WatchArguments& arguments) {
  constexpr int kMilliseconds = 1000;
  Watch watch(arguments.folders);
  const std::atomic<bool>& stop = stop_on_signal();
  std::vector<results::LiveCell> cells;
  bool over = false;
  {
    const SecondScreen screen;
    while (!stop && !over) {
      cells = watch.look();
      SecondScreen::draw(frame(cells, arguments, screen_of(stdout)));
      over = is_over(cells) && !watch.any_process_left();
      if (!over) ::poll(nullptr, 0, kMilliseconds);  // a signal ends it
    }
  }
  // What the terminal scrolls needs no limit.
  print("{}",
        frame(cells, arguments, {.columns = screen_of(stdout).columns, .letters = letters_of_locale()}));
  return over ? kSuccess : kInterrupted;
}

int run_watch(const WatchArguments& arguments) {
  const bool redraws = !arguments.once && isatty(fileno(stdout)) != 0;
  return redraws ? redraw_until_over(arguments) : print_once(arguments);
}

}  // namespace

void add_watch_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_watch, "watch",
                  "Show running, interrupted and finished runs, again and again until all are finished.");
  command.add_option("DIR", arguments.folders, "folders with run directories; default runs");
  command.add_flag("--once", arguments.once, "print once and end, as it does where there is no terminal");
}

}  // namespace fedarena
