import { conversionWebhook, type Resource, resourceType } from 'kedge';

type GateV1 = Resource<{ readonly host: string; readonly port: number }>;
type GateV2 = Resource<{ readonly address: string }>;
const gate = { group: 'example.com', plural: 'gates', kind: 'Gate', namespaced: true };

export const gateConversion = conversionWebhook({
  hub: resourceType<GateV2>({ ...gate, version: 'v2' }),
  spokes: [
    {
      version: resourceType<GateV1>({ ...gate, version: 'v1' }),
      toHub: ({ spec: { host, port }, ...rest }) => ({ ...rest, spec: { address: `${host}:${port}` } }),
      fromHub({ spec: { address }, ...rest }) {
        const [host = '', port = ''] = address.split(':');
        return { ...rest, spec: { host, port: Number(port) } };
      },
    },
  ],
});
