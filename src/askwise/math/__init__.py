"""Pure formulas: entropies, links, doubt, Gaussians, joint entropies, distances."""
