import { describe, test } from 'vitest';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import { storeContract } from '../../../src/testing/store-contract.js';

describe('the memory store fulfils the store contract', () => {
  for (const { name, run } of storeContract(async () => new MemoryStore())) test(name, run);
});
