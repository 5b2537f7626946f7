const warningBudget = 4_096;
const shortened = 256;

/**
 * Returns the values of Warning headers, each `299 - "<text>"` (RFC 7234 section 5.5). If they are too long together,
 * each is shortened, and those that exceed the limit even then are left out.
 */
export function warningHeaders(texts: readonly string[]): readonly string[] {
  let total = 0;
  const tooMuch = texts.findIndex((text) => {
    total += [...text].length;
    return total > warningBudget;
  });
  let length = 0;
  const cut = (text: string, at: number): readonly string[] => {
    if (at > tooMuch && length >= warningBudget) return [];
    const characters = [...text].slice(0, shortened);
    length += characters.length;
    return [characters.join('')];
  };
  return (tooMuch < 0 ? texts : texts.flatMap(cut))
    .map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`)
    .map((text) => Buffer.from(text, 'utf8').toString('latin1'));
}
