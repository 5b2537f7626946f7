import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hold, type Outcome, readConversation, type Step } from './conversation.js';

const folder = join(import.meta.dirname, 'data');

const expected = ({ code, error, causes, object, owners }: Step): Outcome => {
  if (error !== undefined) return { code, error, ...(causes === undefined ? {} : { causes }) };
  const { namespace: _, ...metadata } = (object?.['metadata'] ?? {}) as { namespace?: string };
  return { code, object: { ...object, metadata } as never, owners: owners ?? [] };
};

describe('recorded conversations give the results of Kubernetes', () => {
  for (const file of readdirSync(folder)) {
    const conversation = readConversation(join(folder, file));
    test(`${file}: ${conversation.about}`, async () => {
      const outcomes = await hold(conversation);
      for (const [index, step] of conversation.steps.entries()) {
        expect({ step: step.id, ...outcomes[index] }).toEqual({ step: step.id, ...expected(step) });
      }
    });
  }
});
