"""Embeddings of texts, from a model server or a model on this machine.

Control tokens in texts are broken, as in what judges read, so that no text can end early.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.runs.generation import Models, Watch, generating
from workbench.verifiers.control_tokens import neutralised

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray


def from_server(
    project: Project,
    name: str,
    models: Models,
    texts: Sequence[str],
    *,
    trust: bool = False,
    watch: Watch | None = None,
) -> FloatArray:
    """A row a text, by a server's ``embeddings`` call; each text is asked for once, ever.

    Raises:
        NotTrustedError: The servers come from a file, and the user has not accepted them.
        RunError: The server gives none.
    """
    import numpy as np

    with generating(project, f"embeddings/{name}", models, {}, trust=trust, watch=watch) as writer:
        return np.array(writer.embed([neutralised(text) for text in texts]))


def from_local(model: str, texts: Sequence[str]) -> FloatArray:
    """A row a text, by sentence-transformers on this machine.

    Only weights in the safetensors format are read, and no code that comes with a model is run.

    Raises:
        UsageError: sentence-transformers is not installed.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise UsageError(
            "sentence-transformers is not installed.", "Run: pip install 'verifier-workbench[embeddings]'"
        ) from error
    loaded = SentenceTransformer(model, trust_remote_code=False, model_kwargs={"use_safetensors": True})
    found: FloatArray = loaded.encode(
        [neutralised(text) for text in texts], convert_to_numpy=True, show_progress_bar=False
    )
    return found
