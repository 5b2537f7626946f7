import { test } from 'vitest';
import { hasOpenssl } from './openssl-command.js';

/** A test that needs the openssl command; skipped where it is missing. */
export const testWithOpenssl = test.skipIf(!hasOpenssl);
