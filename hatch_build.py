"""The description that a package index shows: the README without links into the source, which lead nowhere there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or a picture whose place is a file beside the README.
BESIDE = re.compile(r"!?\[([^\]]*)\]\((?!\w+:|#)[^)]*\)")
WHERE = "The pages that this text names are in the project's folder `docs`.\n"


class Description(MetadataHookInterface):
    """Sets the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Leave the words of links and of pictures."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = f"{BESIDE.sub(lambda link: link[1], readme)}\n{WHERE}"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
