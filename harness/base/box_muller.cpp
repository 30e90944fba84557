#include "fedarena/base/box_muller.hpp"

#include "fedarena/base/normal_pair.hpp"
#include "fedarena/base/run_vectorised.hpp"

namespace fedarena {

void box_muller(const std::uint64_t* words, std::size_t pairs, double* normals) {
  run_vectorised([=] {
    for (std::size_t i = 0; i < pairs; ++i)
      normal_pair::make(words[2 * i], words[2 * i + 1], normals + 2 * i);
  });
}

}  // namespace fedarena
