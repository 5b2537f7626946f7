import { parseAst } from 'rolldown/parseAst';

/**
 * The same program with `{ ...undefined, ...a, b }` for `{ ...a, b }`, which means the same. V8 of Node.js 20 copies `a`
 * in one go where it comes first, and gives the copy a hidden class of its own as soon as a member is added: making it
 * takes five times as long, and nobody who reads the copy later finds its members where they were last time.
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
