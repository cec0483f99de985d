"""Results one can trust and look at: tables, statistics, comparisons, exports, pages."""
