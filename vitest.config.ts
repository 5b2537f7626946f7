import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const at = (path: string): string => resolve(import.meta.dirname, path);

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
    // Tests wait for conditions, so these only end what will never be: generous, for machines with other work.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two are enough for two cores; more only wait for each other, and for the programs that tests start.
    maxWorkers: 2,
  },
});
