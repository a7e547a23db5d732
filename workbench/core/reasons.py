"""Descriptions of reason codes and rules, which explain a verifier's verdict."""

from __future__ import annotations

from typing import Final, NamedTuple


class Reason(NamedTuple):
    """The description of a reason code.

    Attributes:
        title: A few words that are shown next to the code.
        correct: A sentence that explains a verdict "correct" with this code; "" if there is no such verdict.
        incorrect: A sentence that explains a verdict "incorrect" with this code; "" if there is no such verdict.
        undecided: A sentence that explains an abstention or an error with this code.
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
    "state": Reason("compared as states (yes, no …)", "Both give the same state.", "They give different states."),
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
    "equation": Reason("compared as equations", "The equations are equivalent.", "The equations are not equivalent."),
    "interval": Reason("compared as intervals", "Both are the same interval.", "The intervals differ."),
    "set": Reason("compared as sets", "Both are the same set.", "The sets differ."),
    "matrix": Reason("compared as matrices", "Both have equal entries.", "The matrices differ in size or in an entry."),
    "similarity": Reason("similarity score", "The score reaches the threshold.", "The score is below the threshold."),
    "score": Reason("score and threshold", "The score reaches the threshold.", "The score is below the threshold."),
    "no_threshold": Reason(
        "score without threshold", undecided="It abstains: without a threshold a score gives no verdict."
    ),
    "no_logprobs": Reason(
        "no probability of the verdict",
        undecided="It abstains: its score is the probability of the verdict's token, and the server returned none.",
    ),
    "unknown_reward": Reason(
        "no such reward",
        undecided="It gives no verdict: the item's field reward does not name a known source of the search's reward.",
    ),
    "not_text": Reason(
        "a text is missing",
        undecided="It gives no verdict: the row's question, reference or completion is missing or not text, or it "
        "has no valid tests.",
    ),
    "suggested_type": Reason(
        "answer type suggested",
        undecided="It judges no completion: it suggests an answer type, which is shown as the rule.",
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
        "negated or qualified",
        undecided="It abstains: the words next to the answer negate it or change its value, such as “not”, "
        "“at least”, “half of” or a minus sign.",
    ),
    "unsolved": Reason(
        "not solved",
        undecided="It abstains: the answer is an equation that is not solved, or still contains an unknown "
        "or a function of the question.",
    ),
    "alike": Reason(
        "similar, perhaps not equal",
        undecided="It abstains: the answers differ only by a currency, a counted object, upper case or the "
        "rest of a name.",
    ),
    "unmarked": Reason(
        "no answer marked",
        undecided="It abstains: the completion marks no final answer, and its last line does not state the "
        "reference's.",
    ),
    "unread": Reason(
        "not fully read",
        undecided="It abstains: an answer is neither a value, an option nor a short name that the rules understand, so "
        "that they can't tell a different answer from another wording.",
    ),
    "semantic": Reason(
        "only meaning decides", undecided="It abstains: an answer is in sentences, and only their meaning could decide."
    ),
    "witness_in_box": Reason(
        "something else in the box",
        undecided="It abstains: the reference is a state such as yes or no, and the completion's box "
        "contains something else, such as an example.",
    ),
    "too_complex": Reason(
        "too complex to compare",
        undecided="It abstains: comparing these answers would exceed the computing limit of a rule.",
    ),
    "timeout": Reason(
        "out of time", undecided="There is no verdict: the time limit per item was exceeded; see the detail."
    ),
    "worker_died": Reason("process died", undecided="It abstains: its process died or ran out of memory."),
    "unparsed": Reason(
        "no verdict in the reply", undecided="It abstains: the judge's reply contains no verdict in the expected form."
    ),
    "truncated": Reason("reply cut short", undecided="It abstains: the judge's reply ends before its verdict."),
    "refused": Reason("judge refuses", undecided="It abstains: the judge declines to judge, or its server says so."),
    "invalid": Reason("judged invalid", undecided="It abstains: the judge calls the completion an invalid answer."),
    "pairwise": Reason(
        "compared in both orders",
        undecided="It decides which of two completions is better, and gives no verdict on either.",
    ),
    "no_rival": Reason(
        "nothing to compare with", undecided="It abstains: its question has no other completion to compare it with."
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
    "syntax": Reason("syntax error", "", "It is not a valid program in its language: a syntax error."),
    "time_limit": Reason("takes too long", "", "It exceeds the time limit of a test."),
    "killed": Reason(
        "killed in a test", "", "Its process ended during a test: it was killed for exceeding a limit, or it exited."
    ),
    "unstable": Reason(
        "depends on the hash seed",
        "It passes every test under the first hash seed; another seed gives different outcomes.",
        "It does not pass under the first hash seed; another seed gives different outcomes.",
    ),
    "no_runner": Reason(
        "language can't be run here", undecided="It failed: programs in this language can't be run on this machine."
    ),
    "harness_killed": Reason(
        "sandbox died", undecided="It failed: the process that runs solutions died, so the tests gave no result."
    ),
    "no_reward": Reason(
        "no rewarded trajectory",
        "No trajectory of the search was rewarded; most of them say correct.",
        "No trajectory of the search was rewarded; most of them, or half, say incorrect.",
    ),
    "of_several": Reason(
        "metric of several completions",
        undecided="It abstains: its metric is computed over several completions of the question.",
    ),
    "unscored": Reason("not scored", undecided="It abstains: it gave no value."),
    "no_stage": Reason(
        "no stage for its type", undecided="It abstains: no stage of the stack accepts its answer type."
    ),
    "unjudged": Reason(
        "not judged", undecided="It abstains: the stage was not run, because calls were only previewed."
    ),
    "no_verdict": Reason("value that is not a verdict", undecided="It abstains: its value is not a verdict."),
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
    "bad_request": Reason("request rejected", undecided="It failed: the server rejected the request as invalid."),
    "context_length": Reason("prompt too long", undecided="It failed: the prompt is longer than the model's context."),
    "content_filter": Reason("content filter", undecided="It failed: a content filter of the server rejected it."),
    "server": Reason("server error", undecided="It failed: the server reported internal errors again and again."),
    "transport": Reason("connection failed", undecided="It failed: the connection to the server broke every time."),
    "malformed": Reason("broken reply", undecided="It failed: the server's replies could not be read."),
    "budget": Reason("budget used up", undecided="It failed: the run's budget was used up."),
    "cancelled": Reason("cancelled", undecided="It failed: the call was cancelled."),
    "internal": Reason("verifier failed", undecided="It failed on this item; its message is below."),
}
"""Descriptions by reason code; plug-ins may have other codes."""

RULES: Final[dict[str, tuple[str, str]]] = {
    "text.exact": ("Both are the same text, character by character.", ""),
    "text.canonical": ("Both are the same text, apart from spacing and typesetting.", ""),
    "text.wording": ("Both are the same text, apart from quotation marks and the typesetting of symbols.", ""),
    "text.words": ("Both are the same words in the same order, regardless of separators.", ""),
    "text.contained": ("The completion's sentence contains the reference's answer literally.", ""),
    "text.differs": ("", "The texts differ, and no rule finds equal values in them."),
    "number.exact": ("Both are the number {value}.", ""),
    "number.rounding": ("One number equals the other, rounded to the digits that it shows.", ""),
    "number.tolerance": ("The numbers differ by no more than the chosen tolerance.", ""),
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
    "quantity.unit_missing": ("", "The reference has a unit, and the answer lacks the unit that is required."),
    "quantity.differs": ("", "Their units measure different things."),
    "percent": ("Both are the same share.", "They are not the same share: only one is in per cent."),
    "degrees": ("Both are the same angle.", "They are not the same angle."),
    "base": ("Both are the same number in its base.", "The numbers or their bases differ."),
    "date.time": ("Both are the same date and time.", "The dates or the times differ."),
    "date.other": ("", "Only one of them is a date or a time."),
    "date": ("Both are the same date.", "The dates differ."),
    "time": ("Both are the same time.", "The times differ."),
    "expression.logic": ("Both are the same formula of logic.", ""),
    "expression.form": ("", "They are equal, but only one of them has the form the question asks for."),
    "expression.restated": ("", "The answer only repeats an expression of the question instead of evaluating it."),
    "expression.unevaluated": ("", "Only one of them is evaluated; the other still contains a sum, integral or limit."),
    "state.term": ("Both are the same: {value}.", "They are different things."),
    "state": ("Both give {value}.", ""),
    "tuple": ("Both have equal members in the same order.", "They do not have equal members in the same order."),
    "list.parts": ("Every part of the reference has an equal part.", "A part differs from the reference's."),
    "list.stated": ("The box gives one part of the reference, and the reply's end states the others.", ""),
    "choice.letter": ("Both choose {value}.", ""),
    "choice.none": ("", "The reference is an option, and the completion's answer is not an option."),
}
"""Sentences that explain "correct" and "incorrect", by rule or by the first part of a rule's name. They are more
specific than those of the reason.
"""


def title(code: str) -> str:
    """Return a reason code in a few words; "" for an unknown code."""
    return REASONS[code].title if code in REASONS else ""


def code_with_title(code: str) -> str:
    """Return a reason code with its title: ``"letter - compared as option letters"``."""
    words = title(code)
    return f"{code} - {words}" if words else code


def explain_verdict(outcome: str, reason: str | None, rule: str | None = None, value: str = "") -> str:
    """Explain a verdict in a sentence; "" if its codes are unknown.

    Args:
        outcome: The verdict, such as ``"correct"``.
        reason: Its reason code.
        rule: The rule that fired.
        value: The reference's final answer if it is short enough for a sentence; else "".
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
