import { isReason } from '../api/errors.js';

/** Was a creation refused because its namespace is being deleted? Nothing to be done about it then. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isReason(error, 'Forbidden') && (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
