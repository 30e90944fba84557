#include "results/privacy_claim.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace fedarena::results {
namespace {

// Ranks above every finite epsilon and below infinity, which is the worst whatever the other may be.
double badness(const Claim& claim) { return claim.epsilon.value_or(std::numeric_limits<double>::max()); }

std::optional<Claim> worse_of(const std::optional<Claim>& left, const std::optional<Claim>& right) {
  if (!left || !right) return left ? left : right;
  return results::worse(*left, *right);
}

}  // namespace

bool is_finite(const std::optional<Claim>& claim) {
  return claim && claim->epsilon && std::isfinite(*claim->epsilon);
}

const Claim& worse(const Claim& left, const Claim& right) {
  return badness(right) > badness(left) ? right : left;
}

PrivacyClaim joint(const PrivacyClaim& left, const PrivacyClaim& right) {
  PrivacyClaim claim = left;
  claim.assumed = left.assumed || right.assumed;
  claim.rdp = worse_of(left.rdp, right.rdp);
  if (claim.rdp != left.rdp) claim.order = right.order;
  claim.pld = worse_of(left.pld, right.pld);
  claim.as_if_rdp = worse_of(left.as_if_rdp, right.as_if_rdp);
  claim.as_if_pld = worse_of(left.as_if_pld, right.as_if_pld);
  if (claim.exact_access.empty()) claim.exact_access = right.exact_access;
  if (claim.stopped.empty()) claim.stopped = right.stopped;
  return claim;
}

}  // namespace fedarena::results
