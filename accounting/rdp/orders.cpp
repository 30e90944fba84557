#include <algorithm>
#include <string>

#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/nearest.hpp"

namespace fedarena {
namespace {

void append_tenths(std::vector<double>& orders) {
  for (int x = 1; x < 100; ++x) orders.push_back(1 + x / 10.0);
}

void append_whole(std::vector<double>& orders, int first, int last, int step = 1) {
  for (int order = first; order <= last; order += step) orders.push_back(order);
}

std::vector<double> opacus_orders() {
  std::vector<double> orders;
  append_tenths(orders);
  append_whole(orders, 12, 63);
  return orders;
}

// Near 1 for large epsilons, where the best order falls to it; up to 16384 for small ones; between the tenths
// up to 5, where a tenth is a large step.
std::vector<double> default_orders() {
  std::vector<double> orders{1.0001, 1.0002, 1.0005, 1.001, 1.002, 1.005};
  for (int x = 1; x < 10; ++x) orders.push_back(1 + x / 100.0);
  append_tenths(orders);
  for (int x = 1; x < 40; ++x) orders.push_back(1 + (2 * x + 1) / 20.0);
  append_whole(orders, 11, 64);
  append_whole(orders, 68, 128, 4);
  append_whole(orders, 144, 256, 16);
  append_whole(orders, 320, 512, 64);
  append_whole(orders, 640, 1024, 128);
  for (const int order : {2048, 4096, 8192, 16384}) orders.push_back(order);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

}  // namespace

std::vector<double> rdp_orders(std::string_view name) {
  if (name == "opacus") return opacus_orders();
  if (name == "default") return default_orders();
  const std::vector<std::string> names{"default", "opacus"};
  throw unknown_name(fmt::format("unknown orders \"{}\"", name), name, names);
}

}  // namespace fedarena
