import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { shellWord } from '../../src/cli/shell-word.js';

describe('a shell word', () => {
  test.each([
    ['/home/you/kedge/.kedge/admin.kubeconfig', '/home/you/kedge/.kedge/admin.kubeconfig'],
    ['/tmp/my dir/admin.kubeconfig', "'/tmp/my dir/admin.kubeconfig'"],
    ["/tmp/it's", "'/tmp/it'\\''s'"],
    ['/tmp/$HOME`id`"*;&|(\\', "'/tmp/$HOME`id`\"*;&|(\\'"],
    ['/tmp/ü', "'/tmp/ü'"],
    ['', "''"],
  ])('preserves %j', (text, word) => {
    expect(shellWord(text)).toBe(word);
    const { stdout } = spawnSync('sh', ['-c', `word=${word}; printf %s "$word"`], { encoding: 'utf8' });
    expect(stdout).toBe(text);
  });
});
