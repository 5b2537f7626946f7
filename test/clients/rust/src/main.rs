//! A session of kube: typed and dynamic objects, and watchers and reflectors during a restart.
//!
//! Prints `ok <step>` for each step that succeeded, and `restart` to have the server restarted, which is confirmed by a
//! line on standard input. A failed step ends the program.

use std::{collections::BTreeMap, error::Error, future::Future, io::stdin, time::Duration};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, ObjectMeta, Patch, PatchParams, PostParams,
    Preconditions, WatchEvent, WatchParams,
};
use kube::runtime::{WatchStreamExt, reflector, wait, watcher};
use kube::{Api, Client, Discovery, ResourceExt};
use serde_json::json;
use tokio::time::{sleep, timeout};

type Outcome = Result<(), Box<dyn Error>>;

const NAMESPACE: &str = "rust-session";

#[tokio::main]
async fn main() {
    let client = match Client::try_default().await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("configuration: {error}");
            std::process::exit(1);
        }
    };
    step("discovery", discovery(client.clone())).await;
    step("create and get", create_and_get(client.clone())).await;
    step("list in pages", pages(client.clone())).await;
    step("watch", watching(client.clone())).await;
    step("update and conflict", update(client.clone())).await;
    step("apply", apply(client.clone())).await;
    step("patch", patch(client.clone())).await;
    step("tokens", tokens(client.clone())).await;
    step("custom resources", custom(client.clone())).await;
    step("reflectors through a restart", restart(client.clone())).await;
    step("delete", remove(client)).await;
}

async fn step(name: &str, run: impl Future<Output = Outcome>) {
    match timeout(Duration::from_secs(120), run).await {
        Ok(Ok(())) => println!("ok {name}"),
        Ok(Err(error)) => {
            eprintln!("{name}: {error}");
            std::process::exit(1);
        }
        Err(_) => {
            eprintln!("{name}: takes too long");
            std::process::exit(1);
        }
    }
}

fn want(holds: bool, what: impl std::fmt::Debug) -> Outcome {
    if holds { Ok(()) } else { Err(format!("got {what:?}").into()) }
}

fn code<T>(answer: Result<T, kube::Error>) -> u16 {
    match answer {
        Err(kube::Error::Api(status)) => status.code,
        Err(_) => 0,
        Ok(_) => 200,
    }
}

fn config_map(name: &str, labels: &[(&str, &str)], data: &[(&str, &str)]) -> ConfigMap {
    let owned = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    };
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            labels: (!labels.is_empty()).then(|| owned(labels)),
            ..Default::default()
        },
        data: (!data.is_empty()).then(|| owned(data)),
        ..Default::default()
    }
}

fn maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, NAMESPACE)
}

async fn discovery(client: Client) -> Outcome {
    let version = client.apiserver_version().await?;
    let found = Discovery::new(client.clone()).run().await?;
    let aggregated = Discovery::new(client).run_aggregated().await?;
    let kind = GroupVersionKind::gvk("certificates.k8s.io", "v1", "CertificateSigningRequest");
    want(
        version.major == "1" && found.resolve_gvk(&kind).is_some() && aggregated.resolve_gvk(&kind).is_some(),
        version,
    )
}

async fn create_and_get(client: Client) -> Outcome {
    let namespace = Namespace {
        metadata: ObjectMeta { name: Some(NAMESPACE.into()), ..Default::default() },
        ..Default::default()
    };
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    let maps = maps(client);
    let by_session = PostParams { field_manager: Some("session".into()), ..Default::default() };
    let first = config_map("first", &[], &[("key", "value")]);
    let created = maps.create(&by_session, &first).await?;
    let found = maps.get("first").await?;
    want(found == created && found.managed_fields().len() == 1 && found.uid().is_some(), &found)?;
    want(code(maps.create(&by_session, &first).await) == 409, "created twice")?;
    want(code(maps.create(&by_session, &config_map("Not A Name", &[], &[])).await) == 422, "a bad name")?;
    let dry = PostParams { dry_run: true, ..Default::default() };
    maps.create(&dry, &config_map("dry", &[], &[])).await?;
    want(maps.get_opt("dry").await?.is_none(), "a dry run was kept")?;
    let metadata = maps.get_metadata("first").await?;
    want(metadata.metadata.uid == found.metadata.uid, metadata)
}

