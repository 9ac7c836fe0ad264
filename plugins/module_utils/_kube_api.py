# Copyright (c) 2026 gshare.cluster contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small client of the Kubernetes API that speaks in plain dicts.

Kubeconfig, certificates and connections are the business of the Python package kubernetes.

Note that this module util is **PRIVATE** to the collection.
"""

from __future__ import annotations

import http.client
import importlib
import json
import re
import socket
import ssl
import time
import traceback
import typing as t
from urllib.parse import urlencode, urlsplit

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

Json = dict[str, t.Any]
# Seconds for the API server to reach a kubelet.
_HANDSHAKE = 10.0
_HTTP = 5.0


def import_error() -> str:
    """Why the package kubernetes cannot be used; empty if it can."""
    try:
        importlib.import_module("kubernetes.client")
        importlib.import_module("websocket")
    except ImportError:
        return traceback.format_exc()
    return ""


class ApiError(Exception):
    """The API refused, or did not answer (status 0)."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def connect(module: AnsibleModule) -> KubeApi:
    """The client for the option kubeconfig of a module, which ends with a sentence where the package is missing."""
    problem = import_error()
    if problem:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=problem)
    return KubeApi(module.params["kubeconfig"])


class KubeApi:
    """Requests to one API server."""

    def __init__(self, kubeconfig: str) -> None:
        # Only whoever makes a client needs the package: this file is read where it is not installed.
        client = importlib.import_module("kubernetes.client")
        config = importlib.import_module("kubernetes.config")
        self._config = client.Configuration()
        try:
            config.load_kube_config(config_file=kubeconfig, client_configuration=self._config)
        except (config.ConfigException, OSError, ValueError) as exc:
            raise ApiError(0, f"cannot use {kubeconfig}: {exc}") from exc
        # The answer to a lost API server is a check's verdict, not minutes of retries.
        self._config.retries = False
        self._client = client.ApiClient(self._config)
        self._http_error = importlib.import_module("urllib3.exceptions").HTTPError
        self._websocket = importlib.import_module("websocket")

    @property
    def server(self) -> tuple[str, int]:
        """Host and port of the API server."""
        parts = urlsplit(self._config.host)
        return parts.hostname or "", parts.port or 443

    def reaches(self, address: str, port: int) -> bool:
        """Whether a connection from here, where the API server runs, comes about."""
        try:
            socket.create_connection((address, port), timeout=_HANDSHAKE).close()
        except OSError:
            return False
        return True

    def http(self, address: str, port: int, host: str) -> tuple[int, str]:
        """The answer to a plain GET of / from here, under the name of a host."""
        connection = http.client.HTTPConnection(address, port, timeout=_HTTP)
        try:
            connection.request("GET", "/", headers={"Host": host})
            answer = connection.getresponse()
            return answer.status, answer.read(4096).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as exc:
            raise ApiError(0, str(exc) or type(exc).__name__) from exc
        finally:
            connection.close()

    def request(self, method: str, path: str, body: Json | None = None, timeout: float = 15.0) -> tuple[int, str]:
        """One request; the HTTP status and the text of the answer."""
        headers = {"Accept": "application/json"}
        self._client.update_params_for_auth(headers, [], ["BearerToken"])
        data = None
        if body is not None:
            headers["Content-Type"] = f"application/{'merge-patch+' if method == 'PATCH' else ''}json"
            data = json.dumps(body).encode()
        try:
            answer = self._client.rest_client.pool_manager.request(
                method, self._config.host + path, body=data, headers=headers, timeout=timeout, retries=False
            )
        except self._http_error as exc:
            raise ApiError(0, f"{self._config.host}: {exc}") from exc
        return answer.status, answer.data.decode("utf-8", "replace")

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        """One request whose answer is an object."""
        status, text = self.request(method, path, body)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {"message": text}
        if not 200 <= status < 300:
            raise ApiError(status, answer.get("message") or f"{method} {path}: {status}")
        return answer

    def get(self, path: str) -> Json:
        return self.call("GET", path)

    def items(self, path: str) -> list[Json]:
        return self.get(path).get("items") or []

    def create(self, path: str, body: Json) -> Json:
        return self.call("POST", path, body)

    def patch(self, path: str, body: Json) -> Json:
        """A merge patch: what is null goes away."""
        return self.call("PATCH", path, body)

    def delete(self, path: str, **options: t.Any) -> None:
        """Delete an object; one that is not there is no error."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", **options}
        try:
            self.call("DELETE", path, body)
        except ApiError as exc:
            if exc.status != 404:
                raise

    def execute(self, namespace: str, pod: str, command: str, timeout: float = 30.0) -> str:
        """What a shell command in a pod prints. The exit status is not looked at: the text has to tell."""
        query = [("command", word) for word in ("/bin/sh", "-c", command)] + [("stdout", "true"), ("stderr", "true")]
        base = self._config.host.replace("http", "ws", 1)
        url = f"{base}/api/v1/namespaces/{namespace}/pods/{pod}/exec?{urlencode(query)}"
        headers = {"sec-websocket-protocol": "v4.channel.k8s.io"}
        self._client.update_params_for_auth(headers, [], ["BearerToken"])
        # The package's own stream has no time limit for the handshake, which lasts until the kubelet answers.
        stream = self._websocket.WebSocket(sslopt=self._ssl())
        try:
            stream.connect(url, header=[f"{key}: {value}" for key, value in headers.items()], timeout=_HANDSHAKE)
            return self._output(stream, time.monotonic() + timeout)
        except self._websocket.WebSocketTimeoutException as exc:
            raise ApiError(0, "no answer in time") from exc
        except (self._websocket.WebSocketException, OSError) as exc:
            raise ApiError(0, _handshake(str(exc))) from exc
        finally:
            stream.shutdown()

    def _output(self, stream: t.Any, deadline: float) -> str:
        """Standard output and error until the command ends; the first byte of a frame is its channel."""
        found = b""
        while True:
            stream.settimeout(max(0.1, deadline - time.monotonic()))
            code, frame = stream.recv_data_frame(True)
            if code == self._websocket.ABNF.OPCODE_CLOSE:
                return found.decode("utf-8", "replace")
            if frame.data[:1] in (b"\x01", b"\x02"):
                found += frame.data[1:]

    def _ssl(self) -> Json:
        config = self._config
        if not config.verify_ssl:
            return {"cert_reqs": ssl.CERT_NONE, "check_hostname": False}
        options = {"ca_certs": config.ssl_ca_cert, "certfile": config.cert_file, "keyfile": config.key_file}
        return {"cert_reqs": ssl.CERT_REQUIRED, **{key: value for key, value in options.items() if value}}

    def objects(self, kind: str, api_version: str | None = None, namespace: str | None = None) -> list[Json]:
        """All objects of a kind, as the API lists them."""
        resource = self._resource(kind, api_version)
        base = "/api/v1" if resource["version"] == "v1" else f"/apis/{resource['version']}"
        scope = f"/namespaces/{namespace}" if namespace and resource.get("namespaced") else ""
        found = self.items(f"{base}{scope}/{resource['name']}")
        for item in found:
            item.setdefault("kind", resource["kind"])
            item.setdefault("apiVersion", resource["version"])
            item["metadata"].pop("managedFields", None)
        return found

    def _resource(self, kind: str, api_version: str | None) -> Json:
        for version in [api_version] if api_version else self._versions():
            path = "/api/v1" if version == "v1" else f"/apis/{version}"
            try:
                resources = self.get(path).get("resources") or []
            except ApiError as exc:
                if exc.status not in (404, 503):
                    raise
                continue
            for resource in resources:
                if (
                    resource["kind"].lower() == kind.lower()
                    and "/" not in resource["name"]
                    and "list" in resource["verbs"]
                ):
                    return {**resource, "version": version}
        raise ApiError(404, f"the cluster has no kind {kind}{f' in {api_version}' if api_version else ''}")

    def _versions(self) -> t.Iterator[str]:
        yield "v1"
        for group in self.get("/apis").get("groups") or []:
            yield group["preferredVersion"]["groupVersion"]


def _handshake(text: str) -> str:
    """The API's own message out of the websocket client's error."""
    hit = re.search(r'"message":"((?:[^"\\]|\\.)*)"', text)
    return hit.group(1).replace('\\"', '"') if hit else text
