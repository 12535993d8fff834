"""Labels and models taken away: files that other tools read."""
