const warningBudget = 4_096;
const shortened = 256;

/** `299 - "<text>"` each; if together they are too long, each is cut, and what is too much even so is left out. RFC 7234 section 5.5. */
export function warningHeaders(texts: readonly string[]): readonly string[] {
  let total = 0;
  const tooMuch = texts.findIndex((text) => {
    total += [...text].length;
    return total > warningBudget;
  });
  let told = 0;
  const cut = (text: string, at: number): readonly string[] => {
    if (at > tooMuch && told >= warningBudget) return [];
    const kept = [...text].slice(0, shortened);
    told += kept.length;
    return [kept.join('')];
  };
  return (tooMuch < 0 ? texts : texts.flatMap(cut))
    .map((text) => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`)
    .map((text) => Buffer.from(text, 'utf8').toString('latin1'));
}
