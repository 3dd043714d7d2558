"""The study's page: figures, notes, running text."""
