import { quote } from '../../api/go-text.js';
import { qualifiedName } from '../../api/names.js';
import type { ApiObject } from '../../api/object.js';
import { sortTexts } from '../../api/text-order.js';
import { standardFinalizers } from '../../registry/metadata-rules.js';

/** Returns warnings about finalizers that are new on an object and whose names others might use for something else. */
export function finalizerWarnings(next: ApiObject, previous: ApiObject | undefined): readonly string[] {
  const before = new Set(previous?.metadata.finalizers);
  const added = sortTexts([...new Set(next.metadata.finalizers)].filter((name) => !before.has(name)));
  return added.flatMap((name) => aboutName(name).map((text) => `metadata.finalizers: ${quote(name)}: ${text}`));
}

function aboutName(name: string): readonly string[] {
  const wrong = qualifiedName(name);
  if (name.includes('/') || standardFinalizers.has(name)) return wrong;
  const path = name.includes('.') ? ' including a path (/)' : '';
  return [
    ...wrong,
    `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
  ];
}
