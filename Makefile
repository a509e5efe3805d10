.PHONY: check lint types layers test

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
