// Epsilon of DP-SGD with 200 steps at a sampling rate of 0.0256, by both accountants.
#include <fedarena/accounting/pld.hpp>
#include <fedarena/accounting/rdp.hpp>

int main() {
  const fedarena::SampledGaussian event{.rate = 0.0256, .noise_multipliers = {1.0}};
  fedarena::RdpAccountant accountant(fedarena::rdp_orders("opacus"));
  accountant.add(event, 200);
  const fedarena::Access access{event, 200};
  fmt::print("rdp {:.4f}\n", accountant.epsilon(1e-5).epsilon);
  fmt::print("pld {:.4f}\n", fedarena::pld_epsilon({&access, 1}, 1e-5).upper);
}
