#include "results/record/privacy_claim.hpp"

#include <cmath>
#include <utility>

namespace fedarena::results {
namespace {

std::optional<Claim> worse_of(const std::optional<Claim>& left, const std::optional<Claim>& right) {
  if (!left || !right) return left ? left : right;
  return worse(*left, *right);
}

}  // namespace

bool is_finite(const std::optional<Claim>& claim) {
  return claim && claim->epsilon && std::isfinite(*claim->epsilon);
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
  if (claim.declared_public.empty()) claim.declared_public = right.declared_public;
  if (claim.stopped.empty()) claim.stopped = right.stopped;
  return claim;
}

}  // namespace fedarena::results
