/** Returns the message of an Error; anything else thrown as a string. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
