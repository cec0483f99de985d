"""Task data: folders, download, splits, checksums, manifests and preparation."""
