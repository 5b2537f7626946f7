"""A session of the Python client.

Prints `ok <step>` for each step that succeeded, and `restart` to have the server restarted, which is confirmed by a line
on standard input. A failed step ends the program.
"""

import sys
import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "python-session"

config.load_kube_config()
core = client.CoreV1Api()
custom = client.CustomObjectsApi()
WIDGETS = {"group": "python.example.com", "version": "v1", "namespace": NAMESPACE, "plural": "widgets"}


def step(function):
    """Runs a step immediately, and prints its name."""
    name = function.__name__.replace("_", " ")
    function()
    print(f"ok {name}", flush=True)


def until(what, holds):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"waited in vain: {what}")


def refused(code, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ApiException as error:
        assert error.status == code, error
        return
    raise AssertionError(f"not refused with {code}")


def config_map(name, data=None, labels=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


def create(name, data=None, labels=None):
    return core.create_namespaced_config_map(NAMESPACE, config_map(name, data, labels), field_manager="session")


def widget(name, size):
    return {
        "apiVersion": "python.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": size},
    }


@step
def discovery():
    assert client.VersionApi().get_code().major == "1"
    groups = {group.name for group in client.ApisApi().get_api_versions().groups}
    assert {"certificates.k8s.io", "rbac.authorization.k8s.io"} <= groups, groups


@step
def create_and_get():
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    created = create("first", {"key": "value"})
    found = core.read_namespaced_config_map("first", NAMESPACE)
    assert found == created and found.metadata.creation_timestamp.tzinfo is not None
    assert found.metadata.managed_fields[0].manager == "session"
    refused(409, create, "first")
    refused(422, create, "Not A Name")
    core.create_namespaced_config_map(NAMESPACE, config_map("dry"), dry_run="All")
    refused(404, core.read_namespaced_config_map, "dry", NAMESPACE)


@step
def list_in_pages():
    for at in range(7):
        create(f"page-{at}", labels={"pages": "yes"})
    names, versions, token = [], set(), None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="pages=yes", limit=3, _continue=token)
        names += [item.metadata.name for item in page.items]
        versions.add(page.metadata.resource_version)
        if token is None:
            create("page-9", labels={"pages": "yes"})
        token = page.metadata._continue
        if not token:
            break
    assert names == [f"page-{at}" for at in range(7)], names
    assert len(versions) == 1, versions


@step
def watching():
    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    created = create("watched", {"n": "1"})
    created.data["n"] = "2"
    core.replace_namespaced_config_map("watched", NAMESPACE, created)
    core.delete_namespaced_config_map("watched", NAMESPACE)
    stream = watch.Watch()
    seen = []
    for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=30):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 3:
            stream.stop()
    assert seen == [(kind, "watched") for kind in ("ADDED", "MODIFIED", "DELETED")], seen


@step
def update_and_conflict():
    stale = core.read_namespaced_config_map("first", NAMESPACE)
    fresh = core.read_namespaced_config_map("first", NAMESPACE)
    fresh.data["key"] = "second"
    changed = core.replace_namespaced_config_map("first", NAMESPACE, fresh)
    same = core.replace_namespaced_config_map("first", NAMESPACE, changed)
    assert same.metadata.resource_version == changed.metadata.resource_version
    refused(409, core.replace_namespaced_config_map, "first", NAMESPACE, stale)


@step
def apply():
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")

    def applied(manager, data, **options):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data}
        return maps.server_side_apply(body=body, name="applied", namespace=NAMESPACE, field_manager=manager, **options)

    applied("one", {"a": "1", "b": "1"})
    refused(409, applied, "two", {"a": "2"})
    applied("two", {"a": "2"}, force_conflicts=True)
    assert applied("one", {}).to_dict()["data"] == {"a": "2"}


@step
def patch():
    core.patch_namespaced_config_map("first", NAMESPACE, [{"op": "add", "path": "/data/json", "value": "1"}])
    last = core.patch_namespaced_config_map("first", NAMESPACE, {"data": {"strategic": "1", "key": None}})
    assert last.data == {"json": "1", "strategic": "1"}, last.data


@step
def reviews_and_tokens():
    def account():
        try:
            return core.read_namespaced_service_account("default", NAMESPACE)
        except ApiException:
            return None

    until("the default service account", account)
    wanted = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))
    token = core.create_namespaced_service_account_token("default", NAMESPACE, wanted).status.token
    review = client.AuthenticationV1Api().create_token_review(
        client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token))
    )
    assert review.status.user.username == f"system:serviceaccount:{NAMESPACE}:default"


