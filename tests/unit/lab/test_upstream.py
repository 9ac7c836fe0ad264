# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path

from nodelab.upstream import Content, dnsmasq_config, is_listening, nginx_config, registry_config


def content(tmp_path: Path) -> Content:
    (tmp_path / "web" / "pkgs.k8s.io").mkdir(parents=True)
    return Content(
        web=tmp_path / "web",
        registry=tmp_path / "registry",
        registry_hosts=["registry.k8s.io"],
        certificate=tmp_path / "server.crt",
        key=tmp_path / "server.key",
    )


def test_hosts_are_those_with_files_and_those_with_images(tmp_path: Path) -> None:
    assert content(tmp_path).hosts == ["pkgs.k8s.io", "registry.k8s.io"]


def test_hosts_without_a_tree(tmp_path: Path) -> None:
    served = Content(tmp_path / "absent", tmp_path, ["ghcr.io"], tmp_path, tmp_path)
    assert served.hosts == ["ghcr.io"]


def test_the_name_server_answers_only_on_the_bridge() -> None:
    lines = dnsmasq_config("10.77.3.1", ["pkgs.k8s.io"]).splitlines()
    assert "listen-address=10.77.3.1" in lines
    assert "bind-interfaces" in lines
    assert "address=/pkgs.k8s.io/10.77.3.1" in lines
    # Without it a question for an IPv6 address would get the real one's answer.
    assert "local=/pkgs.k8s.io/" in lines


def test_images_are_looked_up_below_the_host_they_come_from(tmp_path: Path) -> None:
    text = nginx_config("10.77.3.1", content(tmp_path), tmp_path)
    assert "rewrite ^/v2/(.*)$ /v2/registry.k8s.io/$1 break;" in text
    assert "/v2/pkgs.k8s.io/" not in text


def test_the_web_server_listens_only_on_the_bridge(tmp_path: Path) -> None:
    text = nginx_config("10.77.3.1", content(tmp_path), tmp_path)
    listens = [line.strip() for line in text.splitlines() if line.strip().startswith("listen")]
    assert len(listens) == 3
    assert all(line.startswith("listen 10.77.3.1:443 ssl") for line in listens)


def test_the_registry_only_reads(tmp_path: Path) -> None:
    text = registry_config("10.77.3.1", tmp_path)
    assert "readonly:\n      enabled: true" in text
    assert "addr: 10.77.3.1:15000" in text


def test_a_service_at_all_addresses_is_not_ours() -> None:
    table = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:3A98 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 01034D0A:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 01034D0A:01BB 01034D0A:C000 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
"""
    assert is_listening(table, "10.77.3.1", 53)
    assert not is_listening(table, "10.77.3.1", 15000)
    assert not is_listening(table, "10.77.3.1", 443)
