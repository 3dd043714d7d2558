"""What comes out: records of runs, estimates, evidences, and how they are stored."""