@step
def custom_resources():
    properties = {
        "spec": client.V1JSONSchemaProps(
            type="object",
            properties={
                "size": client.V1JSONSchemaProps(type="integer", minimum=0),
                "colour": client.V1JSONSchemaProps(type="string", default="red"),
            },
        ),
        "status": client.V1JSONSchemaProps(
            type="object", properties={"phase": client.V1JSONSchemaProps(type="string")}
        ),
    }
    schema = client.V1JSONSchemaProps(type="object", properties=properties)
    definitions = client.ApiextensionsV1Api()
    name = "widgets.python.example.com"
    definitions.create_custom_resource_definition(
        client.V1CustomResourceDefinition(
            metadata=client.V1ObjectMeta(name=name),
            spec=client.V1CustomResourceDefinitionSpec(
                group=WIDGETS["group"],
                scope="Namespaced",
                names=client.V1CustomResourceDefinitionNames(plural="widgets", kind="Widget"),
                versions=[
                    client.V1CustomResourceDefinitionVersion(
                        name="v1",
                        served=True,
                        storage=True,
                        subresources=client.V1CustomResourceSubresources(status={}),
                        schema=client.V1CustomResourceValidation(open_apiv3_schema=schema),
                    )
                ],
            ),
        )
    )

    def established():
        conditions = definitions.read_custom_resource_definition(name).status.conditions or []
        return any(each.type == "Established" and each.status == "True" for each in conditions)

    until("the definition is established", established)
    made = custom.create_namespaced_custom_object(**WIDGETS, body=widget("one", 3))
    assert made["spec"]["colour"] == "red", made
    refused(422, custom.create_namespaced_custom_object, **WIDGETS, body=widget("wrong", -1))
    told = custom.patch_namespaced_custom_object_status(**WIDGETS, name="one", body={"status": {"phase": "ready"}})
    assert told["status"]["phase"] == "ready" and told["metadata"]["generation"] == 1, told
    resource = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="python.example.com/v1", kind="Widget")
    assert [item.metadata.name for item in resource.get(namespace=NAMESPACE).items] == ["one"]


class Follower:
    """Follows all ConfigMaps by list and watch, as programs with this client do."""

    def __init__(self):
        self.known = {}
        self.running = True
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        version = None
        while self.running:
            try:
                if version is None:
                    page = core.list_namespaced_config_map(NAMESPACE)
                    self.known = {item.metadata.name: item.metadata.resource_version for item in page.items}
                    version = page.metadata.resource_version
                stream = watch.Watch().stream(
                    core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=5
                )
                for event in stream:
                    metadata = event["object"].metadata
                    version = metadata.resource_version
                    if event["type"] == "DELETED":
                        self.known.pop(metadata.name, None)
                    else:
                        self.known[metadata.name] = metadata.resource_version
            except ApiException as error:
                if error.status == 410:
                    version = None
                time.sleep(0.1)
            except Exception:  # the connection is down
                time.sleep(0.1)


@step
def watch_through_a_restart():
    follower = Follower()
    create("before")
    create("gone-while-away")
    until("the watch sees what is written", lambda: "gone-while-away" in follower.known)
    print("restart", flush=True)
    sys.stdin.readline()
    create("after")
    core.delete_namespaced_config_map("before", NAMESPACE)

    def same():
        items = core.list_namespaced_config_map(NAMESPACE).items
        return follower.known == {item.metadata.name: item.metadata.resource_version for item in items}

    until("the watch is as the server is", same)
    follower.running = False
    names = set(follower.known)
    assert {"after", "made-while-away", "first"} <= names and not {"before", "gone-while-away"} & names, names


@step
def delete():
    found = core.read_namespaced_config_map("first", NAMESPACE)

    def only(uid):
        return client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=uid))

    refused(409, core.delete_namespaced_config_map, "first", NAMESPACE, body=only("other"))
    core.delete_namespaced_config_map("first", NAMESPACE, body=only(found.metadata.uid))
    refused(404, core.delete_namespaced_config_map, "first", NAMESPACE)
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="pages=yes")
    assert not core.list_namespaced_config_map(NAMESPACE, label_selector="pages=yes").items
    core.delete_namespace(NAMESPACE)

    def gone():
        try:
            core.read_namespace(NAMESPACE)
        except ApiException as error:
            return error.status == 404
        return False

    until("the namespace is gone", gone)
