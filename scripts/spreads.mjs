import { parseAst } from 'rolldown/parseAst';

/**
 * Returns the same program with `{ ...undefined, ...a, b }` for `{ ...a, b }`, which is equivalent. V8 of Node.js 20
 * copies `a` in one step if it comes first, and gives the copy its own hidden class as soon as a member is added:
 * creating the copy takes five times as long, and inline caches for its members miss.
 */
export function withPlainSpreads(code) {
  const places = [];
  const visit = (node) => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    else if (node !== null && typeof node === 'object') {
      if (
        node.type === 'ObjectExpression' &&
        node.properties.length > 1 &&
        node.properties[0].type === 'SpreadElement'
      ) {
        places.push(node.properties[0].start);
      }
      for (const member of Object.values(node)) visit(member);
    }
  };
  visit(parseAst(code));
  let out = '';
  let end = 0;
  for (const place of places.sort((a, b) => a - b)) {
    out += `${code.slice(end, place)}...undefined, `;
    end = place;
  }
  return out + code.slice(end);
}
