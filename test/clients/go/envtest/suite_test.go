package envtest

import (
	"context"
	"testing"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestEnvironment uses what envtest offers: a server for the test, an administrator, and users with client certificates.
func TestEnvironment(t *testing.T) {
	environment := &envtest.Environment{}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	admin := kubernetes.NewForConfigOrDie(config)
	if _, err := admin.CoreV1().ConfigMaps("default").Create(ctx, &core.ConfigMap{
		ObjectMeta: meta.ObjectMeta{Name: "settings"},
		Data:       map[string]string{"color": "blue"},
	}, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	alice, err := environment.AddUser(envtest.User{Name: "alice", Groups: []string{"team"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	hers := kubernetes.NewForConfigOrDie(alice.Config())
	if _, err := hers.CoreV1().ConfigMaps("default").List(ctx, meta.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("alice has no role, and gets %v", err)
	}

	// Requires the service account that admission checks.
	if _, err := admin.CoreV1().Pods("default").Create(ctx, &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: "web"},
		Spec:       core.PodSpec{Containers: []core.Container{{Name: "web", Image: "web"}}},
	}, meta.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
