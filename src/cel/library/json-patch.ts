import { perByte } from '../cost.js';
import type { Library } from '../functions.js';
import { scaled } from '../ranges.js';
import { string } from '../types.js';
import { parsing, sizeEstimate } from './call-costs.js';
import { global } from './declarations.js';

/** Kubernetes' `jsonpatch` library, which escapes a key for JSON Pointer paths (RFC 6901). */
export const jsonPatches: Library = {
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      overloads: [
        global(
          'string_jsonpatch_escapeKey_string',
          [string],
          string,
          (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
          {
            ...parsing(),
            estimate: (_, [key]) => {
              const size = sizeEstimate(key);
              return { cost: scaled(size, perByte), resultSize: size };
            },
          },
        ),
      ],
    },
  ],
};
