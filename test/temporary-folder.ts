import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what tests keep on disk, gone when all are done: those who run them may end before they can tidy up. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'kedge-test-'));
  process.env['KEDGE_TEST_FOLDER'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
