.PHONY: check lint types layers test messages

check: lint types layers test

lint:
	ruff format --check .
	ruff check .

types:
	mypy

layers:
	lint-imports

test:
	python -m pytest

CATALOGUE = agent/locale/de/LC_MESSAGES/pv_agent

# gathers the messages of the source into the catalogue, where what is new waits for its translation, and compiles it
messages:
	mkdir -p build
	pybabel -q extract --no-default-keywords -k tr -k noted -k trn:1,2 --no-wrap --sort-by-file --add-location=file -o build/pv_agent.pot agent
	pybabel -q update -l de -i build/pv_agent.pot -o $(CATALOGUE).po --no-wrap --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date
	pybabel -q compile -l de -i $(CATALOGUE).po -o $(CATALOGUE).mo
