// A session of client-go: typed clients with protobuf, the dynamic client, and informers during a restart.
package main

import (
	"context"
	"fmt"
	"sort"
	"sync"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	certificates "k8s.io/api/certificates/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"kedge.example/clients/protocol"
)

const namespace = "go-session"

var (
	crds    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets = schema.GroupVersionResource{Group: "go.example.com", Version: "v1", Resource: "widgets"}
)

func main() {
	ctx, cancel := protocol.Deadline()
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", "")
	protocol.Step("configuration", func() error {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		return err
	})
	config.QPS = -1
	binary := rest.CopyConfig(config)
	binary.ContentType = runtime.ContentTypeProtobuf
	binary.AcceptContentTypes = runtime.ContentTypeProtobuf
	typed := kubernetes.NewForConfigOrDie(binary)
	plain := kubernetes.NewForConfigOrDie(config)
	untyped := dynamic.NewForConfigOrDie(config)

	protocol.Step("discovery", func() error { return discovery(plain) })
	protocol.Step("create and get", func() error { return createAndGet(ctx, typed) })
	protocol.Step("list in pages", func() error { return pages(ctx, typed) })
	protocol.Step("watch", func() error { return watching(ctx, typed) })
	protocol.Step("update and conflict", func() error { return update(ctx, typed) })
	protocol.Step("apply", func() error { return apply(ctx, typed) })
	protocol.Step("patch", func() error { return patch(ctx, typed) })
	protocol.Step("reviews and tokens", func() error { return identity(ctx, typed) })
	protocol.Step("access", func() error { return access(ctx, typed, config) })
	protocol.Step("certificates", func() error { return certificate(ctx, typed) })
	protocol.Step("pods and nodes", func() error { return workloads(ctx, typed) })
	protocol.Step("custom resources", func() error { return custom(ctx, untyped, plain) })
	protocol.Step("informers through a restart", func() error { return restart(ctx, typed, untyped) })
	protocol.Step("delete", func() error { return remove(ctx, typed) })
}

func configMap(name string, data map[string]string) *core.ConfigMap {
	return &core.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "session"}},
		Data:       data,
	}
}

func discovery(client *kubernetes.Clientset) error {
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	groups, resources, err := client.Discovery().ServerGroupsAndResources()
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"})
	if err != nil {
		return err
	}
	if err := protocol.Want(mapping.Scope.Name() == meta.RESTScopeNameRoot, "scope %s", mapping.Scope.Name()); err != nil {
		return err
	}
	schemas, err := client.Discovery().OpenAPISchema()
	if err != nil {
		return err
	}
	paths, err := client.Discovery().OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	return protocol.Want(
		version.Major == "1" && len(groups) > 5 && len(resources) > 5 && len(schemas.Definitions.AdditionalProperties) > 20 && len(paths) > 5,
		"%v %d %d %d %d", version, len(groups), len(resources), len(schemas.Definitions.AdditionalProperties), len(paths),
	)
}

