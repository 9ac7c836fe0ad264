# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options of the ssh command as connection variables.

ssh takes the first value that it sees for an option, and Ansible puts its own in front of ansible_ssh_common_args.
So what Ansible has a variable for (key, port, user, time limit) has to become that variable, and only the rest
may go into the common arguments. These reach sftp and scp as well, whose letters mean other things:
the rest is therefore written with -o.

Note that this plugin util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import os
import re
import shlex
import typing as t

from ansible_collections.gshare.cluster.plugins.plugin_utils._cluster_info_keys import Wrong, nearest

# What ssh uses where SSH_OPTS is not given: a new machine's key is taken, a changed one is refused.
DEFAULT = "-o StrictHostKeyChecking=accept-new"

# ssh_config(5) up to OpenSSH 10, with the names that are accepted from older times.
_KEYWORDS = """
AddKeysToAgent AddressFamily BatchMode BindAddress BindInterface CanonicalDomains CanonicalizeFallbackLocal
CanonicalizeHostname CanonicalizeMaxDots CanonicalizePermittedCNAMEs CASignatureAlgorithms CertificateFile
ChallengeResponseAuthentication ChannelTimeout CheckHostIP Ciphers ClearAllForwardings Compression ConnectionAttempts
ConnectTimeout ControlMaster ControlPath ControlPersist DynamicForward EnableEscapeCommandline EnableSSHKeysign
EscapeChar ExitOnForwardFailure FingerprintHash ForkAfterAuthentication ForwardAgent ForwardX11 ForwardX11Timeout
ForwardX11Trusted GatewayPorts GlobalKnownHostsFile GSSAPIAuthentication GSSAPIClientIdentity
GSSAPIDelegateCredentials GSSAPIKexAlgorithms GSSAPIKeyExchange GSSAPIRenewalForcesRekey GSSAPIServerIdentity
GSSAPITrustDns HashKnownHosts HostbasedAcceptedAlgorithms HostbasedAuthentication HostbasedKeyTypes HostKeyAlgorithms
HostKeyAlias Hostname IdentitiesOnly IdentityAgent IdentityFile IgnoreUnknown IPQoS KbdInteractiveAuthentication
KbdInteractiveDevices KexAlgorithms KnownHostsCommand LocalCommand LocalForward LogLevel LogVerbose MACs
NoHostAuthenticationForLocalhost NumberOfPasswordPrompts ObscureKeystrokeTiming PasswordAuthentication
PermitLocalCommand PermitRemoteOpen PKCS11Provider Port PreferredAuthentications ProxyCommand ProxyJump
ProxyUseFdpass PubkeyAcceptedAlgorithms PubkeyAcceptedKeyTypes PubkeyAuthentication RefuseConnection RekeyLimit
RemoteCommand RemoteForward RequestTTY RequiredRSASize RevokedHostKeys SecurityKeyProvider SendEnv
ServerAliveCountMax ServerAliveInterval SessionType SetEnv StdinNull StreamLocalBindMask StreamLocalBindUnlink
StrictHostKeyChecking SyslogFacility Tag TCPKeepAlive Tunnel TunnelDevice UpdateHostKeys UseKeychain User
UserKnownHostsFile VerifyHostKeyDNS VersionAddendum VisualHostKey WarnWeakCrypto XAuthLocation
"""
KEYWORDS = {name.lower(): name for name in _KEYWORDS.split()}

