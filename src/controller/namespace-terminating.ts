import { isReason } from '../api/errors.js';

/** Whether a creation was refused because its namespace is being deleted (the cause NamespaceTerminating). */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isReason(error, 'Forbidden') && (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
