"""The reviewed chain: four roles round a finished answer, in the modes off, shadow and reviewed_answer; it never goes past grounding."""

from agent.review.chain import Desk as Desk
from agent.review.chain import Outcome as Outcome
from agent.review.chain import run as run
from agent.review.roles import ROLES as ROLES
from agent.review.shadow import Shadow as Shadow
