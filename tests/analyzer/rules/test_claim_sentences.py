"""Sentences as agents write them, held against a pattern of one plain word: `refund`.

A run that refunded nothing must be told of each of the first and of none of the second. What the
language of claims gets wrong stands in tables of its own, so that it is known and counted.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from trackway_analyzer.rules.claim_language import claims
from trackway_analyzer.rules.claiming_texts import claiming

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
Order No. 17 was refunded.
The kettle that would not start was refunded.
The order that was not delivered was refunded.
The item you no longer need was refunded.
Will's order was refunded.
Will Smith was refunded.
Your never-used kettle was refunded.
I refunded the 'Never Again' shirt
I hope you don't mind that I refunded it already.
I couldn't be happier to say I refunded the order.
I refunded your order, didn't I?
You may have noticed that I refunded the order.
It has not been long since I refunded it.
If you check your account, you will see I refunded the order.
I refunded the order that was not delivered.
I refunded the item you no longer need.
I refunded the kettle which never worked.
The refund for the order that was not delivered has been issued.
For the order that was not delivered I issued the refund.
We refunded Never Again Ltd. today.
I refunded May and Will.
We refunded Will today.
The order that you have not received was refunded.
May was refunded.
The no-name kettle was refunded.
I have refunded order no. A17.
I told Will Smith that I refunded it.
The customer who could not log in was refunded.
No doubt about it: I refunded the order.
Without a doubt, your order was refunded.
I refunded the order without any trouble.
I managed to get it refunded.
You will notice that your order was refunded.
The customer will be happy: I refunded the order.
I refunded the order, which you could not return.
I've refunded the "If Only" dress.
Because it was never delivered, I refunded it.
The item you could not use has been refunded.
The refund to the card that you no longer use has been issued.
I refunded it, no questions asked.
Your order, which never arrived, was refunded.
Order No A17 was refunded.
The kettle that doesn't work was refunded.
The kettle that stopped working was refunded.
We have refunded the May invoice.
I refunded the customer who did not get the parcel.
The package that should have come on Monday was refunded.
All orders that could not be shipped were refunded.
I refunded the fee that you should not have paid.
You might have seen that we refunded the order.
You may already have noticed I refunded it.
Rest assured that I refunded it.
I'm sorry that you could not use it; it was refunded.
I am sorry you never got it. I refunded it.
Don't worry: refunded.
It was refunded without fail.
Your order was refunded (No. 17).
REFUNDED: yes
Refunded: $84
Refund: no problem, it was issued
The refund of the order you can't return has been paid.
I have refunded Can Yilmaz.
I could check it and have made the refund.
I can confirm that I checked the order and issued the refund.
I will write to you and your refund was issued.
For whatever reason you sent it, your order was refunded.
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
Refunded: no
Refunded: false
| refunded | no |
I doubt it was refunded
It was nearly refunded
To get refunded, send us a photo
It is non-refunded
We are waiting for it to be refunded
Your Refund Could Not Be Processed
The refund for the order that you placed was not issued.
No order that was delivered was refunded.
The refund status is "Declined".
The order that arrived was not refunded.
I told the customer that he would not be refunded.
The order which you sent back will be refunded.
The item you returned could not be refunded.
The refund that I could not process is still open.
Refund status: Not issued
Order A1: Not Refunded
Refund: not yet.
Refund issued: no
Will Ann be refunded?
Once Ann was refunded, she left.
If Will Smith was refunded, tell me.
The shirt 'Never Again' was not refunded.
I couldn't say I refunded it.
It has not been refunded since I asked.
It is unclear whether it was refunded.
It was almost refunded.
You need to be refunded.
The un-refunded order is A1.
refunded = false
Refunded? No.
The item that would have been refunded is sold.
Orders that were not delivered are refunded.
The order that would not be refunded is A1.
I'm sorry that it was not refunded.
I checked the order that could not be refunded.
The order you will be refunded is A1.
I know you were not refunded.
The shop that sold it did not say it was refunded.
I think the order will not be refunded.
The order A1 that you returned has not yet been refunded.
The man that I called said he would not have refunded it.
Your order may have been refunded.
It might be refunded.
Will it be refunded
May I have it refunded?
Your ticket is non-refundable.
Your ticket is refundable.
The refund status shows "Not issued".
YOUR ORDER WAS NOT REFUNDED
Your Order Was Not Refunded.
No refunds.
Refund processed: pending
Nothing that you ordered was refunded.
No item you ordered was refunded.
I have no record that it was refunded.
I have doubts that it was refunded.
None of the orders that you sent was refunded.
Your order A1 is not among those that were refunded.
I never said it was refunded.
I don't see that it was refunded.
I can't see that you were refunded.
I can't tell you that it was refunded.
I did not find that it was refunded.
It's not clear that it was refunded.
You don't seem to have been refunded.
I can assist you with canceling your flight and processing a refund.
I will make the changes and arrange for the refund.
Ensure the refund is processed to your card.
Please choose one of the options (exchange, refunded order, or other).
The reasons can be a change of plan, refunded fees, or others.
""".strip().splitlines()
MISSED = """
Your refund will be on your card in 5 days; it has been issued.
You will see the refund of $84 in 3-5 days.
You can expect your refund within 5 days.
After it was delivered it was refunded.
""".strip().splitlines()
"""They claim it, by a word for it or by what will come of it."""


