# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of the lab: schemas made from lists of keys, archives that are always the same, the index."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import typing as t
from pathlib import Path

import pytest
import yaml
from nodelab import charts
from nodelab.errors import LabError

STANDINS = {"hami": "hami-2.10.0", "ingress-nginx": "ingress-nginx-4.15.1", "traefik": "traefik"}
KEYS = """\
image.tag  str
image.pullPolicy  str
replicas  int
enabled  bool
labels  map
tolerations  list
hook  NoneType
nodeSelector.kubernetes.io/os  str
"""


def refused(values: t.Any, schema: t.Mapping[str, t.Any], path: str = "") -> list[str]:
    """Return where the values do not fit, as far as these schemas go: types, and keys that are not known."""
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float)}
    allowed = [kinds[kind] for kind in schema.get("type", kinds)]
    fits = any(isinstance(values, kind) for kind in allowed) and (bool in allowed or not isinstance(values, bool))
    if not fits:
        return [path]
    if not isinstance(values, dict) or "properties" not in schema:
        return []
    found = []
    for key, value in values.items():
        place = f"{path}.{key}" if path else key
        found += refused(value, schema["properties"][key], place) if key in schema["properties"] else [place]
    return found


def test_a_schema_takes_the_keys_of_the_list_and_no_others() -> None:
    schema = charts.schema(charts.parse_keys(KEYS))
    good = {
        "image": {"tag": "1", "pullPolicy": None},
        "replicas": 1.5,
        "enabled": True,
        "labels": {"any": "thing"},
        "tolerations": [{}],
        "hook": "/usr/bin",
        "nodeSelector": {"gpu": "on"},
    }
    assert refused(good, schema) == []
    bad = {"image": {"tags": "1"}, "replicas": "two", "enabled": "yes", "labels": [], "imageTag": "1"}
    assert refused(bad, schema) == ["image.tags", "replicas", "enabled", "labels", "imageTag"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["image"]["additionalProperties"] is False
    assert "additionalProperties" not in schema["properties"]["labels"]


@pytest.mark.parametrize(("chart", "keys"), STANDINS.items())
def test_a_stand_in_takes_its_own_defaults(chart: str, keys: str) -> None:
    known = charts.parse_keys((charts.KEYS / f"{keys}.keys").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((charts.CHARTS / chart / "values.yaml").read_text(encoding="utf-8"))
    assert refused(defaults, charts.schema(known)) == []
    about = charts.metadata(charts.CHARTS / chart)
    assert about["name"] == chart
    assert keys in (chart, f"{chart}-{about['version']}")


def test_the_old_key_of_hamis_scheduler_image_is_refused() -> None:
    known = charts.parse_keys((charts.KEYS / "hami-2.10.0.keys").read_text(encoding="utf-8"))
    values = {"scheduler": {"kubeScheduler": {"imageTag": "v1.36.5"}}}
    assert refused(values, charts.schema(known)) == ["scheduler.kubeScheduler.imageTag"]


def make_chart(folder: Path, name: str = "one") -> Path:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text(f'apiVersion: v2\nname: {name}\nversion: "1.2.3"\n', encoding="utf-8")
    (folder / "templates" / "a.yaml").write_text("a: 1\n", encoding="utf-8")
    return folder


def test_a_package_holds_the_chart_below_its_name_and_is_always_the_same(tmp_path: Path) -> None:
    folder = make_chart(tmp_path / "chart")
    name, content = charts.package(folder, extra={"values.schema.json": b"{}"})
    assert name == "one-1.2.3.tgz"
    assert charts.package(folder, extra={"values.schema.json": b"{}"}) == (name, content)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as tar:
        assert tar.getnames() == ["one/Chart.yaml", "one/templates/a.yaml", "one/values.schema.json"]


def test_a_repository_has_an_index_with_digests(tmp_path: Path) -> None:
    charts.write_repository(
        tmp_path / "repo", [(make_chart(tmp_path / "a"), ""), (make_chart(tmp_path / "b", "two"), "")]
    )
    index = yaml.safe_load((tmp_path / "repo" / "index.yaml").read_text(encoding="utf-8"))
    assert sorted(index["entries"]) == ["one", "two"]
    entry = index["entries"]["two"][0]
    assert entry["urls"] == ["two-1.2.3.tgz"]
    assert entry["digest"] == hashlib.sha256((tmp_path / "repo" / "two-1.2.3.tgz").read_bytes()).hexdigest()


def test_a_schema_goes_into_the_package(tmp_path: Path) -> None:
    charts.write_repository(tmp_path, [(charts.CHARTS / "traefik", "traefik")])
    version = charts.metadata(charts.CHARTS / "traefik")["version"]
    with tarfile.open(tmp_path / f"traefik-{version}.tgz") as tar:
        member = tar.extractfile("traefik/values.schema.json")
        assert member is not None
        assert json.load(member)["properties"]["ports"] == {"type": ["object", "null"]}


def test_a_chart_without_a_version_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: one\n", encoding="utf-8")
    with pytest.raises(LabError, match="no apiVersion, name or version"):
        charts.package(tmp_path)
