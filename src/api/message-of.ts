/** What an error says; of what was thrown and is none, its text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
