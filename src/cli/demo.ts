import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccess } from './demo/access.js';
import { createNarrator } from './demo/narrator.js';
import { playStory } from './demo/story.js';

/**
 * Implements `kedge demo`: plays the story of a signed certificate against a running server, or against a server of its
 * own in a temporary directory, which is removed afterwards. Prints every step. Fails with an error of one sentence.
 */
export async function demo({ kubeconfig }: { readonly kubeconfig?: string }): Promise<void> {
  const narrator = createNarrator((text) => process.stdout.write(text));
  const run = randomBytes(3).toString('hex');
  if (kubeconfig !== undefined) {
    const access = await openAccess(kubeconfig);
    narrator.say(`Using ${access.server}, as ${kubeconfig} says.`);
    await playStory({ access, narrator, run });
    narrator.say('\nThe requests are kept: kubectl get csr');
    return;
  }
  const directory = await mkdtemp(join(tmpdir(), 'kedge-demo-'));
  try {
    await withOwnServer(directory, async (file) => {
      const access = await openAccess(file);
      narrator.say(`Using a temporary server, ${access.server}.`);
      await playStory({ access, narrator, run });
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  narrator.say('\nThe server and its temporary directory were removed.');
}

async function withOwnServer(directory: string, play: (kubeconfig: string) => Promise<void>): Promise<void> {
  const [{ createServer }, { writeFileAtomically }] = await Promise.all([
    import('../embed.js'),
    import('../runtime/atomic-file.js'),
  ]);
  const server = await createServer({
    store: `level:${join(directory, 'store')}`,
    dataDir: join(directory, 'pki'),
    listen: { port: 0 },
  });
  try {
    const file = join(directory, 'admin.kubeconfig');
    await writeFileAtomically(file, server.adminKubeconfig, 0o600);
    await play(file);
  } finally {
    await server.stop();
  }
}
