import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../src/testing/until.js';
import { buildExample, root } from '../process/build.js';
import { opensslAuthority, opensslRequest, opensslVerify } from '../process/certificates.js';
import { kubeconfigAs } from '../process/kubeconfig.js';
import { findKubectls, type Kubectl, kubectl } from '../process/kubectl.js';
import { type Program, type ServerProgram, start, startServer, temporaryDirectory } from '../process/program.js';
import { gadget, gadgetDefinition, signingRequest } from './manifests.js';

/**
 * From a clean machine to a signed certificate, with every installed kubectl: one server, and for each version its own
 * namespace, requests and kind.
 */

const kubectls = findKubectls();
if (kubectls.length === 0) console.warn('kubectl is missing: the story is not played');

const nodeSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const ciSigner = 'example.com/ci';

describe.skipIf(kubectls.length === 0)('the story', () => {
  const dataDir = temporaryDirectory();
  const files = temporaryDirectory();
  let server: ServerProgram;
  let signer: Program;
  let admin: Kubectl;

  const write = (name: string, content: string): string => {
    const path = join(files, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    const [, started] = await Promise.all([buildExample('custom-signer/main.ts'), startServer(dataDir)]);
    server = started;
    const [first] = kubectls;
    if (first === undefined) return;
    admin = kubectl(first, server.kubeconfig);
    await admin('apply', '-f', join(root, 'examples/custom-signer/rbac.yaml'));
    const token = (await admin('create', 'token', 'ci-signer', '-n', 'ci-signer')).trim();
    const authority = opensslAuthority(files, 'ci-root');
    signer = start(process.execPath, [await buildExample('custom-signer/main.ts')], {
      env: {
        KUBECONFIG: kubeconfigAs(join(files, 'ci-signer.kubeconfig'), server.kubeconfig, { token }),
        CA_CERT: authority.certificate,
        CA_KEY: authority.key,
      },
    });
  });

  afterAll(async () => {
    await Promise.all([signer?.stop(), server?.stop()]);
    rmSync(join(root, 'examples/dist'), { recursive: true, force: true });
  });

  const json = async (k: Kubectl, ...args: readonly string[]) => JSON.parse(await k(...args, '-o', 'json'));

  /** Waits for a command's output. */
  const until = (k: Kubectl, args: readonly string[], holds: (output: string) => boolean): Promise<string> =>
    eventually(async () => (await k.attempt(...args)).stdout, holds, { what: args.join(' ') });

  const certificateOf = async (k: Kubectl, name: string): Promise<string> => {
    const column = ['get', 'csr', name, '-o', 'jsonpath={.status.certificate}'];
    return Buffer.from(await until(k, column, (text) => text !== ''), 'base64').toString();
  };

  const anchorsOf = (k: Kubectl, signerName: string): Promise<string> =>
    until(
      k,
      [
        'get',
        'clustertrustbundles',
        `--field-selector=spec.signerName=${signerName}`,
        '-o',
        'jsonpath={.items[*].spec.trustBundle}',
      ],
      (text) => text.includes('BEGIN CERTIFICATE'),
    );

  describe.each(kubectls)('with kubectl $version', (program) => {
    const tag = `k${program.version.replace(/\W/g, '')}`;
    const namespace = `story-${tag}`;
    const k = (...args: readonly string[]): Promise<string> => as()(...args);
    const as = (): Kubectl => kubectl(program, server.kubeconfig);
    /** Returns the server's name for the caller. Before 1.28 the command requests a version that is not served. */
    const whoami = async (caller: Kubectl): Promise<string> => {
      if (program.version !== '1.27') return caller('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
      const review = write('review.yaml', 'apiVersion: authentication.k8s.io/v1\nkind: SelfSubjectReview\n');
      return caller('create', '-f', review, '--validate=false', '-o', 'jsonpath={.status.userInfo.username}');
    };

    const request = async (name: string): Promise<void> => {
      const pem = opensslRequest(files, name, `/CN=${name}`);
      await k('create', '-f', write(`${name}.yaml`, signingRequest({ name, signerName: clientSigner, ...pem })));
    };

    test('discovers the API', async () => {
      expect(JSON.parse(await k('get', '--raw', '/version'))).toMatchObject({ major: '1', minor: '36' });
      expect((await k('api-resources', '-o', 'name')).split('\n')).toEqual(
        expect.arrayContaining([
          'namespaces',
          'secrets',
          'serviceaccounts',
          'certificatesigningrequests.certificates.k8s.io',
          'clustertrustbundles.certificates.k8s.io',
          'customresourcedefinitions.apiextensions.k8s.io',
          'validatingwebhookconfigurations.admissionregistration.k8s.io',
          'deviceclasses.resource.k8s.io',
          'selfsubjectreviews.authentication.k8s.io',
        ]),
      );
      expect(await k('get', 'ns')).toMatch(/^NAME +STATUS +AGE\n(?:.*\n)*default +Active +\d+/);
      const explained = await k('explain', 'csr.spec');
      expect(explained).toMatch(/KIND: +CertificateSigningRequest/);
      expect(explained).toMatch(/signerName\t<string>.*/);
      expect(await whoami(as())).toBe('kubernetes-admin');
    });

    test('sees service accounts of a new namespace appear', async () => {
      expect(await k('create', 'ns', namespace)).toBe(`namespace/${namespace} created\n`);
      const watch = as().start('get', 'sa', '-n', namespace, '-w', '--no-headers');
      await watch.printed(/^default\s/m);
      await k('create', 'sa', 'bootstrap', '-n', namespace);
      await watch.printed(/^bootstrap\s/m);
      await watch.stop();
    });

    test('gets a node agent its certificate without approval by hand', async () => {
      const name = `node-${tag}`;
      for (const role of ['node-bootstrapper', 'certificates.k8s.io:certificatesigningrequests:nodeclient']) {
        const binding = `${namespace}-${role.split(':').at(-1)}`;
        const grant = [`--clusterrole=system:${role}`, `--serviceaccount=${namespace}:bootstrap`];
        await k('create', 'clusterrolebinding', binding, ...grant);
      }
      const token = (await k('create', 'token', 'bootstrap', '-n', namespace)).trim();
      const agent = as().with(kubeconfigAs(join(files, `${tag}.kubeconfig`), server.kubeconfig, { token }));
      expect(await whoami(agent)).toBe(`system:serviceaccount:${namespace}:bootstrap`);

      // The existing objects are printed first, so that no later event is missed.
      await request(`alice-${tag}`);
      const watch = as().start('get', 'csr', '-w', '--no-headers');
      await watch.printed(new RegExp(`^alice-${tag} .* Pending$`, 'm'));
      const pem = opensslRequest(files, name, `/O=system:nodes/CN=system:node:${name}`);
      const manifest = write(`${name}.yaml`, signingRequest({ name, signerName: nodeSigner, request: pem.request }));
      expect(await agent('create', '-f', manifest)).toMatch(/created\n$/);
      const approved = 'jsonpath={.status.conditions[0].reason}=AutoApproved';
      expect(await k('wait', `--for=${approved}`, `csr/${name}`, '--timeout=15s')).toMatch(/condition met/);
      const certificate = await certificateOf(as(), name);
      await watch.printed(new RegExp(`^${name} .* Approved,Issued$`, 'm'));
      await watch.stop();
      const conditions = watch.stdout
        .split('\n')
        .filter((line) => line.startsWith(`${name} `))
        .map((line) => line.split(/ +/).at(-1));
      expect(conditions).toEqual(['Pending', 'Approved', 'Approved,Issued']);

      expect(await k('get', 'csr', name)).toMatch(
        new RegExp(
          '^NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION\n' +
            `${name} +\\d+s +${nodeSigner} +system:serviceaccount:${namespace}:bootstrap +120m +Approved,Issued\n$`,
        ),
      );
      const seen = opensslVerify(files, certificate, await anchorsOf(as(), nodeSigner));
      expect(seen).toMatchObject({
        subject: `O=system:nodes, CN=system:node:${name}`,
        usages: 'Digital Signature; TLS Web Client Authentication',
      });
      // The certificate is backdated by five minutes, for clocks that are behind.
      expect(seen.seconds).toBe(7_200 + 300);

      const node = kubeconfigAs(join(files, `${name}.kubeconfig`), server.kubeconfig, {
        'client-certificate-data': Buffer.from(certificate).toString('base64'),
        'client-key-data': readFileSync(pem.key).toString('base64'),
      });
      expect(await whoami(as().with(node))).toBe(`system:node:${name}`);
    });

    test('lets a person approve and deny client certificates', async () => {
      const [alice, mallory] = [`alice-${tag}`, `mallory-${tag}`];
      await request(mallory);
      expect(await k('get', 'csr', alice, '--no-headers')).toMatch(/ Pending\n$/);
      expect(await k('certificate', 'approve', alice)).toBe(
        `certificatesigningrequest.certificates.k8s.io/${alice} approved\n`,
      );
      await k('wait', '--for=condition=Approved', `csr/${alice}`, '--timeout=15s');
      const seen = opensslVerify(files, await certificateOf(as(), alice), await anchorsOf(as(), clientSigner));
      expect(seen.subject).toBe(`CN=${alice}`);
      expect((await json(as(), 'get', 'csr', alice)).status.conditions).toMatchObject([
        { type: 'Approved', status: 'True', reason: 'KubectlApprove' },
      ]);

      expect(await k('certificate', 'deny', mallory)).toBe(
        `certificatesigningrequest.certificates.k8s.io/${mallory} denied\n`,
      );
      expect(await k('get', 'csr', mallory, '--no-headers')).toMatch(/ Denied\n$/);
      const late = await as().attempt('certificate', 'approve', mallory);
      expect([late.code, late.stdout]).toEqual([1, '']);
      expect(late.stderr).toMatch(/already Denied|is invalid/);
      expect((await json(as(), 'get', 'csr', mallory)).status.certificate).toBeUndefined();
    });

    test('gets certificates of a custom signer under its own name', async () => {
      const name = `job-${tag}`;
      const pem = opensslRequest(files, name, `/CN=${name}`);
      const manifest = write(`${name}.yaml`, signingRequest({ name, signerName: ciSigner, ...pem }));
      const job = ['--as=runner', '--as-group=ci:jobs', '--as-group=system:masters'];
      await k('create', '-f', manifest, ...job);
      await k('certificate', 'approve', name);
      const certificate = await certificateOf(as(), name);
      const anchors = await anchorsOf(as(), ciSigner);
      expect(anchors.trim()).toBe(readFileSync(join(files, 'ci-root.crt'), 'utf8').trim());
      expect(opensslVerify(files, certificate, anchors).subject).toBe(`CN=${name}`);
      const prefix = ciSigner.replace('/', ':');
      expect(await k('get', 'clustertrustbundles', '-o', 'name')).toMatch(new RegExp(`/${prefix}:[0-9a-f]+$`, 'm'));
    });

    test('sees published objects come back when deleted or edited', async () => {
      const [bundle] = (
        await json(as(), 'get', 'clustertrustbundles', `--field-selector=spec.signerName=${clientSigner}`)
      ).items;
      await k('delete', 'clustertrustbundle', bundle.metadata.name);
      const replaced = ['get', 'clustertrustbundle', bundle.metadata.name, '-o', 'jsonpath={.metadata.uid}'];
      await until(as(), replaced, (uid) => uid !== '' && uid !== bundle.metadata.uid);
      expect((await json(as(), 'get', 'clustertrustbundle', bundle.metadata.name)).spec).toEqual(bundle.spec);

      const root = ['configmap', 'kube-root-ca.crt', '-n', namespace];
      const content = ['get', ...root, '-o', 'jsonpath={.data.ca\\.crt}'];
      const before = await until(as(), content, (text) => text.includes('BEGIN CERTIFICATE'));
      await k('patch', ...root, '-p', '{"data":{"ca.crt":"nonsense"}}');
      expect(await until(as(), content, (text) => text !== 'nonsense')).toBe(before);
      await k('delete', ...root);
      expect(await until(as(), content, (text) => text !== '')).toBe(before);
    });

    test('serves, explains, prunes, defaults and validates a custom kind', async () => {
      const group = `${tag}.example.com`;
      const resource = `gadgets.${group}`;
      const definition = write(`${tag}-crd.yaml`, gadgetDefinition(group));
      const definitionName = `customresourcedefinition.apiextensions.k8s.io/${resource}`;
      expect(await k('apply', '-f', definition)).toBe(`${definitionName} created\n`);
      await k('wait', '--for=condition=NamesAccepted', `crd/${resource}`, '--timeout=15s');
      await k('wait', '--for=condition=Established', `crd/${resource}`, '--timeout=15s');
      expect(await k('apply', '-f', definition)).toBe(`${definitionName} unchanged\n`);
      expect(await k('api-resources', `--api-group=${group}`, '--no-headers')).toMatch(
        new RegExp(`^gadgets +gd +${group}/v1 +true +Gadget`),
      );

      const apply = (name: string, spec: object, ...flags: readonly string[]) =>
        as().attempt('apply', '-n', namespace, '-f', write(`${tag}-${name}.yaml`, gadget(group, name, spec)), ...flags);
      const unknown = await apply('g1', { colour: 'red', weight: 5 });
      expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('unknown field "spec.weight"')]);
      const pruned = await apply('g1', { colour: 'red', weight: 5 }, '--validate=false');
      expect(pruned).toMatchObject({ code: 0, stdout: `gadget.${group}/g1 created\n` });
      expect((await json(as(), 'get', resource, 'g1', '-n', namespace)).spec).toEqual({ colour: 'red', size: 3 });
      expect(await k('get', resource, '-n', namespace)).toMatch(/^NAME +SIZE\ng1 +3\n$/);

      const invalid = await apply('g2', { colour: 'blue', size: 11 });
      expect(invalid.code).toBe(1);
      expect(invalid.stderr).toContain('spec.colour: Unsupported value: "blue": supported values: "red", "green"');
      expect(invalid.stderr).toContain(
        'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10',
      );
      expect(await apply('g1', { colour: 'green' })).toMatchObject({
        code: 0,
        stdout: `gadget.${group}/g1 configured\n`,
      });

      const explained = await until(as(), ['explain', `${resource}.spec`], (text) => text.includes('colour'));
      expect(explained).toContain('What the gadget should be.');
      expect(explained).toContain('Its looks.');
      expect(await k('delete', 'crd', resource)).toContain('deleted');
      expect((await as().attempt('get', resource, '-n', namespace)).stderr).toContain(
        "the server doesn't have a resource type",
      );
    });
  });

  test('after kill -9 everything is there, and nothing issued has changed', async () => {
    const [first] = kubectls;
    if (first === undefined) throw new Error('no kubectl');
    const facts = (items: readonly { metadata: { name: string; uid: string }; status?: { certificate?: string } }[]) =>
      items.map(({ metadata, status }) => [metadata.name, metadata.uid, status?.certificate]);
    const before = facts((await json(admin, 'get', 'csr')).items);
    expect(before.length).toBe(4 * kubectls.length);
    const namespaces = await admin('get', 'ns', '-o', 'name');
    server.kill('SIGKILL');
    await server.ended;
    server = await startServer(dataDir);
    const again = kubectl(first, server.kubeconfig);
    expect(facts((await json(again, 'get', 'csr')).items)).toEqual(before);
    expect(await again('get', 'ns', '-o', 'name')).toBe(namespaces);
    expect(
      (await json(again, 'get', 'csr', `mallory-${`k${first.version.replace(/\W/g, '')}`}`)).status.certificate,
    ).toBe(undefined);
  });
});
