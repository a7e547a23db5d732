"""Finding a text's final answer (extraction), and the card that shows annotators both final answers (card)."""

from workbench.core.final_answer.extraction import HOW as HOW
from workbench.core.final_answer.extraction import MAX_ANSWER as MAX_ANSWER
from workbench.core.final_answer.extraction import FinalAnswer as FinalAnswer
from workbench.core.final_answer.extraction import How as How
from workbench.core.final_answer.extraction import answer_after_cue as answer_after_cue
from workbench.core.final_answer.extraction import boxed_spans as boxed_spans
from workbench.core.final_answer.extraction import completion_answer as completion_answer
from workbench.core.final_answer.extraction import is_all_thought as is_all_thought
from workbench.core.final_answer.extraction import last_match as last_match
from workbench.core.final_answer.extraction import last_sentence as last_sentence
from workbench.core.final_answer.extraction import reference_answer as reference_answer
from workbench.core.final_answer.extraction import reply_start as reply_start
from workbench.core.final_answer.extraction import strip_answer as strip_answer
