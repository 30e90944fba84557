// What reaches a command: its words, a run directory that somebody sent, a bundle, a plugin's file. Whatever
// it is, the program ends with 0 or 2, and 2 comes with one message.
#include <algorithm>
#include <array>
#include <cstdio>
#include <elf.h>
#include <link.h>
#include <sstream>
#include <unistd.h>

#include "harness/app/command_line.hpp"
#include "harness/loader/elf_section.hpp"
#include "results/bundle/bundle.hpp"
#include "tests/fuzz/driver/memory_file.hpp"
#include "tests/fuzz/text/text_targets.hpp"
#include "tests/results/record/partition_sample.hpp"
#include "tests/results/recorded_run.hpp"

namespace fedarena::fuzz {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Sends a stream of the program to a file in memory while it lives.
class Captured {
 public:
  explicit Captured(std::FILE* stream) : stream_(stream), before_(::dup(::fileno(stream))) {
    std::fflush(stream_);
    ::dup2(file_.descriptor(), ::fileno(stream_));
  }
  ~Captured() {
    std::fflush(stream_);
    ::dup2(before_, ::fileno(stream_));
    ::close(before_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const {
    std::fflush(stream_);
    return file_.content();
  }

 private:
  MemoryFile file_;
  std::FILE* stream_;
  int before_;
};

struct Outcome {
  int code = 0;
  std::string out, err;
};

// All but watch, which ends only when somebody ends it.
Outcome run(const Words& words) {
  constexpr std::array<AddCommand, 12> kCommands = {
      add_table_command,  add_compare_command, add_list_command,    add_verify_command,
      add_plot_command,   add_images_command,  add_export_command,  add_report_command,
      add_bundle_command, add_privacy_command, add_epsilon_command, add_noise_command};
  std::vector<const char*> arguments = {"fedarena"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const Captured out(stdout), err(stderr);
  const int code = run_command_line(static_cast<int>(arguments.size()), arguments.data(), kCommands, "0");
  return {code, out.text(), err.text()};
}

std::string in_words(const Words& words, const Outcome& outcome) {
  return fmt::format("{}\nended with {}; stdout: {}\nstderr: {}", testing::PrintToString(words), outcome.code,
                     outcome.out, outcome.err);
}

// A message, perhaps with a remedy in an indented line below it.
bool is_one_message(const std::string& text) {
  if (!text.starts_with("fedarena: ") || text.back() != '\n') return false;
  const std::size_t end = text.find('\n');
  return end + 1 == text.size() ||
         (text.compare(end + 1, 2, "  ") == 0 && text.find('\n', end + 1) + 1 == text.size());
}

// A byte of an input is one of these words.
const Words& vocabulary() {
  static const Words kWords = [] {
    Words words = split(
        "epsilon|noise|privacy|verify|images|plot|export|report|bundle|table|compare|list|bogus|"
        "--noise-multiplier|--sampling-rate|--steps|--epochs|--batch-size|--examples|--delta|--accountant|"
        "--orders|--conversion|--assume|--format|--sampling|--adjacency|--mechanism|--mechanism-epsilon|"
        "--dimension|--categories|--and|--ledger|--client|--at-epsilon|--lower|--epsilon|--solve|--round|"
        "--output|--histogram|--scale|--labels|--metric|--across|--interval|--references|--columns|--rows|"
        "--pivot|--measures|--x|--y|-o|--help|--version|--bogus|--delat|-x|--|-|0|1|-1|2|0.5|0.01|0.0256|1e-"
        "5|"
        "1e-9|1e-12|1e-300|1e-400|5e-324|1e308|1e400|nan|inf|-inf|infinity|0x1p-3|1e3|20|1000|1000000000|"
        "1e12|"
        "1e13|9223372036854775808|abc| | 1|1,5|0,1|1e|e|.|+1|1.0.0|true|poisson|without-replacement|"
        "replace-one|add-remove|gaussian|laplace|randomized-response|rdp|pld|opacus|default|classic|balle|"
        "json|"
        "text|steps|sampling-rate|noise-multiplier|delta|noise-multiplier=1,steps=2|"
        "mechanism=laplace,mechanism-epsilon=0.1,steps=3|steps=|=|,|steps=1,steps=2|nowhere|/dev/"
        "null|\xff\xfe|"
        "a\nb|a\tb|%s%n|{}|{0}|\"|'|");
    words.emplace_back(5'000, '9');
    return words;
  }();
  return kWords;
}

// Joins the next word to the last one by "=".
constexpr unsigned char kJoin = 0xff;

Words words_of(std::string_view bytes) {
  constexpr std::size_t kMost = 24;
  Words words;
  bool join = false;
  for (const char byte : bytes.substr(0, kMost)) {
    const auto number = static_cast<unsigned char>(byte);
    if (number == kJoin) {
      join = !words.empty();
      continue;
    }
    const std::string& word = vocabulary()[number % vocabulary().size()];
    if (join)
      words.back() += "=" + word;
    else
      words.push_back(word);
    join = false;
  }
  return words;
}

std::string bytes_of(std::string_view words) {
  std::string bytes;
  for (const std::string& word : split(words)) {
    const auto found = std::ranges::find(vocabulary(), word);
    require(found != vocabulary().end(), "no such word: " + word);
    bytes += static_cast<char>(found - vocabulary().begin());
  }
  return bytes;
}

void read_command_line(std::string_view bytes) {
  const Words words = words_of(bytes);
  const Outcome outcome = run(words);
  const bool refused = outcome.code == kUserError && is_one_message(outcome.err) && outcome.out.empty();
  const bool done =
      outcome.code == kSuccess && !outcome.out.empty() && outcome.out.find("nan") == std::string::npos;
  require(refused || done, in_words(words, outcome));
  if (refused) throw Error(Complaint{.found = outcome.err});
}

void run_on_files(const Words& words) {
  const Outcome outcome = run(words);
  if (outcome.code == kUserError) throw Error(Complaint{.found = outcome.err});
  require(outcome.code == kSuccess, in_words(words, outcome));
}

// The files of a run directory in one text, each below a line with its name; the first line is the command.
constexpr std::string_view kHead = "\n==> ";

std::string packed(const fs::path& folder) {
  std::string text;
  for (const std::string& name : results::record_files(folder))
    text += fmt::format("{}{}\n{}", kHead, name, test::content_of(folder / name));
  return text;
}

// Into a folder that is there; names that would lie outside of it are passed over.
void unpack(std::string_view text, const fs::path& folder) {
  for (std::size_t at = text.find(kHead); at != std::string_view::npos;) {
    text.remove_prefix(at + kHead.size());
    const std::size_t end = std::min(text.find('\n'), text.size());
    at = text.find(kHead, end);
    const std::string name(text.substr(0, end));
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./") != std::string::npos ||
        name.find("..") != std::string::npos || name.empty() || name.front() == '/')
      continue;
    std::error_code failure;
    fs::create_directories((folder / name).parent_path(), failure);
    std::ofstream(folder / name, std::ios::binary)
        << text.substr(std::min(end + 1, text.size()), at == std::string_view::npos ? at : at - end - 1);
  }
}

// A sound run beside the one that is read.
void read_run(std::string_view bytes) {
  const results::Scratch scratch;
  static const std::string kSound = [] {
    const results::Scratch folder;
    const results::RecordedRun run(folder / "sound", {.label = "sound"});
    results::record_partition(run.open(), results::three_clients());
    return packed(run.path());
  }();
  unpack(kSound, scratch / "runs/sound");
  unpack(bytes, scratch / "runs/other");
  const std::string runs = (scratch / "runs").string(), other = (scratch / "runs/other").string();
  const std::string output = (scratch / "output").string();
  const std::vector<Words> commands = {
      {"table", runs},
      {"table", runs, "--format", "json", "--metric", "loss@best-validation"},
      {"list", runs},
      {"compare", runs},
      {"verify", runs},
      {"privacy", other},
      {"report", runs, "-o", output + ".html"},
      {"export", runs, "--format", "csv", "-o", output + ".csv"},
      {"export", runs, "--format", "tensorboard", "-o", output},
      {"images", other, "-o", output + ".png"},
      {"bundle", runs, "-o", output + ".fedarena.tar.gz"}};
  const std::string_view name = bytes.substr(0, bytes.find('\n'));
  for (const Words& command : commands) {
    if (command.front() == name) run_on_files(command);
  }
}

std::vector<std::string> run_seeds() {
  const results::Scratch scratch;
  const results::RecordedRun run(scratch / "run", {});
  std::vector<std::string> seeds;
  const results::RunDirectory directory = run.open();
  directory.synthetic().write(
      4, {{{2, 1, 2, 2}, std::vector<float>(8, 0.5F)}, {{2}, std::vector<std::int64_t>{0, 1}}});
  results::record_partition(directory, results::three_clients());
  directory.write_client_scores({4, {{0, 12, 0.75, 0.5}, {2, 7, 1, 0.875}}});
  for (const char* name : {"table", "list", "compare", "privacy", "report", "export", "images"})
    seeds.push_back(name + packed(run.path()));
  return seeds;
}

void read_bundle(std::string_view bytes) {
  const results::Scratch scratch;
  const MemoryFile file(bytes);
  results::unpack_bundle(file.path(), scratch / "runs");
}

std::vector<std::string> bundle_seeds() {
  const results::Scratch scratch;
  const results::RecordedRun run(scratch / "runs/a", {});
  const std::vector<fs::path> folders = {scratch / "runs"};
  const std::vector<results::FoundRun> runs = results::find_runs(folders);
  results::write_bundle(runs, results::run_names(runs, folders), scratch / "a.tar.gz");
  return {test::content_of(scratch / "a.tar.gz")};
}

void read_plugin(std::string_view bytes) {
  std::istringstream file{std::string(bytes)};
  elf_section(file, "fedarena_plugin");
}

template <typename Value>
std::string_view raw(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// The least that is a shared library with a description: header, one segment, three sections.
std::string plugin() {
  const std::string names = std::string("\0.shstrtab\0fedarena_plugin\0", 27), content(64, 'x');
  ElfW(Ehdr) header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = 1;
  header.e_shoff = sizeof(header) + sizeof(ElfW(Phdr));
  header.e_shentsize = sizeof(ElfW(Shdr));
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  const std::size_t begin = header.e_shoff + 3 * sizeof(ElfW(Shdr));
  ElfW(Phdr) segment{};
  segment.p_type = PT_LOAD;
  segment.p_filesz = begin;
  std::array<ElfW(Shdr), 3> sections{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = begin;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = begin + names.size();
  sections[2].sh_size = content.size();
  return std::string(raw(header)) + std::string(raw(segment)) + std::string(raw(sections)) + names + content;
}

}  // namespace

std::vector<Target> command_targets() {
  return {
      {.name = "command_line",
       .read = read_command_line,
       .seeds =
           {bytes_of(
                "epsilon|--noise-multiplier|1|--sampling-rate|0.01|--steps|20|--delta|1e-5|--accountant|rdp"),
            bytes_of(
                "epsilon|--noise-multiplier|1|--sampling-rate|0.5|--steps|20|--delta|1e-5|--format|json"),
            bytes_of("epsilon|--noise-multiplier|2|--steps|20|--delta|1e-5|--accountant|gaussian"),
            bytes_of("noise|--epsilon|2|--delta|1e-5|--sampling-rate|0.0256|--steps|1000|--accountant|rdp"),
            bytes_of(
                "noise|--accountant|gaussian|--epsilon|2|--delta|1e-5|--solve|noise-multiplier|--steps|20"),
            bytes_of("table|--help"), bytes_of("list|--help")}},
      {.name = "run",
       .read = read_run,
       .seeds = run_seeds(),
       .words = {"\n==> summary.json\n", "\n==> rounds.jsonl\n", "\n==> ledger.json\n",
                 "\n==> partition.json\n", "\n==> clients.json\n", "\n==> attack.json\n",
                 "\n==> experiment.toml\n", "\n==> environment.json\n", "\"nan\"", "\"inf\"", "table\n",
                 "report\n", "verify\n", "compare\n"}},
      {.name = "bundle", .read = read_bundle, .seeds = bundle_seeds()},
      {.name = "plugin", .read = read_plugin, .seeds = {plugin()}}};
}

}  // namespace fedarena::fuzz
