#include "harness/sdk/plugin_visit.hpp"

#include <cstdlib>
#include <unistd.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

thread_local const std::string* inside = nullptr;

void refuse_exit() {
  if (inside == nullptr) return;
  print(stderr,
        "fedarena: {} ended the program\n"
        "  Throw an exception there instead of calling exit(). All complete rounds of a run are kept: "
        "--resume continues it.\n",
        *inside);
  ::_exit(1);
}

}  // namespace

PluginVisit::PluginVisit(const std::string* where) : outside_(inside) {
  // Nothing is called at _Exit(), which only malice calls.
  static const int registered = std::atexit(refuse_exit) + std::at_quick_exit(refuse_exit);
  FEDARENA_CHECK(registered, ==, 0);
  inside = where;
}

PluginVisit::~PluginVisit() { inside = outside_; }

const std::string* PluginVisit::current() { return inside; }

}  // namespace fedarena
