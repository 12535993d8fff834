"""The page: one person answers in a browser, and the model learns meanwhile."""
