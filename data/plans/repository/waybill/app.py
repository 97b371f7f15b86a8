"""The application: its routers, the health check, and a comparison with openapi.yaml."""

import sys
from pathlib import Path

import yaml
from fastapi import FastAPI

from waybill import __version__
from waybill.api import customers, parcels

PREFIX = "/api/v1"

app = FastAPI(title="Waybill", version=__version__)
app.include_router(parcels.router, prefix=PREFIX)
app.include_router(customers.router, prefix=PREFIX)


@app.get("/healthz")
def healthz() -> dict[str, str]:
    """Alive; does not touch the database."""
    return {"status": "ok", "version": __version__}


def undocumented(document: Path) -> set[str]:
    """Paths under the prefix that the document lacks, or has too many."""
    written = set(yaml.safe_load(document.read_text())["paths"])
    served = {path.removeprefix(PREFIX) for path in app.openapi()["paths"] if path.startswith(PREFIX)}
    return written ^ served


if __name__ == "__main__":
    differing = undocumented(Path(sys.argv[1]))
    sys.exit(f"openapi differs: {sorted(differing)}" if differing else 0)