_YES_NO = ("yes", "no", "true", "false")
_VALUES = {
    "stricthostkeychecking": (*_YES_NO, "ask", "accept-new", "off"),
    "addressfamily": ("any", "inet", "inet6"),
    "batchmode": _YES_NO,
    "compression": _YES_NO,
    "identitiesonly": _YES_NO,
    "pubkeyauthentication": _YES_NO,
    "tcpkeepalive": _YES_NO,
}
# What contradicts the way in which Ansible uses ssh: keyword, value (None: any), remedy.
_CONTRADICTIONS = (
    ("passwordauthentication", ("yes", "true"), "give the password with --ask-pass"),
    ("kbdinteractiveauthentication", ("yes", "true"), "give the password with --ask-pass"),
    ("challengeresponseauthentication", ("yes", "true"), "give the password with --ask-pass"),
    ("controlmaster", ("no", "false"), "set ssh_args in ansible.cfg"),
    ("controlpersist", ("no", "false"), "set ssh_args in ansible.cfg"),
    ("hostname", None, "remove it: each machine has its own address"),
    ("remotecommand", None, "remove it: Ansible runs its own commands"),
    ("requesttty", None, "remove it: Ansible asks for a terminal where it needs one"),
    ("sessiontype", None, "remove it: Ansible runs its own commands"),
    ("forkafterauthentication", None, "remove it: Ansible keeps the connection itself"),
    ("stdinnull", None, "remove it: Ansible uses the input of ssh"),
)

# Letters of ssh that have a name for -o, with the value where the letter takes none.
_WITH_VALUE = {
    "B": "BindInterface",
    "b": "BindAddress",
    "c": "Ciphers",
    "I": "PKCS11Provider",
    "J": "ProxyJump",
    "m": "MACs",
    "P": "Tag",
    "S": "ControlPath",
}
_ALONE = {
    "4": "AddressFamily=inet",
    "6": "AddressFamily=inet6",
    "A": "ForwardAgent=yes",
    "a": "ForwardAgent=no",
    "C": "Compression=yes",
    "K": "GSSAPIAuthentication=yes",
    "k": "GSSAPIDelegateCredentials=no",
    "q": "LogLevel=QUIET",
    "x": "ForwardX11=no",
}
_REFUSED = {
    **dict.fromkeys("DELORQWwe", "remove it: it is for a session by hand"),
    **dict.fromkeys("fGgMNnsTtVXYy", "remove it: it is for a session by hand"),
    "v": "remove it, and give -vvvv to ansible-playbook instead",
}
_TAKES_VALUE = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+\\@-]*")


def user_name(value: str) -> str:
    """Check the name of an account to log in with."""
    if not _USER.fullmatch(value):
        raise Wrong(f"'{value}' is not a user name", "write it as USER@ADDRESS")
    return value


