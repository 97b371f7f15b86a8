"""A real repository, read for the offline agents: confined, lazily, and whatever it holds (SPEC G2, G4, H3)."""

from verifyplan.agents.repository.records import Commit as Commit
from verifyplan.agents.repository.records import FileEntry as FileEntry
from verifyplan.agents.repository.records import Match as Match
from verifyplan.agents.repository.records import Skipped as Skipped
from verifyplan.agents.repository.repository import Repository as Repository