func createAndGet(ctx context.Context, client kubernetes.Interface) error {
	if _, err := client.CoreV1().Namespaces().Create(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	made := configMap("first", map[string]string{"key": "value", "empty": ""})
	made.BinaryData = map[string][]byte{"bytes": {0, 255, 10}}
	created, err := maps.Create(ctx, made, metav1.CreateOptions{FieldManager: "session"})
	if err != nil {
		return err
	}
	found, err := maps.Get(ctx, "first", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := protocol.Want(
		found.UID != "" && found.UID == created.UID && found.ResourceVersion == created.ResourceVersion &&
			found.Data["key"] == "value" && string(found.BinaryData["bytes"]) == "\x00\xff\n" &&
			len(found.ManagedFields) == 1 && found.ManagedFields[0].Manager == "session",
		"got %v", found); err != nil {
		return err
	}
	dry, err := maps.Create(ctx, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || dry.UID == "" {
		return fmt.Errorf("dry run: %v %v", dry, err)
	}
	if _, err = maps.Get(ctx, "dry", metav1.GetOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("dry run was kept: %v", err)
	}
	if _, err = maps.Create(ctx, made, metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		return fmt.Errorf("created twice: %v", err)
	}
	_, err = maps.Create(ctx, configMap("Not A Name", nil), metav1.CreateOptions{})
	if !errors.IsInvalid(err) {
		return fmt.Errorf("bad name: %v", err)
	}
	secret, err := client.CoreV1().Secrets(namespace).Create(ctx, &core.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "secret-"}, StringData: map[string]string{"password": "hidden"},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return protocol.Want(string(secret.Data["password"]) == "hidden" && secret.Type == core.SecretTypeOpaque, "got %v", secret)
}

func workloads(ctx context.Context, client kubernetes.Interface) error {
	nodes, pods := client.CoreV1().Nodes(), client.CoreV1().Pods(namespace)
	capacity := core.ResourceList{core.ResourceCPU: resource.MustParse("2")}
	node := &core.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "go-node"},
		Spec:       core.NodeSpec{PodCIDR: "10.1.0.0/24", Taints: []core.Taint{{Key: "a", Effect: core.TaintEffectNoSchedule}}},
		Status:     core.NodeStatus{Capacity: capacity, NodeInfo: core.NodeSystemInfo{KubeletVersion: "v1"}},
	}
	made, err := nodes.Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := protocol.Want(
		made.Status.Allocatable.Cpu().Value() == 2 && len(made.Spec.PodCIDRs) == 1 && made.Spec.Taints[0].Effect == core.TaintEffectNoSchedule,
		"got %v", made); err != nil {
		return err
	}
	pod := &core.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"},
		Spec: core.PodSpec{
			Containers: []core.Container{{
				Name: "main", Image: "image:1",
				LivenessProbe: &core.Probe{ProbeHandler: core.ProbeHandler{HTTPGet: &core.HTTPGetAction{Port: intstr.FromString("web")}}},
				Ports:         []core.ContainerPort{{Name: "web", ContainerPort: 80}},
			}},
			Volumes: []core.Volume{{Name: "secret", VolumeSource: core.VolumeSource{Secret: &core.SecretVolumeSource{SecretName: "s"}}}},
		},
	}
	created, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	container := created.Spec.Containers[0]
	if err := protocol.Want(
		created.Spec.RestartPolicy == core.RestartPolicyAlways && created.Status.Phase == core.PodPending &&
			container.LivenessProbe.HTTPGet.Path == "/" && container.Ports[0].Protocol == core.ProtocolTCP &&
			*created.Spec.Volumes[0].Secret.DefaultMode == 420,
		"got %v", created); err != nil {
		return err
	}
	created.Status.PodIP = "10.1.0.2"
	created.Status.Conditions = []core.PodCondition{{Type: core.PodReady, Status: core.ConditionTrue}}
	if _, err = pods.UpdateStatus(ctx, created, metav1.UpdateOptions{}); err != nil {
		return err
	}
	listed, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "status.podIP=10.1.0.2"})
	if err != nil {
		return err
	}
	if err := protocol.Want(
		len(listed.Items) == 1 && listed.Items[0].Status.PodIPs[0].IP == "10.1.0.2" && listed.Items[0].Status.QOSClass == core.PodQOSBestEffort,
		"listed %v", listed.Items); err != nil {
		return err
	}
	if err := pods.Delete(ctx, "pod", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return nodes.Delete(ctx, "go-node", metav1.DeleteOptions{})
}

