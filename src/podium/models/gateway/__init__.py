"""Model access for programs inside the sandbox, in the protocols of OpenAI, Anthropic and Google."""
