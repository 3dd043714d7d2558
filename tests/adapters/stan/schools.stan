data {
  int<lower=0> n;
  vector[n] y;
  vector<lower=0>[n] se;
  int<lower=0, upper=1> prior_only;
  int<lower=0, upper=1> truncation;  // whether the half-Cauchy prior gets its factor of two
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[n] z;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  if (truncation) target += log2();
  z ~ normal(0, 1);
  if (!prior_only) y ~ normal(mu + tau * z, se);
}
