"""The tools that a model may call: confined, counted, recorded, and safe from whatever it asks (rules A12, G4, H3)."""

from verifyplan.agents.tools.definitions import WebCall as WebCall
from verifyplan.agents.tools.definitions import WebRules as WebRules
from verifyplan.agents.tools.definitions import tool_definitions as tool_definitions
from verifyplan.agents.tools.memory import Memory as Memory
from verifyplan.agents.tools.memory import Note as Note
from verifyplan.agents.tools.toolkit import ModelToolkit as ModelToolkit
from verifyplan.agents.tools.toolkit import ToolResult as ToolResult
