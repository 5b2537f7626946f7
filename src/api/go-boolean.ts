const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** A text as Go's `strconv.ParseBool` reads it; undefined for one that says neither. */
export const parseBoolean = (text: string): boolean | undefined => booleans.get(text);
