import type { Http2Session } from 'node:http2';
import { setImmediate } from '../runtime/event-loop.js';

/**
 * Makes an HTTP/2 session end only in turns of the event loop that read nothing, whether this program, Node.js or the
 * client ends it. `destroy` takes effect in the next turn. `close` sends GOAWAY in the next turn, and Node.js considers
 * the session closed one turn later. Node.js calls both itself, too, when the client sends GOAWAY or a protocol error.
 *
 * Otherwise Node.js up to 22 crashes, by a use after free or an assertion, if more input arrives on the connection
 * before it has sent its pending output: two unauthenticated requests in one TLS record were enough.
 */
export function endBetweenReads(session: Http2Session): void {
  const close = session.close.bind(session);
  const destroy = session.destroy.bind(session);
  let isClosing = false;
  let isEnding = false;
  session.close = (callback) => {
    if (callback !== undefined) session.once('close', callback);
    if (isClosing) return;
    isClosing = true;
    setImmediate(() => {
      if (session.destroyed) return;
      session.goaway();
      setImmediate(() => close());
    });
  };
  session.destroy = (error, code) => {
    if (isEnding) return;
    isEnding = true;
    setImmediate(() => destroy(error, code));
  };
}
