"""Work spread over processes and machines: any `concurrent.futures.Executor` will do, and the digits do not depend on it."""
