import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKubectls, type Kubectl, kubectl } from '../process/kubectl.js';
import { type ServerProgram, startServer, temporaryDirectory } from '../process/program.js';

/** kubectl's commands for identities and access work as with Kubernetes, in every version installed. */
const programs = findKubectls();
if (programs.length === 0) console.warn('SKIPPED: there is no kubectl on this machine');

const dataDir = temporaryDirectory();
let server: ServerProgram;
beforeAll(async () => {
  if (programs.length > 0) server = await startServer(dataDir);
});
afterAll(async () => {
  await server?.stop();
});

interface Claims {
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly sub: string;
  readonly 'kubernetes.io': Readonly<Record<string, { readonly name?: string; readonly uid?: string }>>;
}
const claimsOf = (token: string): Claims =>
  JSON.parse(Buffer.from(token.trim().split('.')[1] ?? '', 'base64url').toString()) as Claims;

// Each test creates its own objects, so that they can run concurrently: most of their time is spent on starting
// kubectl.
describe.skipIf(programs.length === 0).concurrent.each(programs)('kubectl $version', (program) => {
  const name = `auth-${program.version.replace('.', '-')}`;
  const minor = Number(program.version.split('.')[1] ?? 99);
  let k: Kubectl;
  const inNamespace = (...args: readonly string[]): Promise<string> => k('-n', name, ...args);
  const complaint = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await k.attempt('-n', name, ...args);
    expect(code).toBe(1);
    return stderr.trim();
  };
  const file = (what: string, text: string): string => {
    const path = join(dataDir, `${name}-${what}.yaml`);
    writeFileSync(path, text);
    return path;
  };
  beforeAll(async () => {
    k = kubectl(program, server.kubeconfig);
    await k('create', 'namespace', name);
    expect(await inNamespace('create', 'serviceaccount', 'sa')).toBe('serviceaccount/sa created\n');
    await inNamespace('create', 'secret', 'generic', 's');
  });

  test('create token', async () => {
    const usual = claimsOf(await inNamespace('create', 'token', 'sa'));
    expect(usual).toMatchObject({ aud: ['https://kubernetes.default.svc'], sub: `system:serviceaccount:${name}:sa` });
    expect(usual.exp - usual.iat).toBe(3_600);
    const special = claimsOf(
      await inNamespace('create', 'token', 'sa', '--audience=vault', '--audience=other', '--duration=20m'),
    );
    expect(special.aud).toEqual(['vault', 'other']);
    expect(special.exp - special.iat).toBe(1_200);
    const bound = ['--bound-object-kind=Secret', '--bound-object-name=s'];
    expect(claimsOf(await inNamespace('create', 'token', 'sa', ...bound))['kubernetes.io']).toMatchObject({
      secret: { name: 's', uid: expect.any(String) },
      serviceaccount: { name: 'sa' },
    });
    const spec = '{ serviceAccountName: sa, nodeName: node, containers: [{ name: c, image: i }] }';
    const pod = `apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec: ${spec}\n`;
    await inNamespace('create', '-f', file('pod', pod));
    const ofPod = ['--bound-object-kind=Pod', '--bound-object-name=p'];
    expect(claimsOf(await inNamespace('create', 'token', 'sa', ...ofPod))['kubernetes.io']).toMatchObject({
      pod: { name: 'p', uid: expect.any(String) },
      node: { name: 'node' },
    });
    expect(await complaint('create', 'token', 'default', ...ofPod)).toBe(
      'error: failed to create token: cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.',
    );
    expect(await inNamespace('create', 'token', 'sa', '-o', 'yaml')).toMatch(/^kind: TokenRequest$/m);
  });

  test('create token reports errors', async () => {
    expect(await complaint('create', 'token', 'none')).toBe(
      'error: failed to create token: serviceaccounts "none" not found',
    );
    expect(await complaint('create', 'token', 'sa', '--duration=1m')).toContain(
      'spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    );
    const missing = ['--bound-object-kind=Secret', '--bound-object-name=none'];
    expect(await complaint('create', 'token', 'sa', ...missing)).toBe(
      'error: failed to create token: secrets "none" not found',
    );
    const former = ['--bound-object-kind=Secret', '--bound-object-name=s', '--bound-object-uid=x'];
    expect(await complaint('create', 'token', 'sa', ...former)).toContain(
      'the UID in the bound object reference (x) does not match the UID in record',
    );
  });

  if (minor <= 27) {
    test('auth whoami reports that its API version is not served', async () => {
      expect(await complaint('auth', 'whoami')).toContain('the selfsubjectreviews API is not enabled in the cluster');
    });
  } else {
    test('auth whoami', async () => {
      const administrator = await k('auth', 'whoami');
      expect(administrator).toMatch(/^Username\s+kubernetes-admin$/m);
      expect(administrator).toMatch(/^Groups\s+\[system:masters system:authenticated\]$/m);
      const account = JSON.parse(
        await inNamespace('auth', 'whoami', '-o', 'json', '--as', `system:serviceaccount:${name}:sa`),
      ) as {
        readonly status: { readonly userInfo: object };
      };
      expect(account.status.userInfo).toEqual({
        username: `system:serviceaccount:${name}:sa`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${name}`, 'system:authenticated'],
      });
      const somebody = ['--as', 'bob', '--as-group', 'dev', '--as-uid', 'u-1'];
      expect(await k('auth', 'whoami', '-o', 'jsonpath={.status.userInfo}', ...somebody)).toBe(
        '{"groups":["dev","system:authenticated"],"uid":"u-1","username":"bob"}',
      );
    });
  }

  test('create role, rolebinding, clusterrole, clusterrolebinding; auth can-i', async () => {
    const role = ['create', 'role', 'reader', '--verb=get,list', '--resource=pods,pods/log', '--resource-name=one'];
    expect(await inNamespace(...role)).toBe('role.rbac.authorization.k8s.io/reader created\n');
    expect(await inNamespace('get', 'role', 'reader', '-o', 'jsonpath={.rules}')).toBe(
      '[{"apiGroups":[""],"resourceNames":["one"],"resources":["pods","pods/log"],"verbs":["get","list"]}]',
    );
    const bind = [
      'create',
      'rolebinding',
      'reader',
      '--role=reader',
      '--user=bob',
      '--group=dev',
      `--serviceaccount=${name}:sa`,
    ];
    expect(await inNamespace(...bind)).toBe('rolebinding.rbac.authorization.k8s.io/reader created\n');
    expect(await k('create', 'clusterrole', `${name}-health`, '--verb=get', '--non-resource-url=/metrics')).toContain(
      'created',
    );
    expect(await k('create', 'clusterrolebinding', name, `--clusterrole=${name}-health`, '--user=bob')).toContain(
      'created',
    );
    const collecting = ['create', 'clusterrole', `${name}-all`, `--aggregation-rule=collect=${name}`];
    expect(await k(...collecting)).toBe(`clusterrole.rbac.authorization.k8s.io/${name}-all created\n`);

    const can = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout } = await k.attempt('-n', name, 'auth', 'can-i', ...args);
      expect(code).toBe(stdout.startsWith('yes') ? 0 : 1);
      return stdout.trim();
    };
    expect(await can('delete', 'namespaces')).toBe('yes');
    expect(await can('get', 'pods/one', '--as', 'bob')).toBe('yes');
    expect(await can('get', 'pods/two', '--as', 'bob')).toMatch(/^no/);
    expect(await can('get', 'pods/one', '--subresource=log', '--as', 'bob')).toBe('yes');
    expect(await can('get', 'pods/one', '--subresource=exec', '--as', 'bob')).toMatch(/^no/);
    expect(await can('get', 'pods/one', '--as', 'eve', '--as-group', 'dev')).toBe('yes');
    expect(await can('get', 'pods/one', '--as', `system:serviceaccount:${name}:sa`)).toBe('yes');
    expect(await can('get', '/metrics', '--as', 'bob')).toBe('yes');
    expect(await can('get', '/metrics', '--as', 'eve')).toMatch(/^no/);
    const list = await inNamespace('auth', 'can-i', '--list', '--as', 'bob');
    expect(list).toMatch(/^pods\/log\s+\[\]\s+\[one\]\s+\[get list\]$/m);
    expect(list).toMatch(/^selfsubjectreviews\.authentication\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]$/m);
    expect(list).toMatch(/\[\/metrics\]\s+\[\]\s+\[get\]$/m);
  });

  test('forbidden requests are reported in full', async () => {
    const eve = ['--as', 'eve', '--as-group', 'writers'];
    await inNamespace('create', 'role', 'writer', '--verb=create', '--resource=roles.rbac.authorization.k8s.io');
    await inNamespace('create', 'rolebinding', 'writer', '--role=writer', '--group=writers');
    expect(await complaint('create', 'role', 'more', '--verb=get', '--resource=secrets', ...eve)).toBe(
      [
        'Error from server (Forbidden): roles.rbac.authorization.k8s.io "more" is forbidden: user "eve" (groups=["writers" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      ].join('\n'),
    );
    expect(await complaint('get', 'secrets', ...eve)).toBe(
      `Error from server (Forbidden): secrets is forbidden: User "eve" cannot list resource "secrets" in API group "" in the namespace "${name}"`,
    );
    expect(await complaint('create', 'token', 'sa', ...eve)).toBe(
      `error: failed to create token: serviceaccounts "sa" is forbidden: User "eve" cannot create resource "serviceaccounts/token" in API group "" in the namespace "${name}"`,
    );
  });

  test('auth reconcile', async () => {
    const rule = (verbs: string): string => `- { apiGroups: [""], resources: [configmaps], verbs: [${verbs}] }`;
    const objects = (verbs: string, role = 'wanted', subject = 'bob'): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: wanted, namespace: ${name}, labels: { a: b } }
rules:
${rule(verbs)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: wanted, namespace: ${name} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${role} }
subjects:
- { apiGroup: rbac.authorization.k8s.io, kind: User, name: ${subject} }
`;
    const reconcile = (text: string, ...more: readonly string[]): Promise<string> =>
      k('auth', 'reconcile', '-f', file('roles', text), ...more);
    const verbs = (): Promise<string> => inNamespace('get', 'role', 'wanted', '-o', 'jsonpath={.rules[*].verbs[*]}');
    const subjects = (): Promise<string> =>
      inNamespace('get', 'rolebinding', 'wanted', '-o', 'jsonpath={.roleRef.name}:{.subjects[*].name}');
    const both = [
      'role.rbac.authorization.k8s.io/wanted reconciled',
      'rolebinding.rbac.authorization.k8s.io/wanted reconciled',
    ];
    const out = await reconcile(objects('get'));
    for (const line of both) expect(out).toContain(line);
    await reconcile(objects('list', 'wanted', 'carol'));
    expect(await verbs()).toBe('get list');
    expect(await subjects()).toBe('wanted:bob carol');
    await reconcile(objects('list', 'wanted', 'carol'), '--remove-extra-permissions', '--remove-extra-subjects');
    expect(await verbs()).toBe('list');
    expect(await subjects()).toBe('wanted:carol');
    await inNamespace('create', 'role', 'other', '--verb=get', '--resource=configmaps');
    await reconcile(objects('list', 'other', 'carol'));
    expect(await subjects()).toBe('other:carol');
  });

  if (minor >= 33) {
    test('create token bound to a node', async () => {
      await k('create', '-f', file('node', `{ apiVersion: v1, kind: Node, metadata: { name: ${name} } }`));
      const bound = ['--bound-object-kind=Node', `--bound-object-name=${name}`];
      expect(claimsOf(await inNamespace('create', 'token', 'sa', ...bound))['kubernetes.io']).toMatchObject({
        node: { name },
      });
    });
  }

  test('a token authenticates its service account', async () => {
    const token = (await inNamespace('create', 'token', 'sa')).trim();
    const text = await k('config', 'view', '--raw', '--minify', '-o', 'json');
    const config = JSON.parse(text) as { users: { user: object }[] };
    const path = join(dataDir, `${name}.kubeconfig`);
    writeFileSync(
      path,
      JSON.stringify({ ...config, users: config.users.map((user) => ({ ...user, user: { token } })) }),
    );
    const asAccount = k.with(path);
    if (minor > 27) {
      const whoami = await asAccount('auth', 'whoami');
      expect(whoami).toMatch(new RegExp(`^Username\\s+system:serviceaccount:${name}:sa$`, 'm'));
      expect(whoami).toMatch(/^Extra: authentication\.kubernetes\.io\/credential-id\s+\[JTI=[0-9a-f-]{36}\]$/m);
    }
    const { stderr } = await asAccount.attempt('-n', name, 'get', 'secrets');
    expect(stderr).toContain(`User "system:serviceaccount:${name}:sa" cannot list resource "secrets"`);
  });
});
