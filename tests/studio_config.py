"""Label Studio's labelling configuration for exported files, as docs/export.md shows it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.label import EXCLUSION_REASONS, TAGS
from workbench.core.taxonomy import SUBTYPES
from workbench.data.formats.carried import LINE, VERDICTS


def _choices_control(name: str, values: Iterable[str], more: str = "") -> str:
    options = "".join(f'<Choice value="{value}"/>' for value in values)
    return f'  <Choices name="{name}" toName="completion" {more}>{options}</Choices>\n'


CONFIG = (
    "<View>\n"
    '  <Header value="Question"/><Text name="question" value="$question"/>\n'
    '  <Header value="Reference"/><Text name="reference" value="$reference"/>\n'
    '  <Header value="Completion"/><Text name="completion" value="$completion"/>\n'
    + _choices_control("verdict", VERDICTS, 'choice="single" showInLine="true"')
    + _choices_control("reason", EXCLUSION_REASONS, 'choice="single" showInLine="true"')
    + _choices_control("answer_subtype", SUBTYPES, 'choice="single" showInLine="true"')
    + _choices_control("tags", TAGS, 'choice="multiple" showInLine="true"')
    + _choices_control("unsure", ("unsure",), 'choice="multiple"')
    + '  <TextArea name="note" toName="completion" maxSubmissions="1" editable="true"/>\n'
    f'  <View style="display:none"><TextArea name="{LINE}" toName="completion"/></View>\n'
    "</View>\n"
)
