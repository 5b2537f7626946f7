import { type Resource, resourceType } from 'kedge';

/** As openapi-typescript, hey-api and others write it. */
interface GeneratedCert {
  apiVersion?: string;
  kind?: string;
  metadata?: object;
  spec?: { secretName: string; dnsNames?: string[] };
  status?: { notAfter?: string };
}

export type Cert = Resource<NonNullable<GeneratedCert['spec']>, GeneratedCert['status']>;

export const Certs = resourceType<Cert>({
  group: 'example.com',
  version: 'v1',
  plural: 'certs',
  kind: 'Cert',
  namespaced: true,
});
