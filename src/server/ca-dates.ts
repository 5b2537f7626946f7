import type { Certificate } from '../pki/certificate.js';

const year = 365 * 86_400_000;

/**
 * What is to be said of the dates of the server's own CA, or of the first to end of it and those above it, at a time in
 * milliseconds; undefined while there is more than a year left.
 */
export function caDatesProblem(
  { notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: number,
): string | undefined {
  if (now < notBefore) return 'the CA of this server is not valid yet, and nobody accepts what it has signed';
  if (now >= notAfter)
    return 'the CA of this server, or one above it, has come to its end, and nobody accepts what it has signed';
  if (notAfter - now >= year) return undefined;
  return 'the CA of this server, or one above it, ends within a year: what it signs is good no longer';
}
