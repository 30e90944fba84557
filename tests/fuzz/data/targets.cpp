#include <iterator>

#include "tests/fuzz/data/data_targets.hpp"

namespace fedarena::fuzz {

std::vector<Target> targets() {
  std::vector<Target> all = own_targets();
  for (std::vector<Target> more : {published_targets(), message_targets()})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace fedarena::fuzz
