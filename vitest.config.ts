import { relative, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { TestSequencer, TestSpecification } from 'vitest/node';

const at = (path: string): string => resolve(import.meta.dirname, path);

/** Files and folders of minutes, longest first: begun last, one of them would run while the other core has nothing. */
const slow = ['test/scenarios/', 'test/process/', 'test/package.test.ts', 'test/pki/', 'test/store/'];
const rank = ({ moduleId }: TestSpecification): number => {
  const path = relative(import.meta.dirname, moduleId);
  const place = slow.findIndex((start) => path.startsWith(start));
  return place < 0 ? slow.length : place;
};
class SlowFirst implements TestSequencer {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }

  sort(files: TestSpecification[]): TestSpecification[] {
    return files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

export default defineConfig({
  resolve: {
    // What users import by the package's name is the source here.
    alias: [
      { find: /^kedge$/, replacement: at('src/index.ts') },
      { find: /^kedge\/testing$/, replacement: at('src/testing/index.ts') },
      { find: /^kedge\/controllers$/, replacement: at('controllers/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: 'test/temporary-folder.ts',
    setupFiles: 'test/properties.ts',
    sequence: { sequencer: SlowFirst },
    // Tests wait for conditions, so these only end what will never be: generous, for machines with much other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    env: { KEDGE_TEST_TIMEOUT_MS: '60000' },
    expect: { poll: { timeout: 60_000 } },
    // Two are enough for two cores; more only wait for each other, and for the programs that tests start.
    maxWorkers: 2,
  },
});
