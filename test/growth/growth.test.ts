import { expect, test } from 'vitest';
import { growthOf, smallFaultsOf } from './growth.js';
import { readers } from './readers.js';

/** A few forms for each reader; `GROWTH_FORMS=2000 GROWTH_SEED=7 npx vitest run test/growth` tests more. */
const forms = Number(process.env['GROWTH_FORMS'] ?? 20);
const seed = Number(process.env['GROWTH_SEED'] ?? 1);

test.each(Object.entries(readers))(
  '%s are read in linear time',
  { timeout: 30_000 + 200 * forms },
  async (_, reader) => {
    expect(await smallFaultsOf(reader, { texts: 2 * forms, seed })).toEqual([]);
    expect(await growthOf(reader, { forms, seed })).toEqual([]);
  },
);
