"""Running methods: the front door, the default, repeats, many models, distribution over workers."""
