import { invalid, required } from '../../../../../src/api/violations.js';
import { defineResource } from '../../../../../src/registry/resource-definition.js';
import { age, column } from '../../../../../src/resources/columns.js';
import { hasNewSpec } from '../../../../../src/resources/new-spec.js';
import { field, integer32, string, struct } from '../../../../../src/schema/builder.js';
import { objectMeta, typeMeta } from '../../../../../src/schema/meta.js';
import { type CertificateProfile, CertificateProfiles } from '../../api/kinds/certificate-profile.js';

const spec = struct('v1.CertificateProfileSpec', {
  signerName: field(1, string(), { description: 'Signer that the profile is about.' }),
  maxSeconds: field(2, integer32(), { description: 'Longest lifetime, in seconds.', default: 3_600 }),
});

export const certificateProfiles = defineResource<CertificateProfile>({
  ...CertificateProfiles,
  origin: 'built-in',
  schema: struct('v1.CertificateProfile', {
    ...typeMeta,
    metadata: field(1, objectMeta),
    spec: field(2, spec, { description: 'What is allowed.' }),
  }),
  newGeneration: hasNewSpec,
  selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  columns: [column('Signer', 'Signer that the profile is about.', ({ spec }) => spec?.signerName ?? ''), age],

  validate(next, previous) {
    const { signerName = '', maxSeconds = 0 } = next.spec ?? {};
    return [
      ...(signerName === '' ? [required('spec.signerName', '')] : []),
      ...(maxSeconds < 600 ? [invalid('spec.maxSeconds', maxSeconds, 'must be at least 600')] : []),
      ...(previous !== undefined && previous.spec?.signerName !== signerName
        ? [invalid('spec.signerName', signerName, 'field is immutable')]
        : []),
    ];
  },
});
