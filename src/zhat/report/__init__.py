"""What people look at: pictures of results. Reads results and records; never samples."""
