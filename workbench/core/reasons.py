"""Descriptions of reason codes and rules: the grounds of a verifier's verdict, for people."""

from __future__ import annotations

from typing import Final, NamedTuple


class Reason(NamedTuple):
    """The description of a reason code.

    Attributes:
        title: A few words to show next to the code.
        correct: A sentence for a verdict "correct" with it; "" if there is no such verdict.
        incorrect: A sentence for a verdict "incorrect" with it; "" if there is no such verdict.
        undecided: A sentence for an abstention or an error: why there is no verdict.
    """

    title: str
    correct: str = ""
    incorrect: str = ""
    undecided: str = ""


REASONS: Final[dict[str, Reason]] = {
    "text_equal": Reason("same text", "Both are the same text."),
    "text_differs": Reason("different text", "", "The texts differ."),
    "number": Reason("compared as numbers", "Both are the same number.", "The numbers differ."),
    "letter": Reason("compared as option letters", "Both choose the same option.", "They choose different options."),
    "option_text": Reason(
        "compared as option texts",
        "Both choose the same option, at least one of them by its text.",
        "They choose different options, at least one of them by its text.",
    ),
    "state": Reason("compared as states (yes, no …)", "Both say the same state.", "They say different states."),
    "brackets": Reason(
        "compared as closing brackets",
        "Both close the question's brackets in the same way.",
        "The brackets do not close the question's sequence as the reference does.",
    ),
    "symbolic": Reason(
        "compared by computer algebra",
        "Computer algebra finds both equal.",
        "Computer algebra does not find them equal.",
    ),
    "list": Reason("compared as lists", "Both have equal members.", "They do not have equal members."),
    "quantity": Reason("compared as quantities", "Both are the same quantity.", "The quantities differ."),
    "date_time": Reason("compared as dates and times", "Both are the same date or time.", "The dates or times differ."),
    "expression": Reason("compared as expressions", "Both expressions are equal.", "The expressions differ."),
    "equation": Reason("compared as equations", "Both equations say the same.", "The equations do not say the same."),
    "interval": Reason("compared as intervals", "Both are the same interval.", "The intervals differ."),
    "set": Reason("compared as sets", "Both are the same set.", "The sets differ."),
    "matrix": Reason("compared as matrices", "Both have equal entries.", "The matrices differ in size or in an entry."),
    "similarity": Reason("similarity score", "The score reaches the threshold.", "The score is below the threshold."),
    "score": Reason("score and threshold", "The score reaches the threshold.", "The score is below the threshold."),
    "no_threshold": Reason("score without threshold", undecided="It abstains: a score needs a threshold to say more."),
    "no_logprobs": Reason(
        "no probability of the verdict",
        undecided="It abstains: it is graded by the probability of its verdict's token, and the server told none.",
    ),
    "unknown_reward": Reason(
        "no such reward",
        undecided="It gives no verdict: the item's field reward, which says what its search is rewarded by, holds no "
        "such word.",
    ),
    "not_text": Reason(
        "a text is missing",
        undecided="It gives no verdict: the row's question, reference or completion is missing or not text, or it "
        "has no valid tests.",
    ),
    "suggested_type": Reason(
        "answer type suggested", undecided="It judges no completion: the rule is the answer type it suggests."
    ),
    "no_reference_answer": Reason(
        "no answer in the reference", undecided="It abstains: it found no final answer in the reference."
    ),
    "no_answer_found": Reason(
        "no answer in the completion", undecided="It abstains: it found no final answer in the completion."
    ),
    "multi_part_reference": Reason(
        "reference of several parts",
        undecided="It abstains: the reference has several parts, and the completion's box gives fewer, or some that "
        "can't be compared.",
    ),
    "hedged": Reason(
        "answer left open", undecided="It abstains: the completion leaves open which of several answers it means."
    ),
    "qualified": Reason(
        "denied or qualified",
        undecided="It abstains: what stands beside the answer denies it or makes another value of it, as "
        "“not”, “at least”, “half of” or a minus sign do.",
    ),
    "unsolved": Reason(
        "not worked out",
        undecided="It abstains: the answer is an equation that is not solved, or still holds an unknown or a function "
        "of the question.",
    ),
    "alike": Reason(
        "alike, perhaps not the same",
        undecided="It abstains: the answers agree but for a currency, a thing counted, upper case or a name that "
        "goes on.",
    ),
    "unmarked": Reason(
        "no answer marked",
        undecided="It abstains: nothing marks the completion's answer, and its last line does not say the reference's.",
    ),
    "semantic": Reason(
        "only meaning decides", undecided="It abstains: an answer is in sentences, and only their meaning could decide."
    ),
    "witness_in_box": Reason(
        "something else in the box",
        undecided="It abstains: the reference is a state such as yes or no, and the completion's box holds something "
        "else, such as an example.",
    ),
    "too_complex": Reason(
        "too much work", undecided="It abstains: to compare these answers would take more work than a rule may spend."
    ),
    "timeout": Reason(
        "out of time", undecided="There is no verdict: the time for one item was over, as the detail says."
    ),
    "worker_died": Reason("process died", undecided="It abstains: its process died or had used all its memory."),
    "unparsed": Reason(
        "no verdict in the reply", undecided="It abstains: the judge's reply holds no verdict in its form."
    ),
    "truncated": Reason("reply cut short", undecided="It abstains: the judge's reply ends before its verdict."),
    "refused": Reason("judge refuses", undecided="It abstains: the judge declines to judge, or its server says so."),
    "invalid": Reason("judged invalid", undecided="It abstains: the judge calls the completion no valid answer."),
    "duel": Reason("compared in both orders", undecided="It compares two judges, and says nothing of the completion."),
    "pairwise": Reason("compared in both orders", undecided="It says which of two is better, not which is correct."),
    "no_rival": Reason(
        "nothing to compare with", undecided="It abstains: its question has no other completion to compare it with."
    ),
    "no_reasoning": Reason(
        "no reasoning to compare", undecided="It abstains: one of the two judges has no transcript for this item."
    ),
    "no_tests": Reason(
        "no test cases",
        undecided="It abstains: the problem has no test in the suite, or none that a model wrote was valid.",
    ),
    "no_valid_tests": Reason(
        "no valid test cases",
        "No test that the model wrote was valid: the search was rewarded without executing any.",
        "No test that the model wrote was valid: the search was rewarded without executing any.",
    ),
    "broken_tests": Reason(
        "every test is broken",
        undecided="It abstains: every test of the problem is broken or was excluded, so that none decides.",
    ),
    "tests_passed": Reason("passes all tests", "It passes every test."),
    "assertion": Reason("fails a test", "", "It fails a test: the result is not what the test expects."),
    "exception": Reason("raises in a test", "", "It raises an exception in a test."),
    "syntax": Reason("syntax error", "", "It is no program of its language: a syntax error."),
    "time_limit": Reason("takes too long", "", "It takes longer than a test may."),
    "killed": Reason("killed in a test", "", "It ended before a test did: killed for what it used, or by itself."),
    "unstable": Reason(
        "depends on the hash seed",
        "It passes every test under the first hash seed; another seed gives other outcomes.",
        "It does not pass under the first hash seed; another seed gives other outcomes.",
    ),
    "no_runner": Reason(
        "language not to be run here", undecided="It failed: programs in this language can't be run on this machine."
    ),
    "harness_killed": Reason(
        "sandbox died", undecided="It failed: the process that runs solutions died, so that the tests say nothing."
    ),
    "no_reward": Reason(
        "no rewarded trajectory",
        "No trajectory of the search was rewarded; most of them say correct.",
        "No trajectory of the search was rewarded; most of them, or half, say incorrect.",
    ),
    "of_several": Reason(
        "metric of several completions",
        undecided="It abstains: its metric is about several completions of the question together.",
    ),
    "unscored": Reason("not scored", undecided="It abstains: it gave no value."),
    "no_stage": Reason("no stage for its type", undecided="It abstains: no stage of the stack is for its answer type."),
    "unjudged": Reason("not judged", undecided="It abstains: the stage was not asked; only calls were to be seen."),
    "no_verdict": Reason("value that is no verdict", undecided="It abstains: its value is a word for none."),
    "invalid_response_format": Reason(
        "completion in the wrong form", undecided="It abstains: the completion does not have the form it asks for."
    ),
    "refusal": Reason("refusal", undecided="It abstains: the completion refuses to answer."),
    "no_response": Reason("empty completion", undecided="It abstains: the completion is empty."),
    "grader_failed": Reason(
        "grading model failed", undecided="It abstains: the model that grades gave no usable reply."
    ),
    "scoring_failed": Reason("scorer could not run", undecided="It abstains: the scorer could not run."),
    "tie": Reason("tied vote", undecided="It abstains: as many replies say correct as incorrect."),
    "no_preference": Reason(
        "no preference", undecided="It abstains: it prefers neither this completion to the others nor another to it."
    ),
    "rate_limit": Reason(
        "rate limit", undecided="It failed: the server rejected the call too often for its rate limit."
    ),
    "quota": Reason("quota used up", undecided="It failed: the account's quota at the server was used up."),
    "auth": Reason("key rejected", undecided="It failed: the server rejected the key."),
    "bad_request": Reason("request rejected", undecided="It failed: the server calls the request wrong."),
    "context_length": Reason("prompt too long", undecided="It failed: the prompt is longer than the model can read."),
    "content_filter": Reason("content filter", undecided="It failed: a content filter of the server rejected it."),
    "server": Reason("server error", undecided="It failed: the server reported internal errors again and again."),
    "transport": Reason("connection failed", undecided="It failed: the connection to the server broke every time."),
    "malformed": Reason("broken reply", undecided="It failed: the server's replies could not be read."),
    "budget": Reason("budget used up", undecided="It failed: the run's budget was used up."),
    "cancelled": Reason("cancelled", undecided="It failed: the call was cancelled."),
    "internal": Reason("verifier failed", undecided="It failed on this item; its message is below."),
}
"""Reason code -> its description; a plug-in may have its own codes."""

