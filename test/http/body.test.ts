import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { maxRequestBytes } from '../../src/api/request-size.js';
import { readBody } from '../../src/http/body.js';

const mebibyte = Buffer.alloc(1_048_576, 0x20);
const streamOf = (...chunks: readonly Buffer[]) => Readable.from(chunks, { objectMode: false });

test('a connection error while a body is read is a timeout of the client, not an internal error', async () => {
  const stream = new PassThrough();
  const reading = readBody(stream, undefined);
  stream.destroy(new Error('protocol error'));
  await expect(reading).rejects.toMatchObject({ reason: 'Timeout' });
});

test('a body of exactly the limit is read whole', async () => {
  const body = await readBody(streamOf(mebibyte, mebibyte, mebibyte), undefined);
  expect(body.length).toBe(maxRequestBytes);
});

test('a body one byte larger is refused, whether its length was announced or not', async () => {
  const refusal = { reason: 'RequestEntityTooLarge', code: 413 };
  const over = [mebibyte, mebibyte, mebibyte, Buffer.alloc(1)];
  await expect(readBody(streamOf(...over), undefined)).rejects.toMatchObject(refusal);
  await expect(readBody(streamOf(Buffer.alloc(1)), String(maxRequestBytes + 1))).rejects.toMatchObject(refusal);
});

test('reading a stream that is closed already fails at once', async () => {
  const stream = streamOf(mebibyte).destroy();
  await new Promise((resolve) => stream.once('close', resolve));
  await expect(readBody(stream, undefined)).rejects.toThrow('closed before the body was complete');
});

test.each(['before it is read', 'while it is read'])(
  'a body that is aborted %s is incomplete even if its stream ends',
  async (when) => {
    const stream = Object.assign(new PassThrough(), { aborted: false });
    const breakOff = (): void => {
      stream.aborted = true;
      stream.emit('aborted');
      stream.end();
    };
    stream.write('metadata:\n  name: half\n');
    if (when.startsWith('before')) breakOff();
    const reading = readBody(stream, undefined);
    if (when.startsWith('while')) breakOff();
    await expect(reading).rejects.toThrow('closed before the body was complete');
  },
);
