/**
 * Returns a string by which plain comparison orders keys by their UTF-8 bytes, the order of etcd and LevelDB that lists
 * promise.
 *
 * JavaScript compares UTF-16 units. That order differs above U+D7FF only: surrogates (characters beyond U+FFFF) come
 * before U+E000 to U+FFFF. The two ranges of units are swapped.
 */
export const sortKey = (key: string): string => (aboveBasic.test(key) ? key.replace(aboveBasicUnits, swapUnit) : key);

/** Returns the exclusive upper end of all sort keys that start with this one; undefined if there is no end. */
export function endOfPrefix(sorted: string): string | undefined {
  for (let last = sorted.length - 1; last >= 0; last--) {
    const unit = sorted.charCodeAt(last);
    if (unit < 0xffff) return sorted.slice(0, last) + String.fromCharCode(unit + 1);
  }
  return undefined;
}

/** Whether a string can be a key: it is not empty and has no lone surrogates, which UTF-8 cannot encode. */
export const isKey = (key: string): boolean => key !== '' && !loneSurrogate.test(key);

const aboveBasic = /[\ud800-\uffff]/;
const aboveBasicUnits = /[\ud800-\uffff]/g;
const loneSurrogate = /\p{Surrogate}/u;
const surrogates = 0xe000 - 0xd800;
const othersOffset = 0x10000 - 0xe000;

function swapUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < 0xe000 ? code + othersOffset : code - surrogates);
}
