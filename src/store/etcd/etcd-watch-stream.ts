import type { Client, ClientDuplexStream, Metadata, ServiceError } from '@grpc/grpc-js';
import { StoreUnavailable } from '../store-unavailable.js';
import { asBuffer } from '../wire.js';
import { decodeWatch, encodeWatch, type WatchRequest, type WatchResponse } from './messages.js';

export interface WatchHandlers {
  response(response: WatchResponse): void;
  /** Called once when the watch ends by itself, and not when it is stopped. */
  ended(error: StoreUnavailable): void;
}

/** A connection to a member, with the metadata to send. */
export interface MemberConnection {
  readonly member: Client;
  readonly metadata: Metadata;
  /** Called when the token is no longer valid. */
  refused(): void;
  /**
   * Called when the member failed; the next one is used from then on. Null stands for a stream that the member ended.
   */
  failed(error: ServiceError | null): Error;
}

interface WatchReach {
  /** Returns the connection to use. */
  readonly reach: () => Promise<MemberConnection>;
  /** How long the member may take to confirm the watch, in milliseconds. */
  readonly beginMs: number;
}

/** Opens a watch that ends when the member fails. Returns the function that stops it. */
export function openWatch(
  request: WatchRequest,
  { response, ended }: WatchHandlers,
  { reach, beginMs }: WatchReach,
): () => void {
  let stream: ClientDuplexStream<Uint8Array, WatchResponse> | undefined;
  let isOver = false;
  let beginning: NodeJS.Timeout | undefined;
  const end = (error: Error): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(beginning);
    ended(error instanceof StoreUnavailable ? error : new StoreUnavailable(error.message, { cause: error }));
  };
  const begin = async (): Promise<void> => {
    const { member, metadata, refused, failed } = await reach();
    if (isOver) return;
    // With this, a member without a connection to the others ends the watch. Otherwise it would send nothing until it
    // is connected again.
    metadata.set('hasleader', 'true');
    stream = member.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', asBuffer, decodeWatch, metadata);
    stream.on('data', (message: WatchResponse) => {
      if (isOver) return;
      clearTimeout(beginning);
      // For an expired token, etcd reports a missing permission.
      if (message.canceled) refused();
      response(message);
    });
    const fail = (error: ServiceError | null): void => {
      if (!isOver) end(failed(error));
    };
    stream.on('error', fail);
    stream.on('end', () => fail(null));
    stream.write(encodeWatch(request));
    beginning = setTimeout(() => {
      failed(null);
      end(new StoreUnavailable('etcd did not begin a watch in time'));
      stream?.cancel();
    }, beginMs);
  };
  begin().catch(end);
  return () => {
    isOver = true;
    clearTimeout(beginning);
    stream?.cancel();
  };
}
