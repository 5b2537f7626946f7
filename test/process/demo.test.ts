import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runKedge, temporaryDirectory } from './program.js';

test('the demo runs against its own server and leaves nothing behind', async () => {
  const folder = temporaryDirectory();
  const { code, stdout, stderr } = await runKedge(['demo'], { env: { TMPDIR: folder } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.match(/^\d+\. .*$/gm)).toEqual([
    '1. A node agent asks for its first certificate',
    '2. A person asks for a client certificate; an administrator approves',
    '3. An unknown user asks, and is denied',
    '4. A custom signer serves example.com/ci',
    '5. The node calls the API with the certificate just issued',
  ]);
  expect(stdout).toMatch(/certificate +CN=system:node:demo-\w+, O=system:nodes, for client auth/);
  expect(stdout).toMatch(/server says +you are system:node:demo-/);
  expect(readdirSync(folder)).toEqual([]);
});
