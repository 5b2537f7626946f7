import { managerLimit, unprintable } from '../api/options.js';

/**
 * Under which name a write is recorded: as the request says, else as the client calls itself (User-Agent up to the
 * first slash, printable characters, at most 128 bytes), else `unknown`.
 */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager;
  let name = '';
  let bytes = 0;
  for (const character of userAgent?.split('/', 1)[0] ?? '') {
    if (unprintable.test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > managerLimit) break;
    name += character;
  }
  return name || 'unknown';
}
