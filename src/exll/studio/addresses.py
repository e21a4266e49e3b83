"""Under which addresses the studio is found, here and from other machines."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator

from exll.studio.tokens import is_loopback

EVERY_ADDRESS = ("0.0.0.0", "::", "")
BRIDGES = ("docker", "br-", "veth", "virbr", "cni", "flannel", "podman", "lxc", "lxd", "vmnet", "vboxnet", "vethernet")


def reachable(host: str, bridges: bool = True) -> list[str]:
    """What other machines can use, where the studio listens on ``host``: IPv4 of a local network first, bridges to
    containers and virtual machines last or not at all."""
    if is_loopback(host):
        return []
    if host not in EVERY_ADDRESS:
        return [host]
    found = sorted(_addresses(), key=lambda one: (one[1], one[0].version, not one[0].is_private))
    return [str(address) for address, is_bridge in found if _listens(host, address) and (bridges or not is_bridge)]


def url_of(name: str, port: int, tls: bool) -> str:
    """
    >>> url_of("fd00::2", 8765, tls=True)
    'https://[fd00::2]:8765/'
    """
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}/"


def local_name(host: str) -> str:
    """How this machine itself reaches it."""
    return "::1" if host == "::" else "127.0.0.1" if host in EVERY_ADDRESS else host


def machine_names() -> set[str]:
    machine = socket.gethostname()
    return {machine, f"{machine}.local"}


def certified_names(host: str, names: Iterable[str]) -> set[str]:
    """What a certificate has to be for. Bridges come and go, and with each a browser would have to be told again."""
    own = set() if host in EVERY_ADDRESS else {host}
    return own | {*names} | machine_names() | {*reachable(host, bridges=False)}


def _listens(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return address.version == 4 or host == "::"


def _addresses() -> Iterator[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, bool]]:
    """Each with whether it is that of a bridge."""
    import ifaddr

    for adapter in ifaddr.get_adapters():
        is_bridge = str(adapter.nice_name).lower().startswith(BRIDGES)
        for found in adapter.ips:
            address = ipaddress.ip_address(found.ip if isinstance(found.ip, str) else found.ip[0])
            if not (address.is_loopback or address.is_link_local or address.is_unspecified):
                yield address, is_bridge
