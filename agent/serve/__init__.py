"""Answers over HTTP and to assistants: the API with its page (`app`), and the MCP server (`tools`)."""
