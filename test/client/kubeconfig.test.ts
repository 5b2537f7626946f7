import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessError } from '../../src/client/cluster-access.js';
import { accessFromText, usersInFile } from '../../src/client/kubeconfig.js';
import { findAccess, inCluster } from '../../src/client/remote-client.js';
import { testAuthority } from '../../src/testing/certificates.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterAll(() => rm(directory, { recursive: true }));
const file = async (name: string, text: string | Buffer): Promise<string> => {
  await writeFile(join(directory, name), text);
  return join(directory, name);
};

const inUtf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const config = (user: object, cluster: object = {}, more: object = {}): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://h:1', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } },
      { name: 'nobody', context: { cluster: 'c' } },
    ],
    'current-context': 'x',
    ...more,
  });
const clock = new FakeClock();
const read = (text: string, context?: string) =>
  accessFromText(text, {
    clock,
    env: { PATH: process.env['PATH'] },
    directory,
    ...(context === undefined ? {} : { context }),
  });
const credentialsOf = async (user: object) => (await read(config(user))).credentials.current();

const { anchors } = await testAuthority();

describe('a kubeconfig', () => {
  test('in YAML gives server, credentials and namespace', async () => {
    const access = await read(`
apiVersion: v1
kind: Config
clusters:
- name: c
  cluster:
    server: https://h:1
    certificate-authority-data: ${base64(anchors)}
    tls-server-name: other
users:
- name: u
  user: { token: t }
contexts:
- name: x
  context: { cluster: c, user: u, namespace: team }
current-context: x
`);
    expect(access).toMatchObject({
      server: 'https://h:1',
      ca: anchors,
      serverName: 'other',
      namespace: 'team',
      insecure: false,
    });
    expect(await access.credentials.current()).toEqual({ authorization: 'Bearer t' });
  });

  test.each<[string, object, object]>([
    ['a token', { token: 't' }, { authorization: 'Bearer t' }],
    ['a password', { username: 'u', password: 'p' }, { authorization: `Basic ${base64('u:p')}` }],
    [
      'a client certificate',
      { 'client-certificate-data': base64('C'), 'client-key-data': base64('K') },
      { certificate: 'C', key: 'K' },
    ],
    ['none', {}, {}],
  ])('gives credentials: %s', async (_, user, expected) => {
    expect(await credentialsOf(user)).toEqual(expected);
  });

  test('refers to files relative to its own folder', async () => {
    await Promise.all([file('ca.pem', anchors), file('cert.pem', 'C'), file('key.pem', 'K')]);
    const access = await read(
      config(
        { 'client-certificate': 'cert.pem', 'client-key': join(directory, 'key.pem') },
        { 'certificate-authority': 'ca.pem' },
      ),
    );
    expect(access.ca).toBe(anchors);
    expect(await access.credentials.current()).toEqual({ certificate: 'C', key: 'K' });
  });

  test('reads a token file again after a minute, and after a refusal', async () => {
    const path = await file('token', 'one\n');
    const { credentials } = await read(config({ tokenFile: 'token' }));
    expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
    await writeFile(path, 'two');
    expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
    await clock.advance(60_000);
    expect(await credentials.current()).toEqual({ authorization: 'Bearer two' });
    await writeFile(path, 'three');
    expect(credentials.refused({})).toBe(true);
    expect(await credentials.current()).toEqual({ authorization: 'Bearer three' });
  });

  test('keeps the last token while its file is empty or missing', async () => {
    const path = await file('renewed', 'one');
    const { credentials } = await read(config({ tokenFile: 'renewed' }));
    expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
    await writeFile(path, '\n');
    await clock.advance(60_000);
    expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
    await rm(path);
    expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
    await writeFile(path, 'two');
    expect(await credentials.current()).toEqual({ authorization: 'Bearer two' });
  });

  test.each([
    ['that is not there', undefined, /cannot read the token/],
    ['that is empty', ' \n', /no token in/],
    ['that is larger than any', 'x'.repeat(16 * 1_048_576 + 1), /cannot read the token/],
  ])('fails for a token file %s if there was no earlier token', async (name, text, message) => {
    if (text !== undefined) await file(name, text);
    await expect(credentialsOf({ tokenFile: name })).rejects.toThrow(message);
  });

  test('prefers a token file to a token, unless the file does not exist', async () => {
    await file('fresh', 'fresh');
    expect(await credentialsOf({ token: 'stale', tokenFile: 'fresh' })).toEqual({ authorization: 'Bearer fresh' });
    expect(await credentialsOf({ token: 'only', tokenFile: 'none' })).toEqual({ authorization: 'Bearer only' });
  });

  test('reads certificate files again after a minute and after a refusal, once they match', async () => {
    const ca = await testAuthority();
    const pair = async () => {
      const { certificate, key } = await ca.issueClient({ commonName: 'u', seconds: 3_600 });
      return { certificate, key };
    };
    const write = async (name: 'crt' | 'key', text: string) => file(`client.${name}`, text);
    const [one, two, three] = [await pair(), await pair(), await pair()];
    await write('crt', one.certificate);
    await write('key', one.key);
    const { credentials } = await read(config({ 'client-certificate': 'client.crt', 'client-key': 'client.key' }));
    await write('crt', two.certificate);
    expect(await credentials.current()).toEqual(one);
    await clock.advance(60_000);
    expect(await credentials.current()).toEqual(one);
    await write('key', two.key);
    await clock.advance(60_000);
    expect(await credentials.current()).toEqual(two);
    await write('crt', three.certificate);
    await write('key', three.key);
    expect(credentials.refused(two)).toBe(true);
    expect(await credentials.current()).toEqual(three);
    await rm(join(directory, 'client.crt'));
    await clock.advance(60_000);
    expect(await credentials.current()).toEqual(three);
  });

  test('may impersonate another user', async () => {
    const access = await read(
      config({ as: 'bob', 'as-groups': ['g', 'h'], 'as-uid': '1', 'as-user-extra': { 'a/b': ['v'] } }),
    );
    expect(access.headers).toEqual({
      'Impersonate-User': 'bob',
      'Impersonate-Uid': '1',
      'Impersonate-Group': ['g', 'h'],
      'Impersonate-Extra-a%2Fb': ['v'],
    });
  });

  test('has a current context, and others can be chosen', async () => {
    expect(await (await read(config({ token: 't' }), 'nobody')).credentials.current()).toEqual({});
  });

  test.each([{ name: 'u' }, { name: 'u', user: null }])('may have a user without data', async (user) => {
    expect(await (await read(config({}, {}, { users: [user] }))).credentials.current()).toEqual({});
  });

  test.each<[string, string, RegExp]>([
    ['invalid YAML', '{', /neither YAML nor JSON/],
    ['YAML that is too large', `a: ${'b'.repeat(1_048_576)}`, /neither YAML of at most 1048576 bytes nor JSON/],
    ['a list', '[]', /not an object/],
    ['no current context', config({}, {}, { 'current-context': '' }), /no current-context/],
    ['an unknown context', config({}, {}, { 'current-context': 'y' }), /no context "y"/],
    ['an unknown cluster', config({}, {}, { clusters: [] }), /no cluster "c"/],
    ['an unknown user', config({}, {}, { users: null }), /no user "u"/],
    ['no server', config({}, { server: '' }), /has no server/],
    ['a proxy', config({}, { 'proxy-url': 'http://p' }), /proxy-url/],
    ['a certificate without a key', config({ 'client-certificate-data': 'AA==' }), /together/],
    [
      'a missing file',
      config({}, { 'certificate-authority': 'missing.pem' }),
      /cannot read certificate-authority .*missing\.pem/,
    ],
    [
      'an invalid CA',
      config({}, { 'certificate-authority-data': base64('CA') }),
      /certificate-authority of cluster "c" is not a certificate/,
    ],
    [
      'a CA combined with insecure-skip-tls-verify',
      config({}, { 'certificate-authority-data': base64(anchors), 'insecure-skip-tls-verify': true }),
      /cannot be combined/,
    ],
    ['a token that is not a string', config({ token: ['t'] }), /token of a user of the kubeconfig is not a string/],
    ['no command', config({ exec: {} }), /has no command/],
    ['an unknown exec version', config({ exec: { apiVersion: 'v0', command: 'x' } }), /speaks v0/],
  ])('is refused with a reason: %s', async (_, text, message) => {
    const error = await read(text).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(AccessError);
    expect(String(error)).toMatch(message);
  });
});

