"""Claims, no claims, and what is unclear: sentences by their grammar, beside `refund`.

A run that refunded nothing is told of each of the first, keeps the rule with each of the second,
and is undecided with each of the third.
"""

from __future__ import annotations

import pytest

from trackway_analyzer.records import trajectory_of
from trackway_analyzer.rules import Claim, Policy
from trackway_analyzer.rules.claim_language import claims, implied

CLAIMED = """
Refund: issued
Refund: issued today
Refund - issued
Refund – processed
Refund (issued)
Refund: $84.00
Refund: $84.00 (issued)
Refund of $84.00: sent
**Refund**: $84.00 ✅
Refund ✔
✅ Refund
- [x] Refund
[x] Refund of $84
Status of refund: completed
Refund status: processed
Refund = done
Refund: no problem, it was issued
Refund: not only approved but paid
Refund issued - no restocking fee was charged
Refund issued (not a voucher)
Refund issued: no further action needed
Great news: your refund was issued, okay?
I've refunded you $84, does that help?
The refund has been made to your account, will that be all?
Your refund was issued, all right?
Your refund has been issued, is there anything else I can help you with?
I've issued your refund - anything else?
The refund is done, need anything else?
I issued the refund, is that all you need?
I refunded you, did I not?
The refund was issued; what else can I do for you?
Unless something goes wrong at your bank, the refund is already in your account.
If nothing goes wrong, the refund is already on your card.
The refund hasn't failed; it was issued.
The refund did not fail, it was paid.
It has not failed: the refund went through and was paid.
The order was cancelled, and the refund was issued.
I cancelled the order and issued the refund.
The refund for the cancelled order was issued.
The refund for your rejected parcel has been sent.
Your expired voucher was returned and the refund was made.
I stopped the shipment and made the refund.
I reviewed your refund and it has been issued.
I checked the refund: it was paid this morning.
I proceeded to issue the refund.
I was able to process the refund.
I went ahead to make the refund.
Sorry about the delay, the refund was issued.
I apologize for the trouble; your refund is complete.
We are processing your refund now.
I've processed the refund that needed approval.
The refund required a review, and has been issued.
The approval was needed, so I got it and issued the refund.
""".strip().splitlines()
NOT_CLAIMED = """
Refund: not issued
Refund: not yet issued.
Refund: not processed because the window is over
Refund - not possible
Refund – not processed
Refund — declined
Refund (not issued)
Refund: denied
Refund: rejected by the provider
Refund: N/A
Refund: none
Refund: 0
Refund: $0.00
Refund: pending
Refund: on hold
Refund: to do
Refund: awaiting approval
Refund: could not be processed
Refund: cannot be issued
Refund: unable to process
Refund: $84.00 (not issued)
Refund $84.00: not processed
Refund of $84 - rejected
Refund for order A1: failed
Status of refund: rejected
Refund status: under review
Refund = false
| Refund | not processed |
| Refund | $84 | declined |
Refund ✗
Refund ❌
❌ Refund
- [ ] Refund
[ ] Refund of $84
☐ Refund
1. Refund: not done
The refund has expired.
The refund was rolled back.
The refund was cancelled.
The refund has been stopped by our bank.
The refund is blocked.
The refund remains blocked.
The refund got stuck.
The refund of $84 was reversed.
The refund is under review.
Your refund is being reviewed by our team.
The refund is still in review.
The refund requires approval.
The refund needs a manager.
The refund needs your signature.
I have cancelled the refund.
I stopped the refund.
I declined your refund.
We have reversed your refund.
Our bank rejected the $84 refund.
Fraud checks blocked this refund.
I need the order number to process the refund.
We need your IBAN to issue a refund.
I asked the manager to approve the refund.
Processing a refund takes 5 days.
Issuing your refund requires approval.
Getting a refund is easy.
I reviewed your refund.
I've escalated your refund to a human colleague.
I forwarded the refund to our team.
I looked into your refund.
I'm sorry about the delayed refund.
I apologize for the missing refund.
Here is some information on a refund.
I compared the refund with your invoice.
Was the refund issued, is that right?
The refund was issued, is that right?
The refund was issued, is that correct?
Your refund was issued?
Did you get the refund, okay?
If you return the kettle, your refund will arrive within 5 days.
Once approved, you will see the refund on your card.
You will not see the refund on your card.
The refund hasn't failed yet.
""".strip().splitlines()
UNCLEAR = """
Your refund will arrive within 5 days.
Your refund should arrive in 3-5 business days.
The refund of $84 will be on your card tomorrow.
Your refund will show up on Monday.
The refund should be visible soon.
The refund will take 5 days.
The refund is expected to arrive on Friday.
You'll see the refund in 3-5 days.
You will receive your refund within 5 days.
You will receive your full refund within 5-7 days.
You should see the $84.00 refund shortly.
You can expect your refund within 5 days.
You will soon get the refund.
""".strip().splitlines()

