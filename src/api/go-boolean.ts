const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

/** Parses a boolean as Go's `strconv.ParseBool` does; undefined for any other text. */
export const parseBoolean = (text: string): boolean | undefined => booleans.get(text);
