"""TLS: the user's own certificate, or one that is made here, since a phone lends its camera to https pages only.

The one that is made is kept, so that a browser that was told once to trust it need not be told again.
"""

import datetime
import ipaddress
import os
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exll.errors import InputError
from exll.saving.whole_files import replacing

NAME = "studio.pem"
VALID = datetime.timedelta(days=396)  # with the day before: browsers refuse more than 398 days
BEFORE = datetime.timedelta(days=1)  # a phone's clock may be behind
LEAST_LEFT = datetime.timedelta(days=7)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_NAME = 253


@dataclass(frozen=True)
class Certificate:
    """``key`` is None where it is in the same file; ``fingerprint`` is that of one made here, and else None."""

    file: Path
    key: Path | None = None
    fingerprint: str | None = None


def given_certificate(file: Path, key: Path) -> Certificate:
    """The user's own; an error says what is wrong with it."""
    for path in (file, key):
        try:
            path.open("rb").close()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}. Name PEM files.") from error
    try:
        _load(file, key)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(
                f"the key {key} does not belong to the certificate {file}; give the two together."
            ) from error
        raise InputError(
            f"{file} and {key} must be a certificate and its key, both in PEM; they cannot be read as such."
        ) from error
    return Certificate(file, key)


def own_certificate(names: Iterable[str], folder: Path | None = None) -> Certificate:
    """For these names and addresses, and this machine itself. It is made where there is none, where it ends soon, and
    where it is not for all of them."""
    path = (folder or _data_folder()) / NAME
    wanted = _names({*LOOPBACK, *names})
    if (kept := _kept(path, wanted)) is not None:
        return kept
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacing(path) as temporary, open(temporary, "xb", opener=_private) as file:
            file.write(_made(wanted))
    except OSError as error:
        raise InputError(
            f"the studio's certificate cannot be kept in {path.parent}: {error.strerror}. Use --certificate and --key, "
            "or --no-tls."
        ) from error
    return Certificate(path, fingerprint=_fingerprint(x509.load_pem_x509_certificate(path.read_bytes())))


def _data_folder() -> Path:
    from platformdirs import user_data_path

    return user_data_path("exll", appauthor=False)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _load(file: Path, key: Path | None) -> None:
    def no_password() -> str:
        raise InputError(f"the key {key or file} is protected by a password; give one that is not.")

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(file, key, no_password)


def _kept(path: Path, wanted: set[x509.GeneralName]) -> Certificate | None:
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:  # others may have read the key
            return None
        _load(path, None)
        found = x509.load_pem_x509_certificate(path.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):  # none, or a damaged one
        return None
    ends_soon = found.not_valid_after_utc - LEAST_LEFT < datetime.datetime.now(datetime.UTC)
    return None if ends_soon or not wanted <= set(names) else Certificate(path, fingerprint=_fingerprint(found))


def _made(names: set[x509.GeneralName]) -> bytes:
    """Certificate and key in one file: no moment can leave one of them without the other."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "exll studio")])
    start = datetime.datetime.now(datetime.UTC) - BEFORE
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + BEFORE + VALID)
        .add_extension(x509.SubjectAlternativeName(sorted(names, key=str)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _names(names: Iterable[str]) -> set[x509.GeneralName]:
    """Names that cannot stand in a certificate are left out."""
    found: set[x509.GeneralName] = set()
    for name in names:
        try:
            found.add(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            if 0 < len(name) <= LONGEST_NAME and name.isascii() and name.isprintable() and " " not in name:
                found.add(x509.DNSName(name.lower()))
    return found


def _fingerprint(certificate: x509.Certificate) -> str:
    """As browsers show it."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
