import { managerLimit, unprintable } from '../api/options.js';

/**
 * Returns the field manager of a write: from the request, else from the User-Agent (up to the first slash, printable
 * characters, at most 128 bytes), else `unknown`.
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
