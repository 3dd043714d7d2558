"""What produces records; knows nothing of verdicts or evidences."""
