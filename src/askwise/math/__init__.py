"""Pure formulas: entropies, links, uncertainty, Gaussians, joint entropies, distances."""
