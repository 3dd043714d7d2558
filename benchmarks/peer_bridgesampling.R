# Bridge sampling of one set of draws: log Z, its relative error, evaluations, CPU seconds of the call and of this process.
suppressMessages(library(bridgesampling))
args <- commandArgs(trailingOnly = TRUE)
dir <- args[1]; problem <- args[2]; d <- as.integer(args[5]); bounds <- as.numeric(args[-(1:5)])
array_of <- function(name) unname(as.matrix(read.csv(file.path(dir, paste0(name, ".csv")), header = FALSE)))

likelihoods <- list(
  "pima-2" = function() { signed <- array_of("signed"); function(u) { e <- drop(signed %*% u); -sum(log1p(exp(-abs(e))) + pmax(e, 0)) } },
  "eight-schools" = function() {
    y <- drop(array_of("y")); sigma <- drop(array_of("sigma"))
    function(u) sum(dnorm(y, u[1] + exp(u[2]) * u[3:10], sigma, log = TRUE))
  },
  "gaussian" = function() {
    observed <- drop(array_of("observed")); precision <- array_of("precision"); constant <- drop(array_of("constant"))
    function(u) { r <- observed - u; constant - 0.5 * sum(r * (precision %*% r)) }
  },
  "shells-10" = function() function(u) {
    rest <- sum(u[-1]^2)
    shell <- function(centre) -log(0.1) - 0.5 * log(2 * pi) - 50 * (sqrt((u[1] - centre)^2 + rest) - 2)^2
    both <- c(shell(-3.5), shell(3.5)); max(both) + log(sum(exp(both - max(both))))
  },
  "eggbox" = function() function(u) (2 + prod(cos(0.5 * u)))^5,
  "rosenbrock-4" = function() function(u) -sum(100 * (u[-1] - u[-d]^2)^2 + (1 - u[-d])^2)
)
priors <- list(
  "pima-2" = function(u) sum(dnorm(u, 0, 10, log = TRUE)),
  "eight-schools" = function(u) dnorm(u[1], 0, 5, log = TRUE) + log(2) + dcauchy(exp(u[2]), 0, 5, log = TRUE) + u[2] +
    sum(dnorm(u[3:10], log = TRUE)),
  "gaussian" = function(u) sum(dnorm(u, 0, 3, log = TRUE))
)
kind <- sub("^gaussian-.*", "gaussian", problem)
log_likelihood <- likelihoods[[kind]]()
log_prior <- if (length(bounds)) function(u) -d * log(bounds[2] - bounds[1]) else priors[[kind]]
evaluations <- 0
log_posterior <- function(u, data) { evaluations <<- evaluations + 1; log_likelihood(u) + log_prior(u) }

draws <- matrix(readBin(file.path(dir, "draws.bin"), "double", 4000 * d), ncol = d, byrow = TRUE)
colnames(draws) <- paste0("u", 1:d)
chains <- coda::mcmc.list(lapply(0:3, function(k) coda::mcmc(draws[1000 * k + 1:1000, , drop = FALSE])))
if (!length(bounds)) bounds <- c(-Inf, Inf)
low <- setNames(rep(bounds[1], d), colnames(draws)); high <- setNames(rep(bounds[2], d), colnames(draws))
set.seed(as.integer(args[3]))
used <- system.time(
  bridge <- bridge_sampler(chains, log_posterior = log_posterior, data = NULL, lb = low, ub = high, method = args[4], silent = TRUE)
)
relative <- tryCatch(error_measures(bridge)$cv, error = function(e) NaN)
all <- proc.time()
cat(sprintf("%.15g", c(
  bridge$logml, relative, evaluations, used[["user.self"]] + used[["sys.self"]], all[["user.self"]] + all[["sys.self"]]
)), "\n")
