# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pretend upstream: name server, web server and image registry on the bridge's address of a lab.

The name server answers the host names that the lab plays with that address and asks the machine's own name servers
about all others. The web server has a certificate for those names; it serves their files and hands image requests to
the registry.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

from nodelab import interrupts
from nodelab.cgroups import Groups
from nodelab.errors import LabError
from nodelab.paths import LAB_DIR

REGISTRY_PORT = 15000
DNS, WEB, REGISTRY = "dns", "web", "registry"
RESOLV_CONF = Path("/etc/resolv.conf")


@dataclass(frozen=True)
class Content:
    """What the upstream serves."""

    web: Path
    registry: Path
    registry_hosts: t.Sequence[str]
    certificate: Path
    key: Path

    @property
    def hosts(self) -> list[str]:
        """All host names that the lab plays."""
        static = [item.name for item in self.web.iterdir() if item.is_dir()] if self.web.is_dir() else []
        return sorted({*static, *self.registry_hosts})


def dnsmasq_config(address: str, hosts: t.Sequence[str]) -> str:
    """Return the configuration of the name server; `local` keeps questions for IPv6 addresses from the real one."""
    lines = [
        "port=53",
        f"listen-address={address}",
        "bind-interfaces",
        "except-interface=lo",
        "no-hosts",
        f"resolv-file={RESOLV_CONF}",
        "cache-size=1000",
        "user=root",
        "group=root",
        "keep-in-foreground",
        "pid-file=",
        "log-facility=-",
    ]
    for host in hosts:
        lines += [f"address=/{host}/{address}", f"local=/{host}/"]
    return "\n".join(lines) + "\n"


def nginx_config(address: str, content: Content, folder: Path) -> str:
    """Return the configuration of the web server."""
    servers = "".join(_server(address, host, content) for host in content.hosts)
    return f"""\
daemon off;
user root;
worker_processes 1;
pid "{folder}/nginx.pid";
error_log "{folder}/web-error.log" warn;
events {{ worker_connections 512; }}
http {{
  access_log "{folder}/web-access.log";
  client_body_temp_path "{folder}/tmp-body";
  proxy_temp_path "{folder}/tmp-proxy";
  fastcgi_temp_path "{folder}/tmp-fastcgi";
  uwsgi_temp_path "{folder}/tmp-uwsgi";
  scgi_temp_path "{folder}/tmp-scgi";
  types {{ }}
  default_type application/octet-stream;
  sendfile on;
  server_tokens off;
  ssl_certificate "{content.certificate}";
  ssl_certificate_key "{content.key}";
  ssl_session_cache shared:tls:1m;
  server {{
    listen {address}:443 ssl default_server;
    return 404;
  }}
{servers}}}
"""


def _server(address: str, host: str, content: Content) -> str:
    registry = ""
    if host in content.registry_hosts:
        registry = f"""
    location = /v2/ {{
      default_type application/json;
      add_header Docker-Distribution-Api-Version registry/2.0;
      return 200 "{{}}";
    }}
    location /v2/ {{
      limit_except GET {{ deny all; }}
      rewrite ^/v2/(.*)$ /v2/{host}/$1 break;
      proxy_pass http://{address}:{REGISTRY_PORT};
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-Proto https;
      proxy_buffering off;
    }}"""
    return f"""\
  server {{
    listen {address}:443 ssl;
    server_name {host};
    root "{content.web}/{host}";{registry}
  }}
"""


def registry_config(address: str, storage: Path) -> str:
    """Return the configuration of the registry; it only reads, so several labs can use the same images at once."""
    return f"""\
version: 0.1
log:
  level: warn
  accesslog:
    disabled: true
storage:
  filesystem:
    rootdirectory: "{storage}"
  maintenance:
    uploadpurging:
      enabled: false
    readonly:
      enabled: true
http:
  addr: {address}:{REGISTRY_PORT}
"""


