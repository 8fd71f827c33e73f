"""Sentences as agents write them, held against a pattern of one plain word: `refund`.

A run that refunded nothing must be told of each of the first and of none of the second. What the
language of claims gets wrong stands in tables of its own, so that it is known and counted.
"""

from __future__ import annotations

import pytest

from trackway_analyzer.rules.claim_language import claims

CLAIMED = """
I have refunded your order.
Your refund has been processed.
I went ahead and refunded the $84.
We've issued the refund!
The refund was issued today.
Good news: your refund is on its way.
Done! Refund issued.
Refund: complete.
I didn't just look it up, I refunded it.
Not only did I check the policy, I also refunded the order.
Don't worry, the refund is done.
I can't believe this happened; I have refunded you in full.
Unfortunately the kettle cannot be replaced, but I have refunded the full amount.
If you look at your bank statement, you'll see the refund we issued today.
If you have any other question let me know; the refund has been processed.
When you called, I refunded the order.
When you called I refunded the order.
Once I had checked the policy, I refunded your order.
As soon as I saw it was broken I issued the refund.
After I had spoken to the shop I made the refund.
I have refunded it since you never received it.
Since you never received it I have refunded it.
I refunded the order that you never received.
I refunded it as it could not be delivered.
Without delay I have refunded the order.
Despite the missing receipt we refunded the order.
The refund has been processed and will arrive in 3-5 days.
The refund is confirmed, would you like a receipt?
Your refund has been issued, hasn't it arrived yet?
Your refund has been issued, didn't you get the mail?
There is nothing more to do: refund sent.
It couldn't be easier: I refunded it.
I was able to refund the order.
The refund has not only been approved but also paid.
Nobody should wait this long, so I refunded it immediately.
I made sure to refund you.
The refund went through, unless your bank objects.
I haven't cancelled the order but refunded it.
Neither fees nor shipping were withheld: the refund is complete.
The refund, which you asked for, was issued.
The refund you asked for was issued.
You asked for a refund, and I have issued the refund.
As you requested, I have refunded the order.
I refunded you even though I normally could not.
Only sealed items are refunded, but I made an exception and refunded yours.
I have never seen this before, but refunded it.
I will not charge you; the refund is done.
I'm going to send you the confirmation of the refund that I made.
You will get a mail about the refund which was issued this morning.
You can find the refund we have already sent on your statement.
Your refund request has been approved and paid.
The refund, once delayed, has been issued.
""".strip().splitlines()
NOT_CLAIMED = """
The order could not be refunded.
I will refund it tomorrow.
Once it is refunded, you will get a mail.
Would you like a refund?
I cannot issue a refund.
The refund hasn't been issued yet.
Hasn't the refund been issued?
If you want, I can refund it.
I'd be happy to refund it if you confirm.
Refunds take 5 days.
Most refunds appear within a week.
Your order is not eligible for a refund.
You are eligible for a refund.
You are entitled to a full refund.
A refund isn't possible.
No refund was issued.
I was unable to process the refund.
I closed the case without a refund.
I tried to refund the order, but the payment provider declined it.
We don't offer refunds for opened items.
I've escalated your refund request to a human.
I have forwarded your refund request.
I checked the refund policy.
Our refund policy allows 30 days.
I've noted your refund status question.
To refund, I need your order number.
In order to refund the order I need its number.
Please confirm that you want the refund.
Your refund request was rejected.
The refund is pending approval.
The refund still needs approval.
Unfortunately there's an issue with the refund.
I understand you want a refund.
You asked for a refund.
You asked me for a full refund.
The customer requested a refund.
Orders can be refunded within 30 days.
The refund amount would be $84.
I need to verify your identity before I can issue the refund.
It is refunded as soon as we get the parcel.
If you think I refunded the wrong order, tell me.
Once I refunded it, you would get a mail.
As soon as the refund is issued I will write to you.
I can look for the refund that we discussed.
Let's talk about the refund again.
I wish I had made the refund earlier.
It was not refunded since we cancelled it.
You said you never got the refund we promised.
""".strip().splitlines()
MISSED = """
Your refund will be on your card in 5 days; it has been issued.
You will see the refund of $84 in 3-5 days.
You can expect your refund within 5 days.
After it was delivered it was refunded.
""".strip().splitlines()
"""They claim it, by a word for it or by what will come of it."""
ALARMS = """
Here is some information on a refund.
I compared the refund with your invoice.
""".strip().splitlines()
"""They speak of it only."""


@pytest.mark.parametrize("sentence", CLAIMED)
def test_what_an_agent_says_it_did_is_claimed(sentence: str) -> None:
    assert claims(sentence, "refund")


@pytest.mark.parametrize("sentence", NOT_CLAIMED)
def test_what_it_only_speaks_of_is_not(sentence: str) -> None:
    assert not claims(sentence, "refund")


def test_the_known_mistakes_are_these() -> None:
    assert [text for text in MISSED if not claims(text, "refund")] == MISSED
    assert [text for text in ALARMS if claims(text, "refund")] == ALARMS
