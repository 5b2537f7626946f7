import { type ApiObject, isObject, type Json, type JsonObject } from '../api/object.js';
import type { ReconcileContext } from '../controller/controller.js';
import type { Webhook } from '../webhook/webhook.js';
import { openWebhookServer } from '../webhook/webhook-server.js';
import { testAuthority } from './certificates.js';

const host = '127.0.0.1';
const lifetimeSeconds = 86_400;

/** The webhooks of a test, served on a free port with a CA of their own. */
export interface ServedWebhooks {
  /**
   * Returns the object with every `clientConfig` that names a service and one of the paths redirected to this port and
   * CA; other objects are returned unchanged.
   */
  redirected(object: ApiObject): ApiObject;
  stop(): Promise<void>;
}

export async function serveWebhooks(
  webhooks: Readonly<Record<string, Webhook>>,
  context: ReconcileContext,
): Promise<ServedWebhooks> {
  const authority = await testAuthority({ commonName: 'webhooks of a test' });
  const serving = await authority.issueServing({
    commonName: 'webhooks',
    ipAddresses: [host],
    seconds: lifetimeSeconds,
  });
  const { port, stop } = await openWebhookServer({ ...serving, webhooks, host, port: 0 }, context);
  const caBundle = Buffer.from(authority.anchors).toString('base64');
  const redirect = (config: JsonObject): JsonObject => {
    const { service, ...rest } = config;
    const path = isObject(service ?? null) ? (service as JsonObject)['path'] : undefined;
    if (typeof path !== 'string' || !Object.hasOwn(webhooks, path)) return config;
    return { ...rest, url: `https://${host}:${port}${path}`, caBundle };
  };
  return {
    redirected: (object) => {
      const places = placesOf(object);
      return places === undefined
        ? object
        : (changed(object as unknown as Json, places, redirect) as unknown as ApiObject);
    },
    stop,
  };
}

/** Returns the path of the `clientConfig`s in an object; `*` stands for each item. */
function placesOf({ apiVersion, kind }: ApiObject): readonly string[] | undefined {
  const [group] = apiVersion.split('/', 1);
  if (group === 'admissionregistration.k8s.io' && /^(Mutating|Validating)WebhookConfiguration$/.test(kind))
    return ['webhooks', '*', 'clientConfig'];
  if (group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition')
    return ['spec', 'conversion', 'webhook', 'clientConfig'];
  return undefined;
}

/** Returns a copy with the value at the path changed. */
function changed(value: Json, [next, ...rest]: readonly string[], change: (config: JsonObject) => JsonObject): Json {
  if (next === undefined) return isObject(value) ? change(value) : value;
  if (next === '*') return Array.isArray(value) ? value.map((item: Json) => changed(item, rest, change)) : value;
  if (!isObject(value) || value[next] === undefined) return value;
  return { ...value, [next]: changed(value[next], rest, change) };
}