class Upstream:
    """The three services of one lab; their files are in ``folder``."""

    def __init__(self, groups: Groups, folder: Path, address: str) -> None:
        self.groups = groups
        self.folder = folder
        self.address = address

    def start_dns(self, hosts: t.Sequence[str]) -> None:
        """Start the name server, which nodes need from their first moment on."""
        text = dnsmasq_config(self.address, hosts)
        self._start(DNS, "dnsmasq.conf", text, lambda path: ["dnsmasq", f"--conf-file={path}"], 53)

    def start_web(self, content: Content) -> None:
        """Start the registry and the web server."""
        text = registry_config(self.address, content.registry)
        self._start(REGISTRY, "registry.yml", text, lambda path: ["docker-registry", "serve", str(path)], REGISTRY_PORT)
        text = nginx_config(self.address, content, self.folder)
        errors = f"{self.folder}/web-error.log"
        argv = ["nginx", "-p", str(self.folder), "-e", errors, "-c"]
        self._start(WEB, "nginx.conf", text, lambda path: [*argv, str(path)], 443)

    def stop(self) -> None:
        """End all three."""
        for service in (WEB, REGISTRY, DNS):
            self.groups.kill(service)
            self.groups.remove(service)

    def running(self) -> dict[str, bool]:
        """Say which services run."""
        return {service: bool(self.groups.pids(service)) for service in (DNS, WEB, REGISTRY)}

    def _start(self, service: str, name: str, text: str, argv: t.Callable[[Path], list[str]], port: int) -> None:
        """Start a service unless it runs with the same configuration; wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        if self.groups.pids(service):
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                return
            self.groups.kill(service)
        path.write_text(text, encoding="utf-8")
        log = self.folder / f"{service}.log"
        launch(self.groups, service, argv(path), log)
        end = time.monotonic() + 15
        while not listens(self.address, port):
            interrupts.check()
            if not self.groups.pids(service) or time.monotonic() > end:
                raise LabError(f"The lab's {service} service did not start: {tail(log)}")
            time.sleep(0.05)


def launch(groups: Groups, group: str, argv: t.Sequence[str], log: Path) -> None:
    """Start a process that lives on without this command, in its group, with its output in ``log``."""
    program = shutil.which(argv[0], path=_PATH)
    if program is None:
        raise LabError(f"The command {argv[0]} is not on this machine; `lab build` installs it.")
    with open(log, "ab") as output:
        child = subprocess.Popen(
            groups.command(group, [program, *argv[1:]]),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={"PATH": _PATH, "LANG": "C.UTF-8", "PYTHONPATH": str(LAB_DIR), "GSHARE_LAB": groups.lab},
            start_new_session=True,
        )
    # In its group at latest when the shell has run; until then a kill of the group would miss it.
    end = time.monotonic() + 5
    while child.poll() is None and child.pid not in groups.pids(group) and time.monotonic() < end:
        time.sleep(0.005)
    child.returncode = child.returncode or 0  # it is meant to outlive us: no warning about that


_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def listens(address: str, port: int) -> bool:
    """Say whether a service waits at exactly this address, which one that waits at all of them does not."""
    return is_listening(Path("/proc/net/tcp").read_text(encoding="ascii"), address, port)


def is_listening(table: str, address: str, port: int) -> bool:
    """Look for an address and port in the state LISTEN (0A) in the text of /proc/net/tcp."""
    number = int.from_bytes(socket.inet_aton(address), sys.byteorder)
    entries = [line.split() for line in table.splitlines()[1:]]
    return any(entry[1] == f"{number:08X}:{port:04X}" and entry[3] == "0A" for entry in entries)


def answers(address: str, port: int, timeout: float = 1.0) -> bool:
    """Say whether something takes connections there."""
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout):
        return True
    return False


def tail(log: Path, lines: int = 4) -> str:
    """Return the last lines of a log in one."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "it wrote no log"
    kept = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return " / ".join(kept) or "it wrote nothing"