describe('an exec plugin', () => {
  const plugin = async (body: string, more: object = {}) => {
    const name = `plugin-${Math.random().toString(36).slice(2)}.sh`;
    await chmod(await file(name, `#!/bin/sh\n${body}\n`), 0o755);
    return config({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: `./${name}`, ...more } });
  };
  const answer = (status: string): string =>
    `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}'`;

  test('is run when needed, cached until it expires, and run again after a refusal', async () => {
    const log = join(directory, 'runs');
    const expires = new Date(clock.now() + 60_000).toISOString();
    const text = await plugin(
      `echo "$KUBERNETES_EXEC_INFO $ENVIRON $1" >> ${log}\n${answer(`{"token":"t","expirationTimestamp":"${expires}"}`)}`,
      {
        args: ['argument'],
        env: [{ name: 'ENVIRON', value: 'own' }],
        provideClusterInfo: true,
      },
    );
    const { credentials } = await read(text);
    const runs = async (): Promise<readonly string[]> => {
      return (await readFile(log, 'utf8')).trim().split('\n');
    };
    const both = await Promise.all([credentials.current(), credentials.current()]);
    expect(both).toEqual([{ authorization: 'Bearer t' }, { authorization: 'Bearer t' }]);
    await credentials.current();
    expect(await runs()).toEqual([
      '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://h:1"}}} own argument',
    ]);
    // Credentials that another call presented earlier no longer count.
    credentials.refused({ authorization: 'Bearer old' });
    await credentials.current();
    expect((await runs()).length).toBe(1);
    credentials.refused({ authorization: 'Bearer t' });
    await credentials.current();
    expect((await runs()).length).toBe(2);
    await clock.advance(51_000);
    await credentials.current();
    expect((await runs()).length).toBe(3);
  });

  test('receives the cluster config, runs in the working directory, and gets no input', async () => {
    const log = join(directory, 'told');
    const body = `read answer; echo "$KUBERNETES_EXEC_INFO $answer" > ${log}; pwd >> ${log}\n${answer('{"token":"t"}')}`;
    const text = JSON.parse(await plugin(body, { provideClusterInfo: true, interactiveMode: 'IfAvailable' }));
    const [{ cluster }] = text.clusters;
    cluster.extensions = [
      { name: 'other', extension: { audience: 'you' } },
      { name: 'client.authentication.k8s.io/exec', extension: { audience: 'me' } },
    ];
    const { credentials } = await read(JSON.stringify(text));
    expect(await credentials.current()).toEqual({ authorization: 'Bearer t' });
    const [info = '', where] = (await readFile(log, 'utf8')).split('\n');
    expect(JSON.parse(info).spec.cluster.config).toEqual({ audience: 'me' });
    expect(where).toBe(process.cwd());
  });

  test('may return a certificate', async () => {
    const { credentials } = await read(await plugin(answer('{"clientCertificateData":"C","clientKeyData":"K"}')));
    expect(await credentials.current()).toEqual({ certificate: 'C', key: 'K' });
  });

  test.each<[string, string, RegExp]>([
    ['fails', 'exit 3', /failed/],
    ['prints something else', 'echo hello', /did not answer with an ExecCredential/],
    ['returns no credentials', answer('{}'), /neither a token nor a certificate/],
  ])('that %s is reported with the reason', async (_, body, message) => {
    const { credentials } = await read(await plugin(body));
    await expect(credentials.current()).rejects.toThrow(message);
  });

  test('that is not installed is reported with its hint', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'no-such-program-here',
      installHint: 'install it',
    };
    const { credentials } = await read(config({ exec }));
    await expect(credentials.current()).rejects.toThrow(
      'exec plugin no-such-program-here is not installed\ninstall it',
    );
  });
});