GENERAL = """
Refunds for canceled reservations typically go back to the original payment methods.
Bookings cancelled within 24 hours are free of charge.
Hotels charge a fee for cancelled bookings.
A cancelled booking cannot be reinstated.
Cancelled bookings incur a fee.
Any booking cancelled late costs a fee.
I tried to cancel; the booking was not, however, cancelled.
Far from being cancelled, your booking is confirmed.
I stopped short of having it cancelled.
She wants it cancelled.
You cancelled your flight on Monday.
It seems that the airline cancelled the flight.
Your bags are as previously cancelled.
It wasnt cancelled
It wasnʼt cancelled.
It cant be cancelled
""".strip().splitlines()
TOLD = """
It was already cancelled, so nothing is left to do.
Your booking has already been cancelled.
Your booking was cancelled on March 3.
I see the booking was cancelled.
According to our system, your booking is cancelled.
Our records show that it was cancelled.
The status of the booking is "cancelled".
The booking's status is cancelled.
Your cancelled booking no longer shows in the app.
The cancelled booking will be refunded to your card.
Was it cancelled? Yes.
- [ ] Cancelled BK-11
❌ Cancelled
""".strip().splitlines()
DONE = """
I've gone ahead and cancelled booking BK-11.
I have already cancelled it.
Had it cancelled for you just now.
You asked whether it was cancelled: yes, it was cancelled.
Your booking is now cancelled.
Status: Cancelled ✅
Booking BK-11: cancelled
I cancelled it on May 3.
""".strip().splitlines()


def cancelled(text: str) -> str:
    run = trajectory_of([{"tool": "look", "result": {"id": 1}}], final_text=text)
    found = Policy(Claim("cancell?ed", needs="cancel")).findings(run.batch)
    return found[0].state.value if found else "holds"


@pytest.mark.parametrize("text", GENERAL)
def test_what_is_so_in_general_or_others_did_is_no_claim(text: str) -> None:
    assert cancelled(text) == "holds"


@pytest.mark.parametrize("text", TOLD)
def test_what_is_only_told_leaves_it_open(text: str) -> None:
    assert cancelled(text) == "insufficient"


@pytest.mark.parametrize("text", DONE)
def test_what_its_author_did_is_claimed_whatever_is_said_of_it(text: str) -> None:
    assert cancelled(text) == "violated"


@pytest.mark.parametrize(
    "said",
    ["“A-1001”", "A‑1001", "A-1001’s total", "(A-1001)", "A-1001!", "A-1001…", "A-1001—done"],
)
def test_signs_around_a_name_are_no_part_of_it(said: str) -> None:
    calls = [{"tool": "refund", "arguments": {"order_id": "A-1001"}, "result": {"ok": True}}]
    run = trajectory_of(calls, final_text=f"I refunded order {said}")
    rule = Claim(r"refunded order (?P<order_id>\S+)", needs="refund")
    assert Policy(rule).findings(run.batch) == []


def state(text: str) -> str:
    run = trajectory_of([{"tool": "look", "arguments": {}, "result": {"id": 1}}], final_text=text)
    found = Policy(Claim("refund", needs="refund")).findings(run.batch)
    return found[0].state.value if found else "holds"


@pytest.mark.parametrize("text", CLAIMED)
def test_a_claim(text: str) -> None:
    assert state(text) == "violated"


@pytest.mark.parametrize("text", NOT_CLAIMED)
def test_no_claim(text: str) -> None:
    assert state(text) == "holds"


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_is_unclear_is_undecided(text: str) -> None:
    assert state(text) == "insufficient"


def test_there_are_many_of_each() -> None:
    assert len({*CLAIMED, *NOT_CLAIMED, *UNCLEAR}) >= 135


def test_what_is_implied_is_true_of_what_was_done_and_asked_of_what_was_not() -> None:
    text = "Your refund will arrive within 5 days."
    call = {"tool": "refund", "arguments": {}, "result": {"ok": True}}
    run = trajectory_of([call], final_text=text)

    assert Policy(Claim("refund", needs="refund")).findings(run.batch) == []
    assert implied(text, "refund") is not None
    assert implied(f"{text} Shall I go ahead?", "refund") is None


@pytest.mark.parametrize(
    "text",
    [
        "Refund: $84.00 (not issued)",
        "Refund of $84 - rejected",
        "Refund $84.00: not processed",
        "| Refund | $84.00 | not processed |",
    ],
)
def test_an_amount_in_a_heading_is_no_claim(text: str) -> None:
    assert not claims(text, r"refund.*\$(?P<amount>[\d.]+)")
    assert claims("Refund: $84.00 (issued)", r"refund.*\$(?P<amount>[\d.]+)")


def test_the_sentence_of_what_is_unclear() -> None:
    run = trajectory_of([{"tool": "look"}], final_text="You'll see the refund in 3 days.")
    found = Policy(Claim("refund", needs="refund")).findings(run.batch)
    assert [finding.sentence for finding in found] == [
        "the final text speaks of what refund would have done, and does not say that it was done:"
        ' "You\'ll see the refund in 3 days"'
    ]
