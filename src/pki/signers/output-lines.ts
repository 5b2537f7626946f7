const newline = 0x0a;

/**
 * Splits a stream into lines without their line breaks; a line longer than `most` is dropped and reported once as
 * undefined.
 */
export function splitLines(most: number, take: (line: Buffer | undefined) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  let dropping = false;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, at)]);
      if (!dropping && line.length > 0) take(line.length > most ? undefined : line);
      parts = [];
      length = 0;
      dropping = false;
      from = at + 1;
    }
    if (dropping) return;
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length <= most) return;
    take(undefined);
    parts = [];
    length = 0;
    dropping = true;
  };
}
