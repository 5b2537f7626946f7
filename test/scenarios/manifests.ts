import { base64OfFile } from '../process/certificates.js';

/** Objects of the story, as text for kubectl. */

const text = (...objects: readonly object[]): string => objects.map((object) => JSON.stringify(object)).join('\n---\n');

export interface RequestManifest {
  readonly name: string;
  readonly signerName: string;
  /** The path of a PKCS#10 file. */
  readonly request: string;
}

export const signingRequest = ({ name, signerName, request }: RequestManifest): string =>
  text({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: base64OfFile(request),
      signerName,
      expirationSeconds: 7_200,
      usages: ['digital signature', 'client auth'],
    },
  });

/** Gadgets with a size that has a default and a limit. */
export const gadgetDefinition = (group: string): string =>
  text({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList', shortNames: ['gd'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  description: 'What the gadget should be.',
                  type: 'object',
                  required: ['colour'],
                  properties: {
                    colour: { description: 'Its looks.', type: 'string', enum: ['red', 'green'] },
                    size: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
                  },
                },
              },
            },
          },
        },
      ],
    },
  });

export const gadget = (group: string, name: string, spec: object): string =>
  text({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name }, spec });
