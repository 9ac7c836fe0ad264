# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes secrets out of configurations, logs and lists of processes: text in, text out.

What looks like a secret goes, rather too much than too little; versions, addresses, digests and certificates stay.
Here are the secrets that show by themselves; those that a name tells are in _redact_names.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import re

from ansible_collections.gshare.cluster.plugins.module_utils._redact_names import MARK, redact_named

# Every rule begins with fixed letters and looks at no more than a few hundred, so that long texts take no long time.
_RULES = (
    (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", MARK),
    # The same in base64, of the kinds RSA, EC, ENCRYPTED, OPENSSH and without a kind.
    (r"LS0tLS1CRUdJTi(?:BSU0E|BFQy|BFTkNSWVBURUQ|BPUEVOU1NI|BQUklWQVRF)[\w+/=]*", MARK),
    # The lines of a vault, which in JSON are parted by a backslash and an n.
    (r"\$ANSIBLE_VAULT;[\w.;-]+?(?=\\n|\s)(?:(?:\\n|\s)+[0-9a-f]{2,}\b)*", MARK),
    # JSON Web Tokens, bootstrap tokens, hashes of passwords, tokens of well-known services.
    (r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*", MARK),
    (r"(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w-]|\.\w)", MARK),
    (r"\$(?:2[abxy]?|apr1|1|5|6|7|y|gy|argon2\w*)\$[\w./$=,+-]{20,}", MARK),
    (r"\{S?SHA\d*\}[\w+/=]{20,}", MARK),
    (r"\b(?:gh[pousr]_|github_pat_|glpat-|nvapi-|hf_|xox[abprs]-|dckr_pat_|AKIA|ASIA)[\w-]{16,}", MARK),
    (r"(?i)\b(bearer|basic)[ \t]+[\w.~+/-]{8,}=*", rf"\1 {MARK}"),
    # User and password before a host. A number up to a slash is a port, and what follows it a path.
    (r"""(://)[^\s/:@\["'<>]*:(?!\d+/)[^\s"'<>]{0,300}@""", rf"\1{MARK}@"),
    (r"""(https?://)[^\s/"'<>]{1,300}@""", rf"\1{MARK}@"),
    (
        r"""((?:proxy|Proxy|PROXY)\\*["']?[ \t]*[:=][ \t]*\\*["']?)(?!\w+://)[^\s/:@"']{1,99}:[^\s"']{1,300}@""",
        rf"\1{MARK}@",
    ),
    # User and password on a command line; two numbers are ids.
    (r"""((?<!\S)\\*["']?(?:-u|--user|--proxy-user)[=\s"',\\]+[\w.@-]{1,99}:)(?!\d+\b)[^\s"']+""", rf"\1{MARK}"),
    (r"(\b(?:sshpass|login)[ \t][^\n]{0,200}?(?<=\s)-p[ \t]*)(?![ \t])\S+", rf"\1{MARK}"),
    # What netrc and apt call so.
    (r"(?m)(^[ \t]*password[ \t]+)(?!\s|:|[+?]?=)\S+", rf"\1{MARK}"),
    (r"(\bmachine[ \t]+\S[^\n]{0,200}?[ \t]password[ \t]+)(?!\s|:|[+?]?=)\S+", rf"\1{MARK}"),
)
_COMPILED = tuple((re.compile(pattern), into) for pattern, into in _RULES)


def redact(text: str) -> str:
    """The text without secrets. Doing it twice changes nothing more."""
    for pattern, into in _COMPILED:
        text = pattern.sub(into, text)
    return redact_named(text)
