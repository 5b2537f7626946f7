import type { Http2Session } from 'node:http2';
import { setImmediate } from '../runtime/event-loop.js';

/**
 * From now on an HTTP/2 session ends, whoever ends it, in turns of the event loop that read nothing: `destroy` in the next, and
 * `close` tells the caller there to ask elsewhere, and only one turn later does Node take the session for closed. Node itself
 * calls both, too, when the caller says goodbye or something that is wrong.
 *
 * Node.js up to 22 crashes otherwise, by memory that it frees too early or an assertion, if more comes on the connection before
 * it has sent what was pending: two requests of a caller whom nobody knows, in one record, were enough.
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
