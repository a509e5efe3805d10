"""The closed lists an answer is told with: reasons, flags, origins, labels, validity; all of them are published in its JSON Schema."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why an answer was refused, or why it is not what the configured generator would have written."""

    NO_EVIDENCE = "no_evidence"
    WEAK_EVIDENCE = "weak_evidence"
    OUT_OF_SCOPE = "out_of_scope"
    OUT_OF_DATE = "out_of_date"
    MODEL_REFUSED = "model_refused"
    CITATIONS_INVALID = "citations_invalid"
    FIGURES_UNSUPPORTED = "figures_unsupported"
    EMPTY_DRAFT = "empty_draft"
    DRAFT_CUT_OFF = "draft_cut_off"
    FORM_INVALID = "form_invalid"
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_TIMEOUT = "model_timeout"
    SOURCE_FAILED = "source_failed"
    AGENT1_INVALID_JSON = "agent1_invalid_json"
    AGENT1_LOW_CONFIDENCE = "agent1_low_confidence"
    AGENT1_NO_QUERY = "agent1_no_query"
    AGENT1_LOST_FOCUS = "agent1_lost_focus"
    AGENT2_INVALID_JSON = "agent2_invalid_json"
    AGENT2_GROUNDING_FAILED = "agent2_grounding_failed"
    AGENT2_OFF_QUESTION = "agent2_off_question"
    AGENT2_METADATA_LEAKAGE = "agent2_metadata_leakage"
    AGENT3_REJECT = "agent3_reject"
    AGENT3_INVALID_JSON = "agent3_invalid_json"
    AGENT3_INVALID_REVISION = "agent3_invalid_revision"
    AGENT4_INVALID_JSON = "agent4_invalid_json"
    AGENT4_GROUNDING_FAILED = "agent4_grounding_failed"
    REVIEW_UNAVAILABLE = "review_unavailable"
    AGENT_TIMEOUT = "agent_timeout"
    THIN_EVIDENCE = "thin_evidence"


class Flag(StrEnum):
    """A remark on how an answer came about that a program may want to act on."""

    HOP_LIMIT = "hop_limit"
    STEP_LIMIT = "step_limit"
    SEARCH_FAILED = "search_failed"
    LEXICAL_ONLY = "lexical_only"
    KB_NEWER_THAN_INDEX = "kb_newer_than_index"
    UNGROUNDED = "ungrounded"
    PARTIAL = "partial"
    SENTENCE_DROPPED = "sentence_dropped"
    CHANGES_WITHIN_PERIOD = "changes_within_period"


class Origin(StrEnum):
    """Who wrote the text that is published."""

    POINT = "point"
    SURVEY = "survey"
    EXTRACTIVE = "extractive"
    STRATEGY = "strategy"
    AGENT2_REVIEWED = "agent2_reviewed"
    AGENT2_UNREVIEWED = "agent2_unreviewed"
    AGENT2_MINOR_REVISION = "agent2_minor_revision"
    AGENT4_CORRECTED = "agent4_corrected"
    FALLBACK = "fallback"
    REFUSAL = "refusal"
    UNGROUNDED = "ungrounded"


class Label(StrEnum):
    """How much retrieval a question needs (Jeong et al. 2024): none, one search, or several that build on each other."""

    A = "A"
    B = "B"
    C = "C"


class Validity(StrEnum):
    """How an entry's period of validity lies to the Stichtag."""

    CURRENT = "current"
    FUTURE = "future"
    PAST = "past"
    UNKNOWN = "unknown"


class Finish(StrEnum):
    """How a model's reply ended."""

    COMPLETE = "complete"
    LENGTH = "length"
    BROKEN = "broken"
