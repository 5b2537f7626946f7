import { document, openStore, silentLogger, systemClock } from 'kedge';
import { underLoad } from './load.mjs';
import { newPath, number, padding, table } from './servers.mjs';

async function alone(address, { milliseconds }) {
  const store = await openStore(address, { clock: systemClock, log: silentLogger });
  const value = document({ padding });
  const commits = await underLoad({
    concurrency: 64,
    milliseconds,
    request: async (at) => {
      await store.commit({ key: `/bench/${at}`, document: value, expect: 'absent' });
      return 200;
    },
  });
  const loop = async (run) => {
    let count = 0;
    const began = performance.now();
    while (performance.now() - began < milliseconds / 2) {
      for (let i = 0; i < 100; i++) await run(count + i);
      count += 100;
    }
    return count / ((performance.now() - began) / 1_000);
  };
  const gets = await loop((at) => store.get(`/bench/${at % commits.requests}`));
  const scans = await loop(() => store.scan('/bench/', { limit: 500 }));
  await store.close();
  return [number(commits.perSecond), number(gets), number(scans)];
}

/** Measures the stores without a server. */
export async function store(options) {
  table(
    'The store alone, documents of 1.7 KB',
    ['', 'commits/s, 64 writers', 'gets/s', 'scans of 500/s'],
    [
      ['memory', ...(await alone('memory:', options))],
      ['level', ...(await alone(`level:${newPath()}`, options))],
    ],
  );
}