async fn pages(client: Client) -> Outcome {
    let maps = maps(client);
    for at in 0..7 {
        let item = config_map(&format!("page-{at}"), &[("pages", "yes")], &[]);
        maps.create(&PostParams::default(), &item).await?;
    }
    let mut names = vec![];
    let mut versions = vec![];
    let mut options = ListParams::default().labels("pages=yes").limit(3);
    loop {
        let page = maps.list(&options).await?;
        names.extend(page.items.iter().map(|item| item.name_any()));
        versions.push(page.metadata.resource_version.clone());
        if versions.len() == 1 {
            want(page.metadata.remaining_item_count.is_none(), "a count with a selector")?;
            maps.create(&PostParams::default(), &config_map("page-9", &[("pages", "yes")], &[])).await?;
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => options = options.continue_token(&token),
            None => break,
        }
    }
    versions.dedup();
    want(names.len() == 7 && names.is_sorted() && versions.len() == 1, (names, versions))
}

async fn watching(client: Client) -> Outcome {
    let maps = maps(client);
    let version = maps.list_metadata(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    let mut stream = maps.watch(&WatchParams::default(), &version).await?.boxed();
    maps.create(&PostParams::default(), &config_map("watched", &[], &[("n", "1")])).await?;
    maps.patch("watched", &PatchParams::default(), &Patch::Merge(json!({ "data": { "n": "2" } }))).await?;
    maps.delete("watched", &DeleteParams::default()).await?;
    let mut seen = vec![];
    while seen.len() < 3 {
        match stream.try_next().await? {
            Some(WatchEvent::Added(item)) => seen.push(format!("added {}", item.name_any())),
            Some(WatchEvent::Modified(item)) => seen.push(format!("modified {}", item.name_any())),
            Some(WatchEvent::Deleted(item)) => seen.push(format!("deleted {}", item.name_any())),
            Some(WatchEvent::Bookmark(_)) => {}
            other => return Err(format!("got {other:?}").into()),
        }
    }
    want(seen == ["added watched", "modified watched", "deleted watched"], &seen)
}

async fn update(client: Client) -> Outcome {
    let maps = maps(client);
    let stale = maps.get("first").await?;
    let mut fresh = stale.clone();
    fresh.data = Some(BTreeMap::from([("key".into(), "second".into())]));
    let changed = maps.replace("first", &PostParams::default(), &fresh).await?;
    let same = maps.replace("first", &PostParams::default(), &changed).await?;
    want(same.resource_version() == changed.resource_version(), "an update without a change")?;
    want(code(maps.replace("first", &PostParams::default(), &stale).await) == 409, "a stale update")
}

async fn apply(client: Client) -> Outcome {
    let maps = maps(client);
    let item = |data: serde_json::Value| {
        Patch::Apply(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "applied" }, "data": data }))
    };
    maps.patch("applied", &PatchParams::apply("one"), &item(json!({ "a": "1", "b": "1" }))).await?;
    let refused = maps.patch("applied", &PatchParams::apply("two"), &item(json!({ "a": "2" }))).await;
    want(code(refused) == 409, "no conflict")?;
    maps.patch("applied", &PatchParams::apply("two").force(), &item(json!({ "a": "2" }))).await?;
    let less = maps.patch("applied", &PatchParams::apply("one"), &item(json!({}))).await?;
    want(less.data == Some(BTreeMap::from([("a".into(), "2".into())])), less.data)
}

async fn patch(client: Client) -> Outcome {
    let maps = maps(client);
    let options = PatchParams::default();
    maps.patch("first", &options, &Patch::Merge(json!({ "data": { "merge": "1" } }))).await?;
    let last = maps.patch("first", &options, &Patch::Strategic(json!({ "data": { "strategic": "1", "key": null } }))).await?;
    let names: Vec<_> = last.data.unwrap_or_default().into_keys().collect();
    want(names == ["merge", "strategic"], &names)
}

async fn tokens(client: Client) -> Outcome {
    let accounts: Api<ServiceAccount> = Api::namespaced(client, NAMESPACE);
    timeout(
        Duration::from_secs(30),
        wait::await_condition(accounts.clone(), "default", |found: Option<&ServiceAccount>| found.is_some()),
    )
    .await??;
    let wanted = TokenRequest {
        spec: Some(TokenRequestSpec { expiration_seconds: Some(3600), ..Default::default() }),
        ..Default::default()
    };
    let token = accounts.create_token_request("default", &PostParams::default(), &wanted).await?;
    let token = token.status.and_then(|status| status.token).unwrap_or_default();
    want(token.split('.').count() == 3, "no token")
}

