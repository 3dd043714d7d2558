"""Work over processes and machines, with the same digits."""
