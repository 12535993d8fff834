"""Certified sets: hand-worked audits, the exact risk over all orders, audits that go on where they were."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.assess import CannotCertify, Certificate, Open, certify, fewest_checks
from askwise.assess.certify import _Audit
from askwise.errors import InputError
from askwise.seeding import derive, generator


def pool(size=400, *, wrong=0.0, seed=0):
    """Uncertainties that grow, the predicted classes, and which predictions are right."""
    rng = generator(seed, "certify")
    uncertainty = torch.linspace(0, 0.3, size, dtype=torch.float64) ** 2
    right = torch.rand(size, generator=rng) >= wrong
    return uncertainty, torch.arange(size) % 3, dict(enumerate(right.tolist()))


def audited(uncertainty, predicted, right, **options):
    return certify(uncertainty, predicted, right, **{"classes": 3, "error": 0.05, "checks": 150, **options})


def test_the_fewest_checks_are_those_of_the_first_attempt():
    assert [fewest_checks(error) for error in (0.05, 0.02, 0.01)] == [72, 183, 368]
    assert fewest_checks(0.05, confidence=0.9) == 59  # half of 10 % is spent
    assert fewest_checks(0.05, attempt=2) == 86


def test_a_faultless_pool_is_certified_whole_after_the_checks_that_a_hand_counts():
    uncertainty, predicted = torch.zeros(1000, dtype=torch.float64), torch.zeros(1000, dtype=torch.int64)
    right = dict.fromkeys(range(1000), True)
    found = certify(uncertainty, predicted, right, classes=2, error=0.05, checks=200)
    capital, checks = 1.0, 0
    while capital < 2 / 0.05:
        mu = 51 / (1000 - checks)  # one error more than 5 % of 1,000 among those not yet checked
        capital *= (1 - 0.05 / 4) / (1 - mu)
        checks += 1
    assert isinstance(found, Certificate)
    assert (len(found.positions), found.checks, found.wrong) == (1000, checks, 0)
    assert found.classes[0].labels == 1000
    assert found.classes[1] == type(found.classes[1])(labels=0, checks=0, wrong=0)
    assert found.promise == (
        "at most 5 % of these 1,000 labels differ from your own answers, on average over the set; a class "
        "with fewer than 5 % of the set may be entirely wrong"
    )


def test_an_error_costs_what_the_bet_says():
    size, right = 1000, dict.fromkeys(range(1000), True)
    uncertainty, predicted = torch.zeros(size, dtype=torch.float64), torch.zeros(size, dtype=torch.int64)
    clean = certify(uncertainty, predicted, right, classes=2, error=0.05, checks=400)
    first = _Audit(uncertainty, range(size), 0.05, 0.025, 400, [], derive(0, "certify", 1)).order[0].item()
    found = certify(uncertainty, predicted, {**right, first: False}, classes=2, error=0.05, checks=400)
    factor = (0.05 / 4) / (51 / 1000)  # in place of (1 - q) / (1 - mu)
    assert found.wrong == 1
    assert found.checks - clean.checks == pytest.approx(-math.log(factor) / 0.0393, abs=6)


@pytest.mark.parametrize("wrong", [2, 3, 4])
def test_over_all_orders_a_bad_set_of_six_is_certified_with_no_more_than_the_risk(wrong):
    error, risk = 0.2, 0.5  # one of six may be wrong
    bad = {at: at >= wrong for at in range(6)}
    audit = _Audit(torch.zeros(6, dtype=torch.float64), range(6), error, risk, 6, [], 0)
    hits = 0
    for order in itertools.permutations(range(6)):
        audit.order, audit.checked = torch.tensor(order), {}
        hits += audit.walk(6, bad) is True
    assert 0 < hits / 720 <= risk if wrong == 2 else hits / 720 <= risk


def test_the_same_count_without_the_bound_on_the_null_would_break_the_risk():
    """The control: trusting the share of errors seen so far certifies the same bad set in most orders."""
    naive = 0
    for order in itertools.permutations(range(6)):
        wrong = [at < 2 for at in order]
        naive += any(sum(wrong[:n]) / n <= 0.2 for n in range(2, 6))
    assert naive / 720 > 0.5


def test_an_audit_asked_one_by_one_ends_as_the_audit_that_knows_all():
    uncertainty, predicted, right = pool(wrong=0.005)
    whole = audited(uncertainty, predicted, right)
    known: dict[int, bool] = {}
    while isinstance(step := audited(uncertainty, predicted, known), Open):
        assert step.checks == len(known)
        known |= {at: right[at] for at in step.ask}
    assert isinstance(whole, Certificate)
    assert torch.equal(step.positions, whole.positions)
    assert len(known) == whole.checks <= 150


def test_several_are_asked_ahead_in_the_order_of_the_audit():
    uncertainty, predicted, right = pool()
    seven = audited(uncertainty, predicted, {}, ahead=7).ask
    two = audited(uncertainty, predicted, {at: right[at] for at in seven[:2]}, ahead=5).ask
    assert two == seven[2:]
    assert len(audited(uncertainty, predicted, {}, ahead=500).ask) == 150


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.05, 0.3]), st.sampled_from([80, 120, 300]))
def test_no_more_is_checked_than_the_budget_and_what_is_certified_is_a_prefix(seed, wrong, checks):
    uncertainty, predicted, right = pool(wrong=wrong, seed=seed)
    found = audited(uncertainty, predicted, right, checks=checks, seed=seed)
    assert found.checks <= checks
    if isinstance(found, Certificate):
        assert found.positions.tolist() == list(range(len(found.positions)))  # the surest items
        assert sum(count.labels for count in found.classes) == len(found.positions)
        assert sum(count.checks for count in found.classes) <= found.checks
        assert sum(count.wrong for count in found.classes) <= found.wrong


def test_later_attempts_draw_another_order_and_spend_less():
    uncertainty, predicted, right = pool()
    first, second = (audited(uncertainty, predicted, {}, attempt=k, ahead=20) for k in (1, 2))
    assert first.ask != second.ask
    checks = [audited(uncertainty, predicted, right, attempt=k, checks=400).checks for k in (1, 2)]
    assert checks[0] <= checks[1]


def test_reused_answers_come_first_and_cost_no_check():
    uncertainty, predicted, right = pool()
    alone = audited(uncertainty, predicted, right, checks=100)
    helped = audited(uncertainty, predicted, right, checks=100, reused=list(range(0, 400, 4)))
    assert isinstance(helped, Certificate)
    assert len(helped.positions) > (len(alone.positions) if isinstance(alone, Certificate) else 0)
    with pytest.raises(InputError, match="position 4 is reused, and has no answer"):
        audited(uncertainty, predicted, {0: True}, reused=[0, 4])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"error": 0.00005}, "the model is sure enough of 7 of 400 items only; label more"),
        ({"checks": 40}, "40 checks cannot show at most 5 % errors, even if all are right; allow more"),
    ],
)
def test_what_cannot_be_certified_is_said_before_a_check_is_spent(options, reason):
    uncertainty, predicted, right = pool()
    found = audited(uncertainty, predicted, right, **options)
    assert isinstance(found, CannotCertify)
    assert found.checks == 0
    assert found.reason.startswith(reason)


def test_a_wrong_pool_is_not_certified_and_the_reason_counts_its_errors():
    uncertainty, predicted, right = pool(wrong=0.3)
    found = audited(uncertainty, predicted, right)
    assert isinstance(found, CannotCertify)
    assert found.checks > 0
    assert "checks were wrong, and no set is shown to have at most 5 % errors" in found.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": 0}, "error must lie between 0 and 1, both excluded, not 0"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"classes": 1}, "there must be at least 2 classes, not 1"),
        ({"checks": 0}, "checks must be a whole number of at least 1, not 0"),
        ({"attempt": 0}, "attempt must be a whole number of at least 1, not 0"),
        ({"classes": 2}, "predicted must be numbers of classes from 0 to 1, and go from 0 to 2"),
        ({"ids": ["a"]}, "the inputs differ in length: 400 items, 1 ids"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(options, message):
    with pytest.raises(InputError, match=message):
        audited(*pool(), **options)


def test_an_uncertainty_that_is_no_number_is_refused():
    uncertainty, predicted, right = pool()
    uncertainty[3] = torch.nan
    with pytest.raises(InputError, match="uncertainty must be finite, and contains NaN or infinity"):
        audited(uncertainty, predicted, right)
