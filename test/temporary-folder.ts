import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a folder for the files of tests, and removes it when all are done: workers may end before they can clean up.
 */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-test-'));
  process.env['KEDGE_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
