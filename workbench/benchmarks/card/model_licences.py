"""Licences as the Hugging Face Hub names them."""

from __future__ import annotations

import re
from typing import Final

_NAMES = """
afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bigcode-openrail-m bigscience-bloom-rail-1.0 bigscience-openrail-m bsd
bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0
cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0
creativeml-openrail-m deepfloyd-if-license ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 gemma gfdl gpl gpl-2.0
gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr llama2 lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 openrail
openrail++ osl-3.0 pddl postgresql unlicense wtfpl zlib
"""

HUB: Final = frozenset(_NAMES.split())
"""Identifiers the Hub knows (https://huggingface.co/docs/hub/repositories-licenses)."""

_OTHER = re.compile(r"[^a-z0-9.+-]+")


def hub_licence(licence: str | None) -> dict[str, str]:
    """The keys of a card's metadata that say a licence; any the Hub does not know is one of its ``other``.

    Args:
        licence: An identifier or a name, in any case; None for an unknown one.
    """
    if licence is None:
        return {"license": "unknown"}
    name = _OTHER.sub("-", licence.strip().lower()).strip("-")
    if name in HUB:
        return {"license": name}
    return {"license": "other", "license_name": name or "other", "license_link": "LICENSE.md"}
