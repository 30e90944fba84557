#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fedarena::fuzz {

/// A reader of what anybody may have written.
struct Target {
  std::string name;
  /// Reads the bytes and returns, or refuses them with an `Error`. Anything else is a fault, and so are a
  /// crash, ten seconds and 1 GB of memory.
  void (*read)(std::string_view bytes);
  /// Inputs that are read, made by the program's own writers; at least one.
  std::vector<std::string> seeds;
  bool json = false;                    ///< whether nodes of a JSON document are changed, too
  std::vector<std::string> words = {};  ///< what the format is made of, to be put anywhere
};

/// The readers of this program, each named once.
std::vector<Target> targets();

/// All of these, one behind the other.
inline std::vector<Target> joined(const std::vector<std::vector<Target>>& rooms) {
  std::vector<Target> all;
  for (const std::vector<Target>& room : rooms) all.insert(all.end(), room.begin(), room.end());
  return all;
}

/// What came of the bytes is wrong, though nothing crashed.
class Fault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The parts of a text between bars.
inline std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('|', begin);
    parts.emplace_back(text.substr(begin, end - begin));
  }
  return parts;
}

/// Throws a Fault that says `what`, unless it is so.
inline void require(bool so, const std::string& what) {
  if (!so) throw Fault(what);
}

}  // namespace fedarena::fuzz
