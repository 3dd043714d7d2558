"""Running methods: `evidence`, the default method, repeats, many models, distribution over workers."""
