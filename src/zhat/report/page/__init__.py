"""The report: one HTML page that stands alone."""
