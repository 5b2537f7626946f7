import { expect, test } from 'vitest';
import { AuthenticationError } from '../../src/auth/authenticator.js';
import {
  bearerToken,
  readBearer,
  type TokenAuthenticator,
  webSocketToken,
  withoutTokenProtocols,
} from '../../src/auth/bearer-token.js';
import { credentials } from './credentials.js';

const warning = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

test.each([
  [undefined, {}],
  ['', {}],
  ['Bearer', {}],
  ['Bearer ', {}],
  ['Bearer t', { token: 't' }],
  ['  bEaReR t  ', { token: 't' }],
  ['Bearer t and more words', { token: 't' }],
  ['Bearer  t', { warning }],
  ['Bearer\tt', {}],
  ['Basic dXNlcjpwYXNz', {}],
  ['Token t', {}],
])('the header %j is read as %j', (header, expected) => {
  expect(readBearer(header)).toEqual(expected);
});

const alice = { user: { username: 'alice', groups: [] } };
const onlyGood: TokenAuthenticator = {
  authenticateToken: async (token, audiences) => (token === 'good' ? { ...alice, audiences } : undefined),
};

test('a known token is accepted for the requested audiences', async () => {
  const authenticator = bearerToken(onlyGood, ['api']);
  expect(await authenticator.authenticate(credentials({ authorization: 'Bearer good' }))).toEqual({
    ...alice,
    audiences: ['api'],
  });
  const elsewhere = credentials({ authorization: 'Bearer good' }, { audiences: ['vault'] });
  expect(await authenticator.authenticate(elsewhere)).toEqual({ ...alice, audiences: ['vault'] });
});

test('an unknown token is an error, a missing one is not', async () => {
  const authenticator = bearerToken(onlyGood, ['api']);
  await expect(authenticator.authenticate(credentials({ authorization: 'Bearer bad' }))).rejects.toThrow(
    new AuthenticationError('invalid bearer token'),
  );
  expect(await authenticator.authenticate(credentials())).toBeUndefined();
});

test('only the first Authorization header is read', async () => {
  const two = credentials({ authorization: ['Bearer bad', 'Bearer good'] });
  await expect(bearerToken(onlyGood, ['api']).authenticate(two)).rejects.toThrow('invalid bearer token');
});

const upgrade = { upgrade: 'websocket', connection: 'Upgrade' };
const prefix = 'base64url.bearer.authorization.k8s.io.';
const protocol = `${prefix}${Buffer.from('good').toString('base64url')}`;
const overWebSocket = webSocketToken(onlyGood, { apiAudiences: ['api'], apiDomain: 'k8s.io' });

test('a WebSocket handshake may carry the token as a subprotocol', async () => {
  const asked = credentials({ ...upgrade, 'sec-websocket-protocol': `${protocol}, v4.channel.k8s.io` });
  expect(await overWebSocket.authenticate(asked)).toEqual({ ...alice, audiences: ['api'] });
});

test.each([
  [{ 'sec-websocket-protocol': protocol }, 'missing additional subprotocol'],
  [{ 'sec-websocket-protocol': `${protocol}=,x` }, 'invalid base64.bearer.authorization token encoding'],
  [{ 'sec-websocket-protocol': [`${protocol},x`, protocol] }, 'multiple base64.bearer.authorization tokens specified'],
  [{ 'sec-websocket-protocol': `${protocol}AAAA,x` }, 'invalid bearer token'],
  [{ 'sec-websocket-protocol': `${prefix}A,x` }, 'invalid base64.bearer.authorization token encoding'],
  [{ 'sec-websocket-protocol': `${prefix}_w,x` }, 'invalid base64.bearer.authorization token'],
])('the handshake %j fails with %j', async (headers, message) => {
  await expect(overWebSocket.authenticate(credentials({ ...upgrade, ...headers }))).rejects.toThrow(message);
});

test('an empty token counts as none', async () => {
  const asked = credentials({ ...upgrade, 'sec-websocket-protocol': `${prefix},x` });
  expect(await overWebSocket.authenticate(asked)).toBeUndefined();
});

test.each([
  [`${protocol}, v4.channel.k8s.io`, 'v4.channel.k8s.io'],
  [`a,${prefix}, ${protocol} ,b`, 'a,b'],
  [protocol, ''],
])('of the subprotocols %j, %j remain for negotiation', (given, left) => {
  expect(withoutTokenProtocols(given)).toBe(left);
});

test('subprotocols of requests other than handshakes carry no token', async () => {
  expect(await overWebSocket.authenticate(credentials({ 'sec-websocket-protocol': protocol }))).toBeUndefined();
});
