# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.gshare.cluster.plugins.plugin_utils import _preflight_network as checks

CONNECTED = {"to": "192.0.2.0/24", "via": "", "interface": "eth0"}
JOINED = {"kubelet_server": "https://192.0.2.10:6443"}


def names(machine, settings, others=()):
    return [one.name for one in checks.check(machine, [machine, *others], settings)]


def port(number, process="nginx", pid=812, protocol="tcp"):
    return {"protocol": protocol, "port": number, "address": "0.0.0.0", "pid": pid, "process": process}


def test_a_good_machine_has_no_finding(make, settings):
    assert names(make(), settings) == []
    assert names(make(10, "kube_control_plane"), settings) == []


def test_case_69_the_address_is_on_no_interface(make, settings):
    addresses = [{"address": "203.0.113.5", "interface": "eth0"}, {"address": "10.244.0.1", "interface": "cni0"}]
    (found,) = checks.check(make(addresses=addresses), [], settings)
    assert found.name == "address_missing"
    assert found.text == "192.0.2.11 is on none of its interfaces; its addresses: 203.0.113.5 on eth0."
    assert "gshare_node_ip" in found.remedy


def test_an_ipv6_address_is_found_in_its_long_form(make, settings):
    machine = make()
    machine.address = "2001:db8::11"
    assert names(machine, settings) == []


def test_case_70_no_default_route(make, settings):
    (found,) = checks.check(make(routes=[CONNECTED]), [], settings)
    assert found.name == "no_default_route"
    assert "10.96.0.0/12" in found.text


def test_case_70_a_route_for_the_services_will_do(make, settings):
    assert names(make(routes=[CONNECTED, {"to": "10.96.0.0/12", "via": "", "interface": "eth0"}]), settings) == [
        "range_in_use"
    ]
    assert names(make(routes=[CONNECTED, {"to": "10.0.0.0/8", "via": "", "interface": "eth0"}]), settings) == [
        "range_shadows_route",
        "range_shadows_route",
    ]


@pytest.mark.parametrize(
    ("to", "interface", "found"),
    [
        ("10.244.7.0/24", "wg0", ["range_in_use"]),
        ("10.96.0.0/12", "eth1", ["range_in_use"]),
        ("10.244.0.0/15", "eth1", ["range_shadows_route"]),
        ("10.244.1.0/24", "flannel.1", []),
        ("10.244.0.0/24", "cni0", []),
        ("172.17.0.0/16", "docker0", []),
    ],
)
def test_ranges_against_the_routes(make, settings, to, interface, found):
    machine = make()
    machine.facts["routes"].append({"to": to, "via": "192.0.2.1", "interface": interface})
    assert names(machine, settings) == found


def test_an_address_in_the_range_is_named(make, settings):
    machine = make()
    machine.facts["addresses"].append({"address": "10.244.3.4", "interface": "eth1"})
    (found,) = checks.check(machine, [], settings)
    assert found.text == "The pod range 10.244.0.0/16 holds its address 10.244.3.4 on eth1."


def test_a_running_cluster_routes_its_own_ranges(make, settings):
    machine = make(**JOINED)
    machine.facts["routes"].append({"to": "10.244.1.0/24", "via": "192.0.2.12", "interface": "eth0"})
    assert names(machine, settings) == []


def test_ports_in_use_are_told_with_their_owner(make, settings):
    (found,) = checks.check(make(ports=[port(10250), port(6443), port(80)]), [], settings)
    assert found.text == "nginx (pid 812) listens on 10250/tcp."
    found = checks.check(make(10, "kube_control_plane", ports=[port(10250), port(6443, "", 0)]), [], settings)
    assert [one.text for one in found] == [
        "nginx (pid 812) listens on 10250/tcp.",
        "a process that cannot be seen listens on 6443/tcp.",
    ]


