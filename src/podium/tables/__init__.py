"""Tables: readers, and profiles with column kinds, roles, dates and relations."""
