/** Returns the text as one word for a shell: unchanged if it has no special characters, otherwise in single quotes. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
