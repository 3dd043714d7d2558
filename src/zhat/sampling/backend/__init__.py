"""What samplers run on: compiled code or NumPy, evaluation and its counting, the host loop."""
