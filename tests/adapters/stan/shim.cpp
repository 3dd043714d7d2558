// A few C functions around a Stan model, for tests: what BridgeStan has, as far as zhat uses it.
// Compiled together with the code that stanc writes for a program; see compiled.py beside this file.
#include <cmath>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include <stan/io/json/json_data.hpp>
#include <stan/math.hpp>
#include <stan/model/model_base.hpp>
#include <stan/services/util/create_rng.hpp>

stan::model::model_base& new_model(stan::io::var_context& data, unsigned int seed, std::ostream* out);

namespace {
std::string last_error;

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

template <typename F>
int guarded(F f) {
  try {
    f();
    return 0;
  } catch (const std::exception& e) {
    last_error = e.what();
    return 1;
  }
}
}  // namespace

extern "C" {

const char* shim_error() { return last_error.c_str(); }

void* shim_new(const char* json) {
  try {
    std::istringstream text(json);
    stan::json::json_data data(text);
    return &new_model(data, 1, nullptr);
  } catch (const std::exception& e) {
    last_error = e.what();
    return nullptr;
  }
}

int shim_n_free(void* p) { return static_cast<stan::model::model_base*>(p)->num_params_r(); }

void shim_names(void* p, int free, char* out, int size) {
  std::vector<std::string> names;
  auto* model = static_cast<stan::model::model_base*>(p);
  if (free)
    model->unconstrained_param_names(names, false, false);
  else
    model->constrained_param_names(names, false, false);
  std::strncpy(out, joined(names).c_str(), size - 1);
}

// All constants are kept: the functions without "propto" in their names.
int shim_log_density(void* p, const double* u, int jacobian, double* out) {
  return guarded([&] {
    auto* model = static_cast<stan::model::model_base*>(p);
    Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(u, model->num_params_r());
    *out = jacobian ? model->log_prob_jacobian(x, nullptr) : model->log_prob(x, nullptr);
  });
}

int shim_constrain(void* p, const double* u, double* out) {
  return guarded([&] {
    auto* model = static_cast<stan::model::model_base*>(p);
    Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(u, model->num_params_r()), y;
    auto rng = stan::services::util::create_rng(1, 1);
    model->write_array(rng, x, y, false, false, nullptr);
    for (int i = 0; i < y.size(); i++) out[i] = y[i];
  });
}

int shim_unconstrain(void* p, const double* parameters, int n, double* out) {
  return guarded([&] {
    auto* model = static_cast<stan::model::model_base*>(p);
    Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(parameters, n), y;
    model->unconstrain_array(x, y, nullptr);
    for (int i = 0; i < y.size(); i++) out[i] = y[i];
  });
}
}
