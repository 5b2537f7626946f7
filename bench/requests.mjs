import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectTo, underLoad } from './load.mjs';
import { startProgram } from './process.mjs';
import {
  configMap,
  headers,
  isReady,
  measured,
  namespace,
  newPath,
  number,
  serve,
  serveForLoad,
  table,
} from './servers.mjs';

/**
 * The CPU time in microseconds that Kubernetes 1.36 (one process with etcd embedded) used for the same requests on two
 * such cores; its lists had 500 objects and its patches were of one object, too.
 */
const kubernetes = {
  GET: 677,
  'LIST 500': 18_000,
  CREATE: 2_483,
  'JSON PATCH': 3_280,
  'MERGE PATCH': 3_110,
  'STRATEGIC PATCH': 2_560,
  APPLY: 3_630,
};

const collection = '/api/v1/namespaces/bench/configmaps';

/**
 * Measures the same requests to servers with few and with many objects, in memory and durable, and to plain Node.js.
 */
export async function requests({ milliseconds, counts }) {
  const memory = await overHttp('memory:', { milliseconds, counts });
  const level = await overHttp(undefined, { milliseconds, counts });
  const raw = await answeredByNode(memory.answers, milliseconds);
  const [few, many = few] = counts;
  const columns = (store) => counts.flatMap((count) => [`${store} ${number(count)}: cpu us`, 'p99 ms']);
  table(
    'Over HTTP/2, objects of 2 KB, 64 requests under way (lists: 8), by number of objects',
    ['', ...columns('memory'), ...columns('level'), 'raw http2', 'raw/memory', 'raw/level', 'Kubernetes', 'times'],
    [...level.results.get(few).keys()].map((name) => {
      const cells = (of) => counts.map((count) => of.results.get(count).get(name));
      // A list needs as many objects as it requests.
      const count = name.startsWith('LIST') ? many : few;
      const durable = level.results.get(count).get(name).cpu;
      const floor = raw.get(name);
      const share = (cpu) => (floor === undefined ? '' : `${number((floor.cpu / cpu) * 100)} %`);
      return [
        name,
        ...[...cells(memory), ...cells(level)].flatMap(({ cpu, p99 }) => [number(cpu), number(p99, 1)]),
        number(floor?.cpu),
        share(memory.results.get(count).get(name).cpu),
        share(durable),
        number(kubernetes[name]),
        number(kubernetes[name] / durable, 1),
      ];
    }),
  );
}

async function overHttp(store, { milliseconds, counts }) {
  const server = await serveForLoad({ store });
  const client = connectTo(server.line.url, headers, { sessions: 4 });
  const status = async (...call) => (await client.call(...call)).status;
  for (const name of ['bench', 'more']) await client.call('POST', '/api/v1/namespaces', namespace(name));
  await client.call('POST', collection, configMap('one'));
  const results = new Map();
  const answers = {};
  let there = 0;
  for (const count of counts) {
    await fill(status, there, count);
    there = count;
    await underLoad({ concurrency: 32, milliseconds, request: () => status('GET', `${collection}/one`) });
    const rows = new Map();
    for (const [name, request] of Object.entries(operations(status, { count }))) {
      const load = { concurrency: name.startsWith('LIST') ? 8 : 64, request };
      // Code is compiled when it first runs.
      await underLoad({ ...load, milliseconds: milliseconds / 2 });
      rows.set(name, await measured(server.pid, { ...load, milliseconds }));
    }
    results.set(count, rows);
    answers.GET ??= (await client.call('GET', `${collection}/one`)).body;
    answers['LIST 500'] = (await client.call('GET', `${collection}?limit=500`)).body;
    answers['LIST 5000'] = (await client.call('GET', `${collection}?limit=5000`)).body;
  }
  client.close();
  await server.stop();
  return { results, answers };
}

async function fill(status, from, to) {
  let next = from;
  const worker = async () => {
    while (next < to) {
      const code = await status('POST', collection, configMap(`o${next++}`));
      if (code !== 201) throw new Error(`the server answered ${code}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}

let serial = 0;
const next = () => String(serial++);

function operations(status, { count }) {
  // The writes are spread over many objects, as in practice.
  const some = (at) => `o${at % Math.min(count, 200)}`;
  const patch =
    (type, body, more = '') =>
    (at) =>
      status('PATCH', `${collection}/${some(at)}?fieldManager=bench${more}`, body(at), type);
  return {
    GET: () => status('GET', `${collection}/one`),
    'LIST 500': () => status('GET', `${collection}?limit=500`),
    'LIST 5000': () => status('GET', `${collection}?limit=5000`),
    'LIST by label': () => status('GET', `${collection}?labelSelector=app%3Dbench&limit=500`),
    UPDATE: (at) => status('PUT', `${collection}/${some(at)}`, configMap(some(at), { at: next() })),
    'JSON PATCH': patch('application/json-patch+json', () => `[{"op":"add","path":"/data/at","value":"${next()}"}]`),
    'MERGE PATCH': patch('application/merge-patch+json', () => `{"data":{"at":"${next()}"}}`),
    'STRATEGIC PATCH': patch('application/strategic-merge-patch+json', () => `{"data":{"at":"${next()}"}}`),
    APPLY: patch(
      'application/apply-patch+yaml',
      (at) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${some(at)}"},"data":{"applied":"${next()}"}}`,
      '&force=true',
    ),
    CREATE: () => status('POST', '/api/v1/namespaces/more/configmaps', configMap(`new-${next()}`)),
  };
}

/** Measures what plain Node.js needs for the same bytes. */
async function answeredByNode(answers, milliseconds) {
  const names = Object.keys(answers);
  const files = Object.values(answers).map((body) => {
    const file = newPath('answer');
    writeFileSync(file, body);
    return file;
  });
  const directory = newPath();
  await (await serve(directory)).stop();
  const program = [join(import.meta.dirname, 'raw-server.mjs'), join(directory, 'pki/apiserver.pem'), ...files];
  const server = await startProgram(program, isReady);
  const client = connectTo(server.line.url, headers, { sessions: 4 });
  const measure = async (concurrency, request) => {
    await underLoad({ concurrency, milliseconds: milliseconds / 2, request });
    return measured(server.pid, { concurrency, milliseconds, request });
  };
  const results = new Map();
  for (const [at, name] of names.entries()) {
    const get = async () => (await client.call('GET', `/${at}`)).status;
    results.set(name, await measure(name === 'GET' ? 64 : 8, get));
  }
  const body = configMap('new');
  results.set('CREATE', await measure(64, async () => (await client.call('POST', '/0', body)).status));
  client.close();
  await server.stop();
  return results;
}
