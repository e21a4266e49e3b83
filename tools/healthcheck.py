"""Whether the studio at a port of this machine answers: ``python healthcheck.py 8765``. Exits with 1 where it does not.

The certificate is not checked, since the studio makes its own, and nothing but "well" or "not" is asked.
"""

import ssl
import sys
import urllib.request

SECONDS = 4


def is_well(port: int) -> bool:
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    direct = urllib.request.ProxyHandler({})  # a proxy of the environment does not lead to this machine
    opener = urllib.request.build_opener(direct, urllib.request.HTTPSHandler(context=unchecked))
    for scheme in ("https", "http"):  # http after --no-tls
        try:
            with opener.open(f"{scheme}://127.0.0.1:{port}/healthz", timeout=SECONDS) as answer:
                return bool(answer.status == 200)
        except (OSError, ValueError):
            continue
    return False


if __name__ == "__main__":
    sys.exit(0 if is_well(int(sys.argv[1])) else 1)
