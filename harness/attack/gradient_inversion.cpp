// DLG: Zhu, Liu, Han, "Deep leakage from gradients", NeurIPS 2019 (arXiv:1906.08935). iDLG: Zhao, Mopuri,
// Bilen, "iDLG: Improved deep leakage from gradients" (arXiv:2001.02610).
//
// Differs from the papers: double precision; ends early once L-BFGS does not move any more, and returns the
// best point on its way instead of the last; iDLG takes the class with the lowest gradient of the last bias,
// where the paper looks for negative inner products of the last weights' gradients: the same class for
// features above 0, as those of sigmoids are.
#include "harness/attack/gradient_inversion.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/lbfgs.h>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// Squared distance from the shared gradient, in squares of its length, at which no further start is made.
constexpr double kFound = 1e-6;

// Examples that are looked for; `logits` of their soft labels is undefined where the labels are known.
struct Dummy {
  torch::Tensor inputs, logits, labels;

  std::vector<torch::Tensor> variables() const {
    return logits.defined() ? std::vector{inputs, logits} : std::vector{inputs};
  }
  // [n, classes], each row summing to 1
  torch::Tensor targets(std::int64_t classes) const {
    return logits.defined() ? torch::softmax(logits, 1) : torch::one_hot(labels, classes).to(inputs.dtype());
  }
};

// Squared distance of the dummy's gradient from the shared one, differentiable in the dummy.
torch::Tensor distance_of(const Dummy& dummy, const SharedGradient& shared) {
  const Model& model = shared.model;
  const Batch batch{dummy.inputs, dummy.targets(model.num_classes())};
  const Params gradient = model.gradient(shared.at, batch, Graph::kKeep);
  return (gradient.flat() - shared.gradient.flat()).square().sum();
}

Dummy first_dummy(const SharedGradient& shared, Inversion method, Stream& stream) {
  const auto draw = [&](const std::vector<std::int64_t>& shape) {
    return normal(stream, shape).to(shared.model.options()).requires_grad_();
  };
  Dummy dummy{.inputs = draw(shared.model.input_shape(shared.examples)), .logits = {}, .labels = {}};
  if (method == Inversion::kDlg) {
    dummy.logits = draw({shared.examples, shared.model.num_classes()});
  } else {
    dummy.labels = torch::full({1}, label_of(shared.model, shared.gradient),
                               shared.model.options().dtype(torch::kInt64));
  }
  return dummy;
}

// From one start; keeps what is nearer than `best`, or the start itself where there is nothing yet.
void descend(const SharedGradient& shared, const Dummy& dummy, std::int64_t iterations,
             const std::atomic<bool>& stop, Reconstruction& best) {
  const std::vector<torch::Tensor> variables = dummy.variables();
  const auto keep = [&](double value) {
    best.distance = value;
    best.inputs = dummy.inputs.detach().clone();
    best.labels = dummy.targets(shared.model.num_classes()).argmax(1);
  };
  if (!best.inputs.defined()) keep(best.distance);
  double last = std::numeric_limits<double>::infinity();
  const auto evaluate = [&] {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
    const torch::Tensor value = distance_of(dummy, shared);
    const std::vector<torch::Tensor> slopes = torch::autograd::grad({value}, variables);
    for (std::size_t i = 0; i < variables.size(); ++i) variables[i].mutable_grad() = slopes[i];
    last = value.item<double>();
    if (last < best.distance && dummy.inputs.isfinite().all().item<bool>()) keep(last);
    return value.detach();
  };
  torch::optim::LBFGS optimiser(variables);
  for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
    const double before = last;
    optimiser.step(evaluate);
    ++best.iterations;
    if (!std::isfinite(last) || last == before) break;
  }
}

}  // namespace

std::int64_t label_of(const Model& model, const Params& gradient) {
  const torch::Tensor bias = gradient[gradient.size() - 1];
  if (bias.dim() != 1 || bias.size(0) != model.num_classes()) {
    throw Error(Complaint{.found = "idlg reads labels off the last bias, which the model does not have",
                          .remedy = "use dlg, or a model that ends in an affine map"});
  }
  return bias.argmin().item<std::int64_t>();
}

Reconstruction invert(const SharedGradient& shared, Inversion method, const InversionEffort& effort,
                      Stream stream, const std::atomic<bool>& stop) {
  if (method == Inversion::kIdlg && shared.examples != 1) {
    throw Error(Complaint{
        .found =
            fmt::format("idlg finds the label of one example, but the gradient is of {}", shared.examples),
        .remedy = "use dlg, or a batch of one example"});
  }
  const torch::AutoGradMode enabled(true);
  const double found = kFound * dot(shared.gradient, shared.gradient);
  Reconstruction best;
  for (std::int64_t start = 0; start < effort.starts && !(best.distance <= found); ++start) {
    descend(shared, first_dummy(shared, method, stream), effort.iterations, stop, best);
  }
  return best;
}

}  // namespace fedarena
