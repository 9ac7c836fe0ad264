# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes secrets out of configurations, logs and lists of processes: text in, text out.

What looks like a secret goes, rather too much than too little; versions, addresses, digests and certificates stay.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

MARK = "REDACTED"
_NAME = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|client-key-data|"
    r"credentials?)[\w.-]*"
)
# What follows these names is no secret: names of objects, files and times.
_HARMLESS = (
    r"(?![\w.-]*(?:secret[-_]?name|secretref|token[-_]?(?:ttl|expiration\w*|webhook\w*|file|path)|-file|_file|_path)\b)"
)
# A list, a block or a word that is no secret begins here.
_OTHER = r"(?![\[{|>&*]|\s*$|null\b|true\b|false\b)"
_VALUE = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"',;}\]]+)"""
_RULES = (
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", MARK),
    (r"\$ANSIBLE_VAULT;[^\n]*(?:\n\s*[0-9a-f]{20,})+", MARK),
    # JSON Web Tokens, bootstrap tokens, hashes of passwords.
    (r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", MARK),
    (r"(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])", MARK),
    (r"\$(?:2[aby]|1|5|6|y)\$[\w./$=,-]{20,}", MARK),
    (r"(?i)\b(bearer|basic)\s+[\w.~+/-]{8,}=*", rf"\1 {MARK}"),
    (r"://[^/\s:@]*:[^/\s@]+@", f"://{MARK}@"),
    # The environment of a container in YAML, where name and value stand in two lines.
    (rf"(?i)(\bname:\s*{_HARMLESS}{_NAME}\s*\n\s*value:\s*)(?!$)[^\n]+", rf"\1{MARK}"),
    # KEY=value, key: value, "key": "value", --key value.
    (
        rf"""(?i)(["']?(?<![\w.-]){_HARMLESS}{_NAME}["']?[ \t]*[:=][ \t]*){_OTHER}{_VALUE}""",
        rf"\1{MARK}",
    ),
    (rf"(?i)(--{_HARMLESS}{_NAME}\s+)(?!-){_VALUE}", rf"\1{MARK}"),
    (rf"""(?i)((?<![\w.-])["']?_?auth["']?[ \t]*[:=][ \t]*)(?![\[{{|>]|\s*$){_VALUE}""", rf"\1{MARK}"),
    (r"(?im)^(\s*(?:machine\s+\S+\s+)?(?:login\s+\S+\s+)?password\s+)\S+", rf"\1{MARK}"),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL if "BEGIN" in pattern else 0), into) for pattern, into in _RULES)


def redact(text: str) -> str:
    """The text without secrets. Doing it twice changes nothing more."""
    for pattern, into in _COMPILED:
        text = pattern.sub(into, text)
    return text
