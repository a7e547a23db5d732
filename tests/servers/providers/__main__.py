"""Writes docs/providers.md."""

from tests.documents import ROOT
from tests.servers.providers.document import document

(ROOT / "docs" / "providers.md").write_text(document(), encoding="utf-8")
