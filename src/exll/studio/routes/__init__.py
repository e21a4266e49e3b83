"""The JSON API and the pages, one file per noun."""