def test_the_cluster_s_own_processes_are_not_in_the_way(make, settings):
    own = [port(10250, "kubelet"), port(2379, "etcd"), port(6443, "kube-apiserver"), port(8472, "", 0, "udp")]
    assert names(make(10, "kube_control_plane", ports=own, control_plane=True), settings) == []
    assert names(make(10, "kube_control_plane", ports=own), settings) == ["port_in_use"] * 3


def test_the_port_of_the_api_server_follows_its_setting(make, settings):
    settings.api_port = "8443"
    machine = make(10, "kube_control_plane", ports=[port(6443), port(8443)], firewalls=["firewalld"])
    texts = [one.text for one in checks.check(machine, [], settings)]
    assert len(texts) == 2
    assert texts[0].endswith("listens on 8443/tcp.")
    assert "8443/tcp" in texts[1]
    assert "6443" not in texts[1]
    # A worker has none.
    assert names(make(ports=[port(8443)]), settings) == []


def test_without_root_nobody_knows_whose_ports_they_are(make, settings):
    assert names(make(root=False, ports=[port(10250)]), settings) == []


def test_case_78_a_firewall_with_the_ports_that_are_closed(make, settings):
    (found,) = checks.check(make(firewalls=["ufw"], ufw_allowed=["22/tcp"]), [], settings)
    assert found.name == "firewall"
    assert found.text == "ufw is on; the cluster needs 10250/tcp, 8472/udp and 30000-32767/tcp."
    (found,) = checks.check(make(10, "kube_control_plane", firewalls=["firewalld"]), [], settings)
    assert "6443/tcp" in found.text


@pytest.mark.parametrize(
    ("allowed", "closed"),
    [
        (["any"], 0),
        (["10250", "8472/udp", "30000:32767/tcp"], 0),
        (["1:65535/tcp", "1:65535/udp"], 0),
        (["10250/udp", "8472/udp", "30000:32000/tcp"], 1),
    ],
)
def test_case_78_open_ports_are_no_finding(make, settings, allowed, closed):
    assert len(names(make(firewalls=["ufw"], ufw_allowed=allowed), settings)) == closed


def test_case_77_what_no_proxy_lacks(make, settings):
    proxy = {
        "HTTP_PROXY": "http://proxy.example.net:3128",
        "HTTPS_PROXY": "http://proxy.example.net:3128",
        "NO_PROXY": "localhost,127.0.0.1,.example.net",
    }
    machine, master = make(proxy=proxy), make(10, "kube_control_plane")
    (found,) = checks.check(machine, [machine, master], settings)
    assert found.name == "no_proxy"
    assert "sets http_proxy and https_proxy" in found.text
    for wanted in ("192.0.2.10", "10.244.0.0/16", "10.96.0.0/12"):
        assert wanted in found.text
    assert "no_proxy=localhost,127.0.0.1,.example.net,192.0.2.10,192.0.2.11,10.244.0.0/16,10.96.0.0/12" in found.remedy


@pytest.mark.parametrize(
    "proxy",
    [
        {},
        {"NO_PROXY": "x"},
        {"HTTPS_PROXY": "http://p", "NO_PROXY": "192.0.2.0/24,10.0.0.0/8,.svc,.cluster.local"},
        {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"},
    ],
)
def test_case_77_a_proxy_that_is_no_problem(make, settings, proxy):
    assert names(make(proxy=proxy), settings) == []


@pytest.mark.parametrize(
    ("entries", "rewritten", "found"),
    [
        ([{"address": "192.0.2.10", "names": ["api"]}], True, ["hosts_file_rewritten"]),
        ([{"address": "198.51.100.1", "names": ["node-10"]}], True, ["hosts_file_rewritten"]),
        ([{"address": "192.0.2.10", "names": ["api"]}], False, []),
        ([{"address": "198.51.100.1", "names": ["mirror"]}], True, []),
        ([], True, []),
    ],
)
def test_case_76_names_that_the_next_boot_takes_away(make, settings, entries, rewritten, found):
    machine = make(hosts_entries=entries, cloud_init_hosts=rewritten)
    assert names(machine, settings, [make(10, "kube_control_plane")]) == found
