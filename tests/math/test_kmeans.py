import torch
from sklearn.cluster import KMeans

from askwise.math import distance
from askwise.math.kmeans import draw_one, kmeans, seeds


def blobs(seed=0):
    rng = torch.Generator().manual_seed(seed)
    centres = torch.tensor([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    return torch.cat([centre + torch.randn(30, 2, generator=rng) for centre in centres])


def inertia(points, labels):
    return sum(
        (points[labels == g] - points[labels == g].mean(0)).square().sum().item() for g in labels.unique()
    )


def test_kmeans_finds_separate_blobs():
    labels = kmeans(blobs(), count=3, rng=torch.Generator().manual_seed(0))
    assert [len(labels[i : i + 30].unique()) for i in (0, 30, 60)] == [1, 1, 1]
    assert len(labels.unique()) == 3


def test_kmeans_is_about_as_tight_as_scikit_learns():
    points = torch.randn(400, 5, generator=torch.Generator().manual_seed(0))
    theirs = KMeans(8, n_init=1, random_state=0).fit(points.numpy())
    ours = [inertia(points, kmeans(points, count=8, rng=torch.Generator().manual_seed(s))) for s in range(5)]
    assert min(ours) < 1.05 * theirs.inertia_
    assert max(ours) < 1.15 * theirs.inertia_


def test_kmeans_makes_no_more_clusters_than_distinct_points():
    points = torch.tensor([[1.0, 2.0]]).repeat(10, 1)
    points[5:] = 4
    labels = kmeans(points, count=6, rng=torch.Generator().manual_seed(0))
    assert len(labels.unique()) == 2


def test_kmeans_in_many_chunks_is_the_same(monkeypatch):
    whole = kmeans(blobs(), count=5, rng=torch.Generator().manual_seed(0))
    monkeypatch.setattr(distance, "_CELLS", 16)
    assert torch.equal(kmeans(blobs(), count=5, rng=torch.Generator().manual_seed(0)), whole)


def test_kmeans_repeats_itself():
    one, other = (kmeans(blobs(), count=4, rng=torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, other)


def test_seeds_are_distinct_points_of_the_set():
    points = blobs().repeat(2, 1)
    found = seeds(points, count=20, rng=torch.Generator().manual_seed(0))
    assert len(found.unique(dim=0)) == 20
    assert all((points == seed).all(1).any() for seed in found)


def test_draw_one_follows_the_masses():
    rng = torch.Generator().manual_seed(0)
    mass = torch.tensor([0.0, 1.0, 0.0, 3.0, 0.0])
    counts = torch.tensor([draw_one(mass, rng) for _ in range(4000)]).bincount(minlength=5)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert abs(counts[3].item() / 4000 - 0.75) < 0.03


def test_draw_one_takes_the_first_when_there_is_no_mass():
    assert draw_one(torch.zeros(3), torch.Generator().manual_seed(0)) == 0
