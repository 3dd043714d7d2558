"""What several models of the zoo are built from."""