RULES: Final[dict[str, tuple[str, str]]] = {
    "text.exact": ("Both are the same text, character by character.", ""),
    "text.canonical": ("Both are the same text, spacing and typesetting aside.", ""),
    "text.wording": ("Both are the same text, quotation marks and the way signs are set aside.", ""),
    "text.words": ("Both are the same words in the same order, regardless of separators.", ""),
    "text.contained": ("The completion's sentence gives the reference's answer in so many words.", ""),
    "text.differs": ("", "The texts differ, and no rule sees the same value in both."),
    "number.exact": ("Both are the number {value}.", ""),
    "number.rounding": ("One number is the other, rounded to the digits it shows.", ""),
    "number.tolerance": ("The numbers differ by no more than the tolerance that was chosen.", ""),
    "number.words": ("Both are the same number, written out in words or in digits.", ""),
    "number.ratio": ("Both are the same ratio.", "The ratios differ."),
    "number.code": ("", "These are codes of digits with leading zeros, and not the same."),
    "quantity.same_unit": ("Both are the same amount of the same unit.", "They are different amounts of one unit."),
    "quantity.convert": (
        "Both are the same quantity, one converted into the other's unit.",
        "They are different quantities, also after one is converted into the other's unit.",
    ),
    "quantity.unit_dropped": (
        "Both are the same number; only one of them names the unit.",
        "The numbers differ; only one of them names the unit.",
    ),
    "quantity.unit_missing": ("", "The reference names a unit and the answer none, as was required of it."),
    "quantity.differs": ("", "Their units measure different things."),
    "percent": ("Both are the same share.", "They are not the same share: only one is in per cent."),
    "degrees": ("Both are the same angle.", "They are not the same angle."),
    "base": ("Both are the same number in its base.", "The numbers or their bases differ."),
    "date.time": ("Both are the same date and time.", "The dates or the times differ."),
    "date.other": ("", "Only one of them is a date or a time."),
    "date": ("Both are the same date.", "The dates differ."),
    "time.duration": ("Both are the same duration.", "The durations differ."),
    "time": ("Both are the same time.", "The times differ."),
    "expression.logic": ("Both are the same formula of logic.", ""),
    "expression.form": ("", "They are equal, but only one of them has the form the question asks for."),
    "expression.restated": ("", "The answer only repeats an expression of the question instead of working it out."),
    "expression.unevaluated": ("", "Only one of them is worked out; the other still holds a sum, integral or limit."),
    "state.term": ("Both are the same: {value}.", "They are different things."),
    "state": ("Both say {value}.", ""),
    "tuple": ("Both have equal members in the same order.", "They do not have equal members in the same order."),
    "list.parts": ("Every part of the reference has an equal part.", "A part differs from the reference's."),
    "list.stated": ("The box gives one part of the reference, and the reply's end states the others.", ""),
    "choice.letter": ("Both choose {value}.", ""),
    "choice.none": ("", "The reference is an option, and the completion's answer is not an option."),
}
"""Rule, or the first part of its name -> sentences on "correct" and "incorrect" that are more specific than the
reason's.
"""


def title(code: str) -> str:
    """Return a reason code in a few words; "" for an unknown code."""
    return REASONS[code].title if code in REASONS else ""


def named(code: str) -> str:
    """Return a reason code with its title: ``"letter - compared as option letters"``."""
    words = title(code)
    return f"{code} - {words}" if words else code


def sentence(outcome: str, reason: str | None, rule: str | None = None, value: str = "") -> str:
    """Explain a verdict in a sentence; "" if its codes are unknown.

    Args:
        outcome: The verdict's word.
        reason: Its reason code.
        rule: The rule that fired.
        value: The reference's final answer if it is short enough for a sentence.
    """
    known = REASONS.get(reason or "", Reason(""))
    if outcome not in ("correct", "incorrect"):
        return known.undecided
    rule = rule or ""
    general = known.correct if outcome == "correct" else known.incorrect
    for name in (rule, rule.partition(".")[0]):
        found = RULES.get(name, ("", ""))[outcome == "incorrect"]
        if found and (value or "{value}" not in found):
            return found.replace("{value}", value)
    return general
