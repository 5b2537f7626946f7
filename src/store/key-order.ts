/**
 * The order of keys: that of their UTF-8 bytes, which is what etcd and LevelDB sort by and what lists promise.
 *
 * JavaScript compares UTF-16 units, which differs above U+D7FF only: surrogates (characters beyond U+FFFF) come before
 * U+E000 to U+FFFF. Swapping the two ranges of units repairs it, so plain string comparison of the results is right.
 */
export const sortKey = (key: string): string => (aboveBasic.test(key) ? key.replace(aboveBasicUnits, swapped) : key);

/** The exclusive upper end of all sort keys that start with this one; undefined if there is no end. */
export function endOfPrefix(sorted: string): string | undefined {
  for (let last = sorted.length - 1; last >= 0; last--) {
    const unit = sorted.charCodeAt(last);
    if (unit < 0xffff) return sorted.slice(0, last) + String.fromCharCode(unit + 1);
  }
  return undefined;
}

/** Whether a string can be a key: not empty and without half surrogate pairs, which have no bytes. */
export const isKey = (key: string): boolean => key !== '' && !loneSurrogate.test(key);

const aboveBasic = /[\ud800-\uffff]/;
const aboveBasicUnits = /[\ud800-\uffff]/g;
const loneSurrogate = /\p{Surrogate}/u;
const surrogates = 0xe000 - 0xd800;
const others = 0x10000 - 0xe000;

function swapped(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < 0xe000 ? code + others : code - surrogates);
}
