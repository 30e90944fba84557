#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <torch/types.h>

#include "fedarena/accounting/ledger.hpp"
#include "fedarena/algorithm.hpp"
#include "fedarena/message.hpp"
#include "fedarena/params.hpp"
#include "fedarena/random.hpp"

#include "harness/oracle/declared_uplink.hpp"
#include "harness/oracle/policies.hpp"

namespace fedarena {

/// Around what messages are clipped: public points, the same for all clients of a round.
class Centres {
 public:
  /// The origin.
  Centres() = default;
  /// What Algorithm::centres() says, cut into tensors where these are clipped one by one. Points that are not
  /// all finite numbers count as the origin. Error for one that is not of the layout and type of `params`.
  Centres(const std::vector<Params>& points, const Params& params, bool by_tensor);

  /// How far the nearest centres of two clients may lie apart: the largest distance between two of them, of
  /// one part.
  double spread(std::size_t part) const { return spreads_.empty() ? 0 : spreads_[part]; }
  /// Whether spreads may differ from round to round; in all rounds alike (Algorithm::number_of_centres).
  bool vary() const { return !spreads_.empty() && parts_.front().size() > 1; }
  /// The centre nearest to `vector`, an undefined tensor for the origin; of those equally near the first.
  torch::Tensor nearest(const torch::Tensor& vector, std::size_t part) const;

 private:
  std::vector<std::vector<torch::Tensor>> parts_;  // [part][centre], flat
  std::vector<double> spreads_;
};

/// Clips and noises what a client is to send under the policy "local", and writes the release into the book.
/// All parameter vectors of the message are one vector: each is taken from the centre that is nearest to it,
/// and what is left is clipped to the norm C. Any two messages then lie at most 2 C and the spread of the
/// centres apart, whatever data they came from (one client's data exchanged for another's, replace-one). By
/// tensor, each is clipped to C and noised by itself, a release for each. A message with parts that are not
/// finite numbers becomes noise alone.
///
/// Names, kinds and order of entries have no place in that vector, nor has any number or tensor. So an Error
/// that names the first entry at fault refuses a message that is not exactly as declared, before anything is
/// drawn. `streams`: the client's in this round. Where centres do not vary, the book says that a plan had it.
void randomise(Message& message, const DeclaredUplink& declared, const LocalPolicy& policy,
               const Centres& centres, const Streams& streams, RoundAccesses& book);

/// What randomise() writes into the book of a message of those entries, whatever is in it. `params`: of the
/// layout of its parameter vectors.
RoundAccesses charges_of(const std::vector<UplinkEntry>& entries, const Params& params,
                         const LocalPolicy& policy, const Centres& centres);

}  // namespace fedarena
