import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';

/** A plugin of Kubernetes' KMS v2, by its .proto file. It encrypts by reversing bytes. */

const delimited = 2;
type Fields = Map<number, Uint8Array>;
/** Returns the fields of a message, all of which are length-delimited. */
function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const found: Fields = new Map();
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    found.set(field, reader.bytes());
  }
  return found;
}
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const annotation = new BinaryWriter().tag(1, delimited).string('a.example.com').tag(2, delimited).string('x').finish();

const turned = (bytes: Uint8Array | undefined): Buffer => Buffer.from(bytes ?? []).reverse();

const answers: Readonly<Record<string, (fields: Fields) => Uint8Array>> = {
  Status: () =>
    new BinaryWriter()
      .tag(1, delimited)
      .string('v2')
      .tag(2, delimited)
      .string('ok')
      .tag(3, delimited)
      .string('k')
      .finish(),
  Encrypt: (fields) =>
    new BinaryWriter()
      .tag(1, delimited)
      .bytes(turned(fields.get(1)))
      .tag(2, delimited)
      .string('k')
      .tag(3, delimited)
      .bytes(annotation)
      // Fields of later versions.
      .tag(9, 0)
      .int32(7)
      .finish(),
  Decrypt: (fields) =>
    new BinaryWriter()
      .tag(1, delimited)
      .bytes(turned(fields.get(1)))
      .finish(),
};

/** Starts a plugin that listens on a socket. */
export async function startPlugin(path: string) {
  /** The requests, each with its uid and the name of its key. */
  const asked: string[] = [];
  let isSealed = false;
  const server = new Server();
  const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
  const method = (name: string) => ({
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  });
  const handler = (name: string) => (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
    const fields = fieldsOf(call.request);
    asked.push([name, ...[2, 3].flatMap((field) => text(fields.get(field)) || [])].join(' '));
    const made = isSealed ? undefined : answers[name]?.(fields);
    if (made === undefined) done({ code: status.UNAVAILABLE, details: 'sealed' });
    else done(null, Buffer.from(made));
  };
  const names = Object.keys(answers);
  server.addService(
    Object.fromEntries(names.map((name) => [name, method(name)])),
    Object.fromEntries(names.map((name) => [name, handler(name)])),
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return {
    asked,
    /** Makes it reject everything from now on. */
    seal: () => {
      isSealed = true;
    },
    stop: () => server.forceShutdown(),
  };
}
