#include "fedarena/algorithm.hpp"

namespace fedarena {

std::vector<UplinkEntry> undeclared(const std::string& what, const std::string& remedy) {
  throw Error(Complaint{
      .found = "clients send " + what + ", which nothing hides under the policy \"local\"",
      .allowed = "parameters and numbers of examples",
      .remedy = remedy.empty()
                    ? "Choose the policy \"record\" or \"none\", or an algorithm that sends parameters alone"
                    : remedy});
}

}  // namespace fedarena
