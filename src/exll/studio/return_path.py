"""The page that was asked for, to come back to after logging in."""

LONGEST_PATH = 1000
NOT_TO = ("/login", "/logout", "/enter")


def return_path(given: str) -> str:
    """A path of this server, and nothing that a browser could take for an address elsewhere; "/" instead of others.

    >>> [return_path(given) for given in ("/map?x=1", "//evil.example", "https://evil.example", "/login")]
    ['/map?x=1', '/', '/', '/']
    """
    is_local = given.startswith("/") and not given.startswith("//") and "\\" not in given and given.isprintable()
    leads_back = given.partition("?")[0].partition("#")[0] in NOT_TO
    return given if is_local and not leads_back and len(given) <= LONGEST_PATH else "/"