describe('finding a server', () => {
  test('files of KUBECONFIG are merged, and the first value wins', async () => {
    const first = await file(
      'first',
      JSON.stringify({ users: [{ name: 'u', user: { token: 'first' } }], 'current-context': 'x' }),
    );
    const second = await file(
      'second',
      config({ token: 'second' }, { server: 'https://second' }, { 'current-context': 'nobody' }),
    );
    const env = { KUBECONFIG: `${join(directory, 'missing')}:${first}:${second}` };
    const access = await findAccess({ env, clock });
    expect(access.server).toBe('https://second');
    expect(await access.credentials.current()).toEqual({ authorization: 'Bearer first' });
  });

  test('an explicit file takes precedence over the environment', async () => {
    const path = await file('own', config({ token: 't' }, { server: 'https://own' }));
    expect((await findAccess({ kubeconfig: path, env: { KUBECONFIG: '/nowhere' }, clock })).server).toBe('https://own');
  });

  test('a file in UTF-16, as some shells write it, is read', async () => {
    const path = await file('utf-16', inUtf16(config({ token: 't' }, { server: 'https://ü' })));
    expect((await findAccess({ kubeconfig: path, env: {}, clock })).server).toBe('https://ü');
  });

  test('a missing kubeconfig is reported with its path', async () => {
    await expect(findAccess({ env: { HOME: directory }, clock })).rejects.toThrow(
      `no kubeconfig at ${directory}/.kube/config`,
    );
  });

  test.each([
    ['as YAML', 'apiVersion: v1\nusers: [{ name: u, user: { token: s3cret } }]\n'],
    ['as JSON', config({ token: 's3cret' })],
    ['as YAML too long for a path', `users:\n- name: u\n  user: { token: s3cret${'x'.repeat(5_000)} }\n`],
  ])('a kubeconfig text %s given in place of a path is not repeated in the error', async (_, kubeconfig) => {
    const refused = [() => findAccess({ kubeconfig, clock }), () => usersInFile(kubeconfig, { clock, env: {} })];
    for (const attempt of refused) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AccessError);
      expect(inspect(error)).toContain('(a literal text, not a path)');
      expect(inspect(error)).not.toContain('s3cret');
    }
  });

  test('in a pod the service account of the pod is used', async () => {
    await Promise.all([file('ca.crt', 'CA'), file('namespace', 'n\n'), file('token', 't\n')]);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const access = await inCluster(env, clock, directory);
    expect(access).toMatchObject({ server: 'https://[fd00::1]:443', ca: 'CA', namespace: 'n' });
    expect(await access.credentials.current()).toEqual({ authorization: 'Bearer t' });
    await expect(inCluster({}, clock, directory)).rejects.toThrow('KUBERNETES_SERVICE_HOST');
  });

  test('the service account of the pod is used only if there is no kubeconfig file', async () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', HOME: join(directory, 'home') };
    const inPod = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set';
    await expect(findAccess({ env, clock })).rejects.toThrow(inPod);
    await mkdir(join(env.HOME, '.kube'), { recursive: true });
    await file('home/.kube/config', config({ token: 't' }, { server: 'https://own' }));
    expect((await findAccess({ env, clock })).server).toBe('https://own');
  });

  test('the current user of a file is that of its current context', async () => {
    const users = ['a', 'b'].map((name) => ({ name, user: { token: name } }));
    const contexts = ['a', 'b'].map((name) => ({ name, context: { user: name } }));
    const path = await file('users', JSON.stringify({ users, contexts, 'current-context': 'b' }));
    const { current } = await usersInFile(path, { clock, env: {} });
    expect(await current?.current()).toEqual({ authorization: 'Bearer b' });
  });
});
