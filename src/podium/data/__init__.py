"""Where data lies and how it is made: folders, links, checksums, manifests, preparation."""
