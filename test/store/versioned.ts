/** Returns a document with an offset for its revision. */
export const versioned = (text: string) => ({
  bytes: Buffer.from(`{"text":"${text}","version":""}`),
  revisionAt: 22 + text.length,
});
