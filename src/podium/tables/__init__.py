"""Reading tables and profiling them: column kinds, roles, dates and relations."""
