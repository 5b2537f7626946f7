import { pathSegment } from '../../api/names.js';
import type { ObjectMeta } from '../../api/object.js';
import { runSync } from '../../api/steps.js';
import { validateMetadata } from '../../registry/metadata-rules.js';
import type { CheckMetadata } from '../../schema/embedded.js';

/** Validates the metadata of an embedded resource like that of any other, except that it needs no name. */
export const checkEmbeddedMetadata: CheckMetadata = (metadata: ObjectMeta) =>
  runSync(
    validateMetadata(
      { apiVersion: '', kind: '', metadata: metadata.name ? metadata : { ...metadata, name: 'unnamed' } },
      { namespaced: (metadata.namespace ?? '') !== '', nameRule: pathSegment, strictFinalizers: false },
    ),
  );
