// A controller-runtime manager: typed and unstructured informers, a reconciler that writes spec and status, leader
// election, finalizers and events, with a restart of the server in between.
package main

import (
	"context"
	"fmt"
	"time"

	core "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kedge.example/clients/protocol"
)

const (
	namespace = "go-manager"
	finalizer = "manager.example.com/cleanup"
)

var teams = schema.GroupVersionKind{Group: "manager.example.com", Version: "v1", Kind: "Team"}

// reconciler maintains one ConfigMap for each Team, reports it in the status, and cleans up after the Team.
type reconciler struct {
	client.Client
	recorder events.EventRecorder
	cleaned  chan string
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	team := &unstructured.Unstructured{}
	team.SetGroupVersionKind(teams)
	if err := r.Get(ctx, request.NamespacedName, team); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !team.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(team, finalizer) {
			r.cleaned <- team.GetName()
			return ctrl.Result{}, r.Update(ctx, team)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(team, finalizer) {
		return ctrl.Result{}, r.Update(ctx, team)
	}
	owner, _, _ := unstructured.NestedString(team.Object, "spec", "owner")
	made := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: team.GetNamespace(), Name: team.GetName()}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, made, func() error {
		made.Data = map[string]string{"owner": owner}
		return controllerutil.SetControllerReference(team, made, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if done, _, _ := unstructured.NestedString(team.Object, "status", "owner"); done == owner {
		return ctrl.Result{}, nil
	}
	before := team.DeepCopy()
	if err := unstructured.SetNestedField(team.Object, owner, "status", "owner"); err != nil {
		return ctrl.Result{}, err
	}
	// Without the resource version, with which each would be a separate event.
	about := &core.ObjectReference{
		APIVersion: teams.GroupVersion().String(), Kind: teams.Kind, Namespace: team.GetNamespace(), Name: team.GetName(),
	}
	r.recorder.Eventf(about, nil, core.EventTypeNormal, "Owned", "SetOwner", "has an owner")
	return ctrl.Result{}, r.Status().Patch(ctx, team, client.MergeFrom(before))
}

func main() {
	ctx, cancel := protocol.Deadline()
	defer cancel()
	log.SetLogger(zap.New(zap.UseDevMode(false)))
	types := runtime.NewScheme()
	var manager ctrl.Manager
	var direct client.Client
	cleaned := make(chan string, 100)

	protocol.Step("client", func() (err error) {
		if err = scheme.AddToScheme(types); err != nil {
			return err
		}
		if err = apiextensions.AddToScheme(types); err != nil {
			return err
		}
		direct, err = client.New(ctrl.GetConfigOrDie(), client.Options{Scheme: types})
		if err != nil {
			return err
		}
		return direct.Create(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	})
	protocol.Step("definition", func() error {
		if err := direct.Create(ctx, definition()); err != nil {
			return err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(teams)
		return protocol.Until("the kind is served", func() bool { return direct.List(ctx, list) == nil })
	})
	protocol.Step("manager", func() (err error) {
		manager, err = ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
			Scheme:                  types,
			Metrics:                 server.Options{BindAddress: "0"},
			LeaderElection:          true,
			LeaderElectionID:        "session.manager.example.com",
			LeaderElectionNamespace: namespace,
			LeaseDuration:           ptr.To(15 * time.Second),
			RenewDeadline:           ptr.To(10 * time.Second),
		})
		if err != nil {
			return err
		}
		team := &unstructured.Unstructured{}
		team.SetGroupVersionKind(teams)
		return ctrl.NewControllerManagedBy(manager).For(team).Owns(&core.ConfigMap{}).
			Complete(&reconciler{
				Client:   manager.GetClient(),
				recorder: manager.GetEventRecorder("teams"),
				cleaned:  cleaned,
			})
	})
	ended := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { ended <- manager.Start(running) }()
	protocol.Step("leader election", func() error {
		select {
		case <-manager.Elected():
			return nil
		case err := <-ended:
			return fmt.Errorf("the manager ended: %v", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	protocol.Step("reconcile", func() error {
		if err := direct.Create(ctx, team("blue", "ada")); err != nil {
			return err
		}
		if err := settled(ctx, direct, "blue", "ada"); err != nil {
			return err
		}
		found := team("blue", "")
		if err := direct.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return err
		}
		before := found.DeepCopy()
		if err := unstructured.SetNestedField(found.Object, "grace", "spec", "owner"); err != nil {
			return err
		}
		if err := direct.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
		return settled(ctx, direct, "blue", "grace")
	})
	protocol.Step("events", func() error {
		selected := []client.ListOption{
			client.InNamespace(namespace),
			client.MatchingFields{"regarding.name": "blue", "reason": "Owned"},
		}
		// The owner was set twice, which results in one event and its repetition.
		if err := protocol.Until("the event is repeated", func() bool {
			found := &eventsv1.EventList{}
			if err := direct.List(ctx, found, selected...); err != nil || len(found.Items) != 1 {
				return false
			}
			event := found.Items[0]
			return event.Series != nil && event.Series.Count == 2 && event.Action == "SetOwner" &&
				event.ReportingController == "teams" && event.Regarding.Kind == teams.Kind
		}); err != nil {
			return err
		}
		older := &core.EventList{}
		if err := direct.List(ctx, older, client.InNamespace(namespace), client.MatchingFields{"reason": "Owned"}); err != nil {
			return err
		}
		if len(older.Items) != 1 || older.Items[0].Message != "has an owner" {
			return fmt.Errorf("the core group has %v", older.Items)
		}
		return nil
	})
	protocol.Step("owned objects", func() error {
		made := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "blue"}}
		if err := direct.Delete(ctx, made); err != nil {
			return err
		}
		return settled(ctx, direct, "blue", "grace")
	})
	protocol.Step("restart", func() error {
		if err := protocol.Restart(); err != nil {
			return err
		}
		if err := direct.Create(ctx, team("green", "linus")); err != nil {
			return err
		}
		if err := settled(ctx, direct, "green", "linus"); err != nil {
			return err
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the manager ended: %v", err)
		default:
			return nil
		}
	})
	protocol.Step("finalizer", func() error {
		if err := direct.Delete(ctx, team("green", "")); err != nil {
			return err
		}
		if name := <-cleaned; name != "green" {
			return fmt.Errorf("cleaned %s", name)
		}
		found := team("green", "")
		if err := protocol.Until("the team is gone", func() bool {
			return errors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(found), found))
		}); err != nil {
			return err
		}
		return protocol.Until("what it owned is collected", func() bool {
			return errors.IsNotFound(direct.Get(ctx, key("green"), &core.ConfigMap{}))
		})
	})
	protocol.Step("stop", func() error {
		stop()
		return <-ended
	})
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func team(name, owner string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"owner": owner}}}
	made.SetGroupVersionKind(teams)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

// settled waits until the reconciler has done its work for a team.
func settled(ctx context.Context, reader client.Client, name, owner string) error {
	return protocol.Until(name+" is owned by "+owner, func() bool {
		made := &core.ConfigMap{}
		if err := reader.Get(ctx, key(name), made); err != nil || made.Data["owner"] != owner {
			return false
		}
		found := team(name, "")
		if err := reader.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return false
		}
		told, _, _ := unstructured.NestedString(found.Object, "status", "owner")
		return told == owner
	})
}

func definition() *apiextensions.CustomResourceDefinition {
	text := map[string]apiextensions.JSONSchemaProps{"owner": {Type: "string"}}
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "teams." + teams.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: teams.Group,
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "teams", Kind: teams.Kind},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: teams.Version, Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensions.JSONSchemaProps{
						"spec":   {Type: "object", Properties: text},
						"status": {Type: "object", Properties: text},
					},
				}},
			}},
		},
	}
}