func pages(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	for at := range 7 {
		made := configMap(fmt.Sprintf("page-%d", at), nil)
		made.Labels = map[string]string{"pages": "yes"}
		if _, err := maps.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	var names []string
	options := metav1.ListOptions{LabelSelector: "pages=yes", Limit: 3}
	revision := ""
	for round := 0; ; round++ {
		page, err := maps.List(ctx, options)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if round == 0 {
			revision = page.ResourceVersion
			extra := configMap("page-9", nil)
			extra.Labels = map[string]string{"pages": "yes"}
			if _, err := maps.Create(ctx, extra, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		if page.ResourceVersion != revision {
			return fmt.Errorf("page %d is at %s, not %s", round, page.ResourceVersion, revision)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if err := protocol.Want(sort.StringsAreSorted(names) && len(names) == 7, "got %v", names); err != nil {
		return err
	}
	one, err := maps.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=page-3"})
	if err != nil {
		return err
	}
	return protocol.Want(len(one.Items) == 1 && one.Items[0].Name == "page-3", "got %v", one.Items)
}

func watching(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	stream, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer stream.Stop()
	made, err := maps.Create(ctx, configMap("watched", map[string]string{"n": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["n"] = "2"
	if _, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err = maps.Delete(ctx, "watched", metav1.DeleteOptions{}); err != nil {
		return err
	}
	for _, wanted := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := <-stream.ResultChan()
		object, ok := event.Object.(*core.ConfigMap)
		if !ok || event.Type != wanted || object.Name != "watched" {
			return fmt.Errorf("wanted %s, got %v", wanted, event)
		}
	}
	initial := true
	started, err := maps.Watch(ctx, metav1.ListOptions{
		SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		return err
	}
	defer started.Stop()
	for count := 0; ; count++ {
		event := <-started.ResultChan()
		object, err := meta.Accessor(event.Object)
		if err != nil {
			return fmt.Errorf("%v: %w", event, err)
		}
		if event.Type == watch.Bookmark {
			return protocol.Want(object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" && count >= len(list.Items), "got %v after %d", object, count)
		}
	}
}

func update(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	found, err := maps.Get(ctx, "first", metav1.GetOptions{})
	if err != nil {
		return err
	}
	stale := found.DeepCopy()
	found.Data["key"] = "second"
	changed, err := maps.Update(ctx, found, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	same, err := maps.Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil || same.ResourceVersion != changed.ResourceVersion {
		return fmt.Errorf("an update without a change: %v %v", same, err)
	}
	stale.Data["key"] = "third"
	if _, err = maps.Update(ctx, stale, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		return fmt.Errorf("stale update: %v", err)
	}
	return nil
}

func apply(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	wanted := applycore.ConfigMap("applied", namespace).WithData(map[string]string{"a": "1", "b": "1"})
	applied, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	extracted, err := applycore.ExtractConfigMap(applied, "one")
	if err != nil || len(extracted.Data) != 2 {
		return fmt.Errorf("extracted %v %v", extracted, err)
	}
	other := applycore.ConfigMap("applied", namespace).WithData(map[string]string{"a": "2"})
	if _, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); !errors.IsConflict(err) {
		return fmt.Errorf("wanted a conflict: %v", err)
	}
	if _, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true}); err != nil {
		return err
	}
	less, err := maps.Apply(ctx, applycore.ConfigMap("applied", namespace), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	return protocol.Want(len(less.Data) == 1 && less.Data["a"] == "2", "got %v", less.Data)
}

func patch(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	patches := []struct {
		kind types.PatchType
		body string
	}{
		{types.JSONPatchType, `[{"op":"add","path":"/data/json","value":"1"}]`},
		{types.MergePatchType, `{"data":{"merge":"1"}}`},
		{types.StrategicMergePatchType, `{"data":{"strategic":"1","key":null}}`},
	}
	var last *core.ConfigMap
	for _, item := range patches {
		found, err := maps.Patch(ctx, "first", item.kind, []byte(item.body), metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("%s: %w", item.kind, err)
		}
		last = found
	}
	_, key := last.Data["key"]
	return protocol.Want(!key && last.Data["json"] == "1" && last.Data["merge"] == "1" && last.Data["strategic"] == "1", "got %v", last.Data)
}

func identity(ctx context.Context, client kubernetes.Interface) error {
	me, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authentication.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if me.Status.UserInfo.Username == "" {
		return fmt.Errorf("nobody: %v", me)
	}
	may, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorization.SelfSubjectAccessReview{
		Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorization.ResourceAttributes{Verb: "get", Resource: "secrets"}},
	}, metav1.CreateOptions{})
	if err != nil || !may.Status.Allowed {
		return fmt.Errorf("not allowed: %v %v", may, err)
	}
	if err := protocol.Until("the default service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	}); err != nil {
		return err
	}
	hour := int64(3600)
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "default", &authentication.TokenRequest{
		Spec: authentication.TokenRequestSpec{ExpirationSeconds: &hour},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	review, err := client.AuthenticationV1().TokenReviews().Create(ctx, &authentication.TokenReview{
		Spec: authentication.TokenReviewSpec{Token: token.Status.Token},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return protocol.Want(review.Status.Authenticated && review.Status.User.Username == "system:serviceaccount:"+namespace+":default", "got %v", review.Status)
}

func access(ctx context.Context, client kubernetes.Interface, config *rest.Config) error {
	roles := client.RbacV1().Roles(namespace)
	if _, err := roles.Create(ctx, &rbac.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(ctx, &rbac.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbac.Subject{{Kind: rbac.UserKind, APIGroup: rbac.GroupName, Name: "jane"}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	jane := rest.CopyConfig(config)
	jane.Impersonate = rest.ImpersonationConfig{UserName: "jane", Extra: map[string][]string{"example.com/why": {"a test"}}}
	acting := kubernetes.NewForConfigOrDie(jane)
	if err := protocol.Until("jane may read", func() bool {
		_, err := acting.CoreV1().ConfigMaps(namespace).Get(ctx, "first", metav1.GetOptions{})
		return err == nil
	}); err != nil {
		return err
	}
	_, err := acting.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	return protocol.Want(errors.IsForbidden(err), "listed: %v", err)
}

func certificate(ctx context.Context, client kubernetes.Interface) error {
	requests := client.CertificatesV1().CertificateSigningRequests()
	bytes, err := signingRequest("jane")
	if err != nil {
		return err
	}
	made, err := requests.Create(ctx, &certificates.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "go-session"},
		Spec: certificates.CertificateSigningRequestSpec{
			Request: bytes, SignerName: certificates.KubeAPIServerClientSignerName, Usages: []certificates.KeyUsage{certificates.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Conditions = append(made.Status.Conditions, certificates.CertificateSigningRequestCondition{
		Type: certificates.CertificateApproved, Status: core.ConditionTrue, Reason: "Session",
	})
	if _, err = requests.UpdateApproval(ctx, made.Name, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return protocol.Until("the certificate", func() bool {
		found, err := requests.Get(ctx, made.Name, metav1.GetOptions{})
		return err == nil && len(found.Status.Certificate) > 0
	})
}

func custom(ctx context.Context, client dynamic.Interface, plain *kubernetes.Clientset) error {
	crd := &unstructured.Unstructured{Object: widgetDefinition()}
	if _, err := client.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := protocol.Until("the definition is established", func() bool {
		found, err := client.Resource(crds).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, item := range conditions {
			condition := item.(map[string]any)
			if condition["type"] == "Established" && condition["status"] == "True" {
				return true
			}
		}
		return false
	}); err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(plain.Discovery()))
	if err := protocol.Until("the kind is discovered", func() bool {
		mapper.Reset()
		_, err := mapper.RESTMapping(schema.GroupKind{Group: widgets.Group, Kind: "Widget"})
		return err == nil
	}); err != nil {
		return err
	}
	ours := client.Resource(widgets).Namespace(namespace)
	made, err := ours.Create(ctx, widget("one", 3), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	colour, _, _ := unstructured.NestedString(made.Object, "spec", "colour")
	if err := protocol.Want(colour == "red" && made.GetGeneration() == 1, "got %v", made.Object); err != nil {
		return err
	}
	if _, err = ours.Create(ctx, widget("wrong", -1), metav1.CreateOptions{}); !errors.IsInvalid(err) {
		return fmt.Errorf("created: %v", err)
	}
	if err := unstructured.SetNestedField(made.Object, "ready", "status", "phase"); err != nil {
		return err
	}
	made, err = ours.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(made.Object, "status", "phase")
	if err := protocol.Want(phase == "ready" && made.GetGeneration() == 1, "got %v", made.Object); err != nil {
		return err
	}
	wanted := widget("one", 5)
	made, err = ours.Apply(ctx, "one", wanted, metav1.ApplyOptions{FieldManager: "session", Force: true})
	if err != nil {
		return err
	}
	return protocol.Want(made.GetGeneration() == 2, "got %v", made.Object)
}

func restart(ctx context.Context, typed kubernetes.Interface, untyped dynamic.Interface) error {
	var lock sync.Mutex
	seen := map[string]int{}
	record := func(object any) {
		lock.Lock()
		defer lock.Unlock()
		if accessor, err := meta.Accessor(object); err == nil {
			seen[accessor.GetName()]++
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(namespace))
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(namespace)
	informer := factory.Core().V1().ConfigMaps().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: record, DeleteFunc: record}); err != nil {
		return err
	}
	dynamicFactory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(untyped, 0, namespace, nil)
	widgetInformer := dynamicFactory.ForResource(widgets)
	widgetInformer.Informer()
	factory.Start(ctx.Done())
	dynamicFactory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	dynamicFactory.WaitForCacheSync(ctx.Done())

	maps := typed.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{"before", "gone-while-away"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := protocol.Until("an informer sees what is written", func() bool {
		_, err := lister.Get("gone-while-away")
		return err == nil
	}); err != nil {
		return err
	}
	if err := protocol.Restart(); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := untyped.Resource(widgets).Namespace(namespace).Create(ctx, widget("after", 1), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := protocol.Until("both informers are as the server is", func() bool {
		list, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false
		}
		cached, _ := lister.List(labels.Everything())
		versions := map[string]string{}
		for _, item := range cached {
			versions[item.Name] = item.ResourceVersion
		}
		for _, item := range list.Items {
			if versions[item.Name] != item.ResourceVersion {
				return false
			}
		}
		_, err = widgetInformer.Lister().ByNamespace(namespace).Get("after")
		return err == nil && len(cached) == len(list.Items)
	}); err != nil {
		return err
	}
	lock.Lock()
	defer lock.Unlock()
	return protocol.Want(
		seen["before"] == 2 && seen["gone-while-away"] == 2 && seen["made-while-away"] == 1 && seen["after"] == 1 && seen["first"] == 1,
		"got %v", seen)
}

func remove(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	found, err := maps.Get(ctx, "first", metav1.GetOptions{})
	if err != nil {
		return err
	}
	wrong := types.UID("other")
	if err := maps.Delete(ctx, "first", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !errors.IsConflict(err) {
		return fmt.Errorf("deleted another: %v", err)
	}
	if err := maps.Delete(ctx, "first", *metav1.NewPreconditionDeleteOptions(string(found.UID))); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "first", metav1.DeleteOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("deleted twice: %v", err)
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "pages=yes"}); err != nil {
		return err
	}
	left, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "pages=yes"})
	if err != nil || len(left.Items) > 0 {
		return fmt.Errorf("left: %v %v", left, err)
	}
	if err := client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return protocol.Until("the namespace is gone", func() bool {
		_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
}