fn widgets(client: Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("rust.example.com", "v1", "Widget");
    Api::namespaced_with(client, NAMESPACE, &ApiResource::from_gvk(&kind))
}

fn widget(name: &str, size: i64) -> DynamicObject {
    let kind = GroupVersionKind::gvk("rust.example.com", "v1", "Widget");
    DynamicObject::new(name, &ApiResource::from_gvk(&kind)).data(json!({ "spec": { "size": size } }))
}

async fn custom(client: Client) -> Outcome {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition: CustomResourceDefinition = serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.rust.example.com" },
        "spec": {
            "group": "rust.example.com",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": {
                        "size": { "type": "integer", "minimum": 0 },
                        "colour": { "type": "string", "default": "red" },
                    } },
                    "status": { "type": "object", "properties": { "phase": { "type": "string" } } },
                } } },
            }],
        },
    }))?;
    definitions.create(&PostParams::default(), &definition).await?;
    let established = wait::await_condition(definitions, "widgets.rust.example.com", wait::conditions::is_crd_established());
    timeout(Duration::from_secs(30), established).await??;
    let widgets = widgets(client);
    let made = widgets.create(&PostParams::default(), &widget("one", 3)).await?;
    want(made.data["spec"]["colour"] == "red", &made.data)?;
    want(code(widgets.create(&PostParams::default(), &widget("wrong", -1)).await) == 422, "a negative size")?;
    let status = Patch::Merge(json!({ "status": { "phase": "ready" } }));
    let made = widgets.patch_status("one", &PatchParams::default(), &status).await?;
    want(made.data["status"]["phase"] == "ready" && made.metadata.generation == Some(1), &made)
}

/// A store that is updated by a reflector.
fn reflected(api: Api<ConfigMap>) -> reflector::Store<ConfigMap> {
    let (reader, writer) = reflector::store();
    let stream = watcher(api, watcher::Config::default().streaming_lists()).default_backoff().reflect(writer);
    tokio::spawn(async move { stream.for_each(|_| async {}).await });
    reader
}

async fn restart(client: Client) -> Outcome {
    let maps = maps(client.clone());
    let known = reflected(maps.clone());
    known.wait_until_ready().await?;
    for name in ["before", "gone-while-away"] {
        maps.create(&PostParams::default(), &config_map(name, &[], &[])).await?;
    }
    let away = reflector::ObjectRef::new("gone-while-away").within(NAMESPACE);
    while known.get(&away).is_none() {
        sleep(Duration::from_millis(20)).await;
    }
    println!("restart");
    stdin().read_line(&mut String::new())?;
    maps.create(&PostParams::default(), &config_map("after", &[], &[])).await?;
    maps.delete("before", &DeleteParams::default()).await?;
    widgets(client).create(&PostParams::default(), &widget("after", 1)).await?;
    loop {
        let mut now: Vec<_> =
            known.state().iter().map(|item| (item.name_any(), item.resource_version())).collect();
        now.sort();
        let list = maps.list(&ListParams::default()).await?;
        let there: Vec<_> = list.iter().map(|item| (item.name_any(), item.resource_version())).collect();
        let named = |name: &str| there.iter().any(|(other, _)| other == name);
        if now == there && named("after") && named("made-while-away") && !named("before") && !named("gone-while-away") {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn remove(client: Client) -> Outcome {
    let maps = maps(client.clone());
    let found = maps.get("first").await?;
    let only = |uid: Option<String>| {
        DeleteParams { preconditions: Some(Preconditions { uid, ..Default::default() }), ..Default::default() }
    };
    want(code(maps.delete("first", &only(Some("other".into()))).await) == 409, "deleted another")?;
    maps.delete("first", &only(found.metadata.uid)).await?;
    want(code(maps.delete("first", &DeleteParams::default()).await) == 404, "deleted twice")?;
    maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels("pages=yes")).await?;
    want(maps.list(&ListParams::default().labels("pages=yes")).await?.items.is_empty(), "left")?;
    let namespaces: Api<Namespace> = Api::all(client);
    let uid = namespaces.get(NAMESPACE).await?.uid().unwrap_or_default();
    namespaces.delete(NAMESPACE, &DeleteParams::default()).await?;
    timeout(Duration::from_secs(60), wait::await_condition(namespaces, NAMESPACE, wait::conditions::is_deleted(&uid))).await??;
    Ok(())
}