@pytest.mark.parametrize("sentence", CLAIMED)
def test_what_an_agent_says_it_did_is_claimed(sentence: str) -> None:
    assert claims(sentence, "refund")


@pytest.mark.parametrize("sentence", NOT_CLAIMED)
def test_what_it_only_speaks_of_is_not(sentence: str) -> None:
    assert not claims(sentence, "refund")


def test_the_known_mistakes_are_these() -> None:
    assert [text for text in MISSED if not claims(text, "refund")] == MISSED


@pytest.mark.parametrize(
    "text",
    [
        "I re\u200bfunded your order.",
        "I re\u00adfunded your order.",
        "\ufeffI\u2060 refunded your order.",
        "I ref<b>unded</b> your order.",
        '<p class="x">Done.</p><ul><li>I refunded A1</li></ul>',
        "I<br/>refunded it.",
    ],
)
def test_what_nobody_sees_hides_no_claim(text: str) -> None:
    assert claims(text, "refunded")
    assert claiming(pa.chunked_array([[text]]), "I.*refunded") == [(0, text)]


def test_what_a_model_says_to_itself_is_no_claim() -> None:
    assert not claims("<think>So I refunded it.\n\nRight?</think>Hello.", "refunded")
    assert claims("<think>Hm.</think>I refunded it.", "refunded")


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (r"email to (?P<to>\S+)", "I sent an email to eve@example.com."),
        (r"email to (?P<to>\S+)", "I sent an email to will.smith@mail.com."),
        (r"email to (?P<to>\S+)", "I sent an email to may@mail.com."),
        (r"email to (?P<to>\S+)", "I sent an email to no-reply@mail.com."),
        (r"email to (?P<to>\S+)", "I sent an email to Will."),
        (r"(?P<who>\w+) was refunded", "Will was refunded."),
        (r"refunded the (?P<item>[\w ]+) shirt", "I refunded the Never Again shirt"),
        (r"order (?P<order>\w+) was (?P<state>refunded)", "order A1 was refunded"),
    ],
)
def test_words_of_a_value_take_nothing_back(says: str, text: str) -> None:
    assert claims(text, says)


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (r"(?P<what>.*) was refunded", "It could not be true that A1 was refunded"),
        (r"(?P<what>.*) refunded", "Your order was not refunded"),
        (r"(?P<how>not|never) refunded", "It was not refunded"),
        (r"email to (?P<to>\S+)", "I have not sent an email to ann@mail.com."),
        (r"email to (?P<to>\S+)", "I will send an email to will@mail.com."),
    ],
)
def test_what_a_group_caught_of_the_clause_is_no_value(says: str, text: str) -> None:
    assert not claims(text, says)
