"""A real repository, read for the offline agents: confined, lazily, and whatever it holds (rules G2, G4, H3)."""

from verifyplan.repository.records import Commit as Commit
from verifyplan.repository.records import FileEntry as FileEntry
from verifyplan.repository.records import Match as Match
from verifyplan.repository.records import Skipped as Skipped
from verifyplan.repository.repository import Repository as Repository
