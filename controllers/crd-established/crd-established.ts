import { hasCondition, setCondition } from '../../src/api/conditions.js';
import {
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  CustomResourceDefinitions,
} from '../../src/api/kinds/custom-resource-definition.js';
import { timestamp } from '../../src/api/time.js';
import type { Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { writeStatus } from '../../src/controller/write-status.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { readRootCertificates } from '../../src/pki/root-certificates.js';

const options = { fieldManager: fieldManagers.customResourceDefinitions };

/**
 * Sets the condition Established once the names of a definition are accepted. An established definition stays
 * established.
 */
export const crdEstablished = (): Runnable =>
  defineController<CustomResourceDefinition>({
    name: 'crd-established',
    for: CustomResourceDefinitions,
    when: (crd) => hasCondition(crd, 'NamesAccepted') && !hasCondition(crd, 'Established'),

    async reconcile(crd, { client, clock }) {
      const conditions = setCondition(crd.status?.conditions, established(crd), timestamp(clock.now()));
      await writeStatus(client.resource(CustomResourceDefinitions), crd, { ...crd.status, conditions }, options);
    },
  });

/** Returns the condition Established for a definition whose names were accepted. */
export function established({ spec }: CustomResourceDefinition): CustomResourceDefinitionCondition {
  const bundle = spec.conversion?.webhook?.clientConfig?.caBundle;
  if (bundle !== undefined && bundle !== '' && !isBundle(bundle)) {
    return {
      type: 'Established',
      status: 'False',
      reason: 'InvalidCABundle',
      message: 'The conversion webhook CABundle is invalid',
    };
  }
  return {
    type: 'Established',
    status: 'True',
    reason: 'InitialNamesAccepted',
    message: 'the initial names have been accepted',
  };
}

function isBundle(base64: string): boolean {
  try {
    readRootCertificates(Buffer.from(base64, 'base64'));
    return true;
  } catch (error) {
    if (error instanceof PkiError) return false;
    throw error;
  }
}