class _Options:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.keys: list[str] = []
        self.variables: dict[str, t.Any] = {}
        self.common: list[str] = []
        self.wrongs: list[Wrong] = []

    def letter(self, letter: str, value: str) -> None:
        if letter == "i":
            self.keys.append(self.path(value))
        elif letter == "o":
            self.option(value)
        elif letter == "p":
            self.option(f"Port={value}")
        elif letter == "l":
            self.option(f"User={value}")
        elif letter == "F":
            self.common += ["-F", self.path(value)]
        elif letter in _WITH_VALUE:
            self.option(f"{_WITH_VALUE[letter]}={value}")
        elif letter in _ALONE:
            self.option(_ALONE[letter])
        else:
            raise Wrong(f"ssh has no option -{letter}", "see ssh(1)")

    def option(self, text: str) -> None:
        """Take KEYWORD=VALUE, the argument of -o."""
        match = re.fullmatch(r"\s*([A-Za-z0-9]+)(?:\s*=\s*|\s+)(.*\S)\s*", text, re.S)
        if not match:
            raise Wrong(f"'-o {text}' is not KEYWORD=VALUE", "write it as -o KEYWORD=VALUE")
        keyword, value = match.group(1).lower(), match.group(2)
        if keyword not in KEYWORDS:
            near = nearest(keyword, KEYWORDS.values())
            remedy = f"did you mean {near}?" if near else "if your ssh is newer, put it into ~/.ssh/config"
            raise Wrong(f"ssh has no option '{match.group(1)}'", remedy)
        _check(keyword, KEYWORDS[keyword], value)
        handler = getattr(self, f"take_{keyword}", None)
        if handler:
            handler(value)
        else:
            self.common += ["-o", f"{KEYWORDS[keyword]}={value}"]

    def take_port(self, value: str) -> None:
        if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
            raise Wrong(f"'{value}' is not a port", "write a number between 1 and 65535")
        self.once("ansible_port", int(value), "the port")

    def take_user(self, value: str) -> None:
        if not _USER.fullmatch(value):
            raise Wrong(f"'{value}' is not a user name", "write it as -l USER")
        self.once("ansible_user", value, "the user")

    def take_connecttimeout(self, value: str) -> None:
        match = re.fullmatch(r"([0-9]{1,6})([sm]?)", value.lower())
        if not match or int(match.group(1)) == 0:
            raise Wrong(f"'ConnectTimeout={value}' is not a time limit", "write a number of seconds")
        self.once("ansible_ssh_timeout", int(match.group(1)) * (60 if match.group(2) == "m" else 1), "the time limit")

    def take_identityfile(self, value: str) -> None:
        quoted = re.fullmatch(r'"((?:[^"\\]|\\.)*)"', value)
        if quoted:
            value = re.sub(r"\\([\"'\\])", r"\1", quoted.group(1))
        if value.lower() == "none":
            self.common += ["-o", "IdentityFile=none"]
        else:
            self.keys.append(self.path(value))

    def once(self, variable: str, value: t.Any, name: str) -> None:
        before = self.variables.setdefault(variable, value)
        if before != value:
            raise Wrong(f"{name} is given twice, as '{before}' and as '{value}'", "keep one of them")

    def path(self, value: str) -> str:
        """Make a path absolute: ~ is the home folder, and a relative one begins where the file lies.

        A path that begins with a percent sign or a dollar sign is one for ssh to fill in.
        """
        if value.startswith("~"):
            return os.path.expanduser(value)
        if value.startswith(("/", "%", "${")) or not self.folder:
            return value
        return os.path.join(self.folder, value)

    def result(self) -> dict[str, t.Any]:
        common = list(self.common)
        keys = list(self.keys)
        # Ansible writes IdentityFile="PATH" with the quotes in PATH as they are, which ssh refuses; -i takes all.
        if keys and not re.search(r'["\\]', keys[0]):
            self.variables["ansible_ssh_private_key_file"] = keys.pop(0)
        for key in keys:
            common += ["-i", key]
        if common:
            self.variables["ansible_ssh_common_args"] = shlex.join(common)
        return self.variables


def _check(keyword: str, name: str, value: str) -> None:
    for refused, values, remedy in _CONTRADICTIONS:
        if keyword == refused and (values is None or value.lower() in values):
            raise Wrong(f"'{name}={value}' does not go together with Ansible", remedy)
    allowed = _VALUES.get(keyword)
    if allowed and value.lower() not in allowed:
        raise Wrong(f"'{name}={value}' is a value that ssh refuses", f"use one of {', '.join(allowed)}")


def _letters(words: list[str]) -> t.Iterator[tuple[str, str | None]]:
    """Split words as ssh does: letters can stand together, and a value can follow its letter directly."""
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if not re.match(r"-[^-]", word):
            yield "", word
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in _TAKES_VALUE:
                value = letters or (rest.pop() if rest else None)
                yield letter, value
                break
            yield letter, ""


def parse(text: str, folder: str = "") -> tuple[dict[str, t.Any], list[Wrong]]:
    """Turn options of ssh into connection variables, and say what cannot be turned."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        what = "a quote is not closed" if "quotation" in str(error) else "there is nothing behind the backslash"
        return {}, [
            Wrong(f"{what} in '{text}'", "close it: a path with spaces needs quotes inside the quotes of the value")
        ]
    options = _Options(folder)
    for letter, value in _letters(words):
        try:
            if not letter:
                raise Wrong(
                    f"'{value}' is not an option of ssh",
                    "an option begins with -, and a value with spaces needs quotes",
                )
            if letter in _REFUSED:
                raise Wrong(f"-{letter} does not go together with Ansible", _REFUSED[letter])
            if not value and letter in _TAKES_VALUE:
                raise Wrong(f"there is nothing behind -{letter}", "give its value")
            options.letter(letter, value or "")
        except Wrong as wrong:
            options.wrongs.append(wrong)
    return options.result(), options.wrongs
