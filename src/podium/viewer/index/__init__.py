"""Data behind the pages: experiments, runs, transcripts and snapshots, read from their folders."""
