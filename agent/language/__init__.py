"""One analyser for index and query, and everything else that hangs on a language; pure, its tables are handed in."""

from agent.language.analyser import Language as Language
