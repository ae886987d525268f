// The C interface of BridgeStan, as far as the tests ask for it, over the headers of Stan: BridgeStan's own
// sources are on no package index. MODEL is the file that stanc wrote.
#include <stan/model/model_base.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/services/util/create_rng.hpp>
#include MODEL

#include <cstring>
#include <sstream>
#include <string>

using rng_type = decltype(stan::services::util::create_rng(0, 0));

struct bs_model {
    stan::model::model_base *stan;
    std::string name, names[4], unconstrained;
};

static std::string joined(const std::vector<std::string> &all) {
    std::string text;
    for (auto &one : all) text += (text.empty() ? "" : ",") + one;
    return text;
}

template <class F> static int caught(char **error, F work) {
    try {
        work();
        return 0;
    } catch (const std::exception &e) {
        if (error) *error = strdup(e.what());
        return -1;
    }
}

extern "C" {
extern int bs_major_version, bs_minor_version, bs_patch_version;
int bs_major_version = 2, bs_minor_version = 9, bs_patch_version = 0;

void *bs_model_construct(const char *data, unsigned seed, char **error) {
    bs_model *made = nullptr;
    caught(error, [&] {
        std::istringstream text(data && *data ? data : "{}");
        stan::json::json_data context(text);
        made = new bs_model{&new_model(context, seed, nullptr)};
        made->name = made->stan->model_name();
        for (int k = 0; k < 4; k++) {
            std::vector<std::string> names;
            made->stan->constrained_param_names(names, k & 1, k & 2);
            made->names[k] = joined(names);
        }
        std::vector<std::string> names;
        made->stan->unconstrained_param_names(names, false, false);
        made->unconstrained = joined(names);
    });
    return made;
}
void bs_model_destruct(bs_model *m) { delete m->stan; delete m; }
void bs_free_error_msg(char *message) { free(message); }
int bs_set_print_callback(void *, char **) { return 0; }
const char *bs_name(const bs_model *m) { return m->name.c_str(); }
const char *bs_model_info(const bs_model *) { return "STAN_THREADS=false"; }
const char *bs_param_names(const bs_model *m, bool tp, bool gq) { return m->names[tp + 2 * gq].c_str(); }
const char *bs_param_unc_names(const bs_model *m) { return m->unconstrained.c_str(); }
int bs_param_unc_num(const bs_model *m) { return m->stan->num_params_r(); }
int bs_param_num(const bs_model *m, bool tp, bool gq) {
    std::vector<std::string> names;
    m->stan->constrained_param_names(names, tp, gq);
    return names.size();
}
void *bs_rng_construct(unsigned seed, char **) { return new rng_type(stan::services::util::create_rng(seed, 0)); }
void bs_rng_destruct(rng_type *rng) { delete rng; }

int bs_param_constrain(
    const bs_model *m, bool tp, bool gq, const double *x, double *out, rng_type *rng, char **error) {
    return caught(error, [&] {
        rng_type own = stan::services::util::create_rng(1, 0);
        Eigen::VectorXd point = Eigen::Map<const Eigen::VectorXd>(x, bs_param_unc_num(m)), values;
        m->stan->write_array(rng ? *rng : own, point, values, tp, gq, nullptr);
        Eigen::VectorXd::Map(out, values.size()) = values;
    });
}
int bs_param_unconstrain(const bs_model *m, const double *values, double *out, char **error) {
    return caught(error, [&] {
        Eigen::VectorXd given = Eigen::Map<const Eigen::VectorXd>(values, bs_param_num(m, false, false)), point;
        m->stan->unconstrain_array(given, point, nullptr);
        Eigen::VectorXd::Map(out, point.size()) = point;
    });
}
int bs_log_density(const bs_model *m, bool, bool jacobian, const double *x, double *value, char **error) {
    return caught(error, [&] {
        Eigen::VectorXd point = Eigen::Map<const Eigen::VectorXd>(x, bs_param_unc_num(m));
        *value = jacobian ? m->stan->log_prob_jacobian(point, nullptr) : m->stan->log_prob(point, nullptr);
    });
}
int bs_param_unconstrain_json(const bs_model *, const char *, double *, char **) { return -1; }
int bs_param_initialize(const bs_model *, const char *, double, void *, double *, char **) { return -1; }
int bs_log_density_gradient(const bs_model *, bool, bool, const double *, double *, double *, char **) { return -1; }
int bs_log_density_hessian(const bs_model *, bool, bool, const double *, double *, double *, double *, char **) {
    return -1;
}
int bs_log_density_hessian_vector_product(
    const bs_model *, bool, bool, const double *, const double *, double *, double *, char **) {
    return -1;
}
}
