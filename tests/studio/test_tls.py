"""TLS: the certificate that the studio makes, the user's own, and the guards under https."""

import datetime
import ipaddress
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from commands import exll
from exll.errors import InputError
from exll.studio import certificates
from exll.studio.addresses import certified_names, reachable
from exll.studio.certificates import given_certificate, own_certificate
from served import PATIENCE, served

TOKEN = "a-token-of-some-length"
NAMES = ("192.168.1.20", "a-machine.local")


def test_the_certificate_is_for_every_name_and_no_longer_than_browsers_allow(tmp_path: Path) -> None:
    made = own_certificate(NAMES, tmp_path)
    certificate = x509.load_pem_x509_certificate(made.file.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == {"localhost", "a-machine.local"}
    addresses = ("127.0.0.1", "::1", "192.168.1.20")
    assert set(names.get_values_for_type(x509.IPAddress)) == set(map(ipaddress.ip_address, addresses))
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc <= datetime.timedelta(days=397)
    assert made.fingerprint == certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def test_the_key_is_for_its_owner_only(tmp_path: Path) -> None:
    made = own_certificate(NAMES, tmp_path / "new")
    assert made.file.stat().st_mode & 0o777 == 0o600
    assert made.file.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in made.file.parent.iterdir()] == [made.file.name]
    made.file.chmod(0o644)  # others may have read it
    assert own_certificate(NAMES, tmp_path / "new").fingerprint != made.fingerprint
    assert made.file.stat().st_mode & 0o777 == 0o600


def test_the_certificate_stays_while_it_can_and_is_made_anew_when_it_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own_certificate(NAMES, tmp_path)
    assert own_certificate(NAMES, tmp_path) == first
    assert own_certificate(NAMES[:1], tmp_path) == first  # an address fewer
    second = own_certificate((*NAMES, "10.0.0.9"), tmp_path)
    assert second.fingerprint != first.fingerprint
    second.file.write_bytes(second.file.read_bytes()[:-200])
    third = own_certificate(NAMES, tmp_path)
    assert third.fingerprint != second.fingerprint
    monkeypatch.setattr(certificates, "LEAST_LEFT", datetime.timedelta(days=400))
    assert own_certificate(NAMES, tmp_path).fingerprint != third.fingerprint


def test_names_that_no_certificate_can_hold_are_left_out(tmp_path: Path) -> None:
    made = own_certificate(("", "küche", "two words", "a" * 300), tmp_path)
    assert own_certificate((), tmp_path) == made


def test_others_reach_it_where_it_listens_and_nowhere_else() -> None:
    assert reachable("127.0.0.1") == reachable("localhost") == []
    assert reachable("192.168.1.20") == ["192.168.1.20"]
    for found in map(ipaddress.ip_address, reachable("0.0.0.0")):
        assert found.version == 4
        assert not found.is_loopback
        assert not found.is_link_local
    assert {"192.168.1.20", "proxy.example"} <= certified_names("192.168.1.20", ["proxy.example"])


def test_a_local_network_comes_first_and_bridges_last(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [("172.17.0.1", True), ("fd00::2", False), ("8.8.4.4", False), ("192.168.1.20", False)]
    as_addresses = [(ipaddress.ip_address(address), is_bridge) for address, is_bridge in found]
    monkeypatch.setattr("exll.studio.addresses._addresses", lambda: as_addresses)
    assert reachable("0.0.0.0") == ["192.168.1.20", "8.8.4.4", "172.17.0.1"]
    assert reachable("::") == ["192.168.1.20", "8.8.4.4", "fd00::2", "172.17.0.1"]
    assert "172.17.0.1" not in certified_names("0.0.0.0", [])


def test_under_tls_the_guards_hold_and_the_cookie_is_secure(tmp_path: Path) -> None:
    certificate = own_certificate((), tmp_path / "tls")
    with served(tmp_path / "p", "0.0.0.0", TOKEN, certificate=certificate) as studio:
        client, own = studio.client, studio.address.rstrip("/")
        assert own.startswith("https://127.0.0.1:")
        assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 403
        assert (
            client.post("/login", data={"token": TOKEN}, headers={"Origin": "https://evil.example"}).status_code == 403
        )
        response = client.post("/login", data={"token": TOKEN}, headers={"Origin": own})
        assert (response.status_code, response.headers["location"]) == (303, "/")
        cookie = response.headers["set-cookie"]
        assert all(word in cookie for word in ("Secure", "HttpOnly", "SameSite=strict"))
        answer = client.get("/api/project", headers={"Origin": own})
        assert answer.status_code == 200
        assert "strict-transport-security" not in answer.headers  # a browser would refuse the way around its warning
        with pytest.raises(httpx.TransportError):
            httpx.get(own.replace("https", "http"), timeout=PATIENCE)  # closed at once
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(own, timeout=PATIENCE)
        assert client.get("/healthz").status_code == 200


def test_the_user_s_own_certificate_is_served_and_no_fingerprint_is_shown(tmp_path: Path) -> None:
    file, key = split(tmp_path, "one")
    given = given_certificate(file, key)
    assert given.fingerprint is None
    with served(tmp_path / "p", certificate=given) as studio:
        assert studio.client.get("/healthz").status_code == 200


def test_behind_a_proxy_with_tls_the_cookie_is_secure_too(tmp_path: Path) -> None:
    with served(tmp_path / "p", "0.0.0.0", TOKEN) as studio:
        names = {"Host": "localhost", "Origin": "https://localhost"}
        assert "Secure" in studio.client.post("/login", data={"token": TOKEN}, headers=names).headers["set-cookie"]
        assert "Secure" not in studio.client.post("/login", data={"token": TOKEN}).headers["set-cookie"]


def test_what_is_wrong_with_a_certificate_is_said_in_one_sentence(tmp_path: Path) -> None:
    (file, key), (_, other) = split(tmp_path, "one"), split(tmp_path, "two")
    (tmp_path / "text.pem").write_text("no certificate")
    locked = serialization.load_pem_private_key(key.read_bytes(), None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"a password"),
    )
    (tmp_path / "locked.pem").write_bytes(locked)
    for certificate, its_key, words in (
        (file, other, "does not belong to the certificate"),
        (tmp_path / "none.pem", key, "none.pem cannot be read: No such file"),
        (tmp_path / "text.pem", key, "must be a certificate and its key"),
        (key, file, "must be a certificate and its key"),
        (file, tmp_path / "locked.pem", "is protected by a password"),
    ):
        with pytest.raises(InputError, match=words):
            given_certificate(certificate, its_key)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--certificate", "x.pem"), "give --certificate FILE and --key FILE together"),
        (("--key", "x.pem"), "give --certificate FILE and --key FILE together"),
        (("--certificate", "x.pem", "--key", "y.pem", "--no-tls"), "leave one of them out"),
        (("--certificate", "x.pem", "--key", "y.pem"), "x.pem cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_opened(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    result = exll("studio", tmp_path / "p", "--no-browser", *options, cwd=tmp_path)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert words in result.stderr
    assert not (tmp_path / "p").exists()


def test_a_folder_that_cannot_be_written_is_named_with_the_ways_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot be kept in .*file.* --certificate and --key, or --no-tls"):
        own_certificate((), tmp_path / "file")


def split(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate and its key as two files, as an authority gives them."""
    made = own_certificate((), folder / f"made-{name}").file.read_text()
    file, key = folder / f"{name}.pem", folder / f"{name}-key.pem"
    certificate, begin, rest = made.partition("-----BEGIN PRIVATE KEY-----")
    file.write_text(certificate)
    key.write_text(begin + rest)
    return file, key
