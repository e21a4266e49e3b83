"""The JSON API and the pages, one small file a noun."""
