import { expect, test } from 'vitest';
import { parseQuery, parseRequestInfo } from '../../src/http/request-info.js';

test.each([
  ['watch=1', 'watch', '1'],
  ['?watch=1', 'watch', undefined],
  ['?watch=1', '?watch', '1'],
  ['a;b&??watch=1', '??watch', '1'],
  ['&watch=1', 'watch', '1'],
  ['watch=%zz&watch=1', 'watch', '1'],
])('of the query %s the parameter %s is %s', (text, name, value) => {
  expect(parseQuery(text).get(name)).toBe(value);
});

test.each([
  ['GET', '/api/v1/nodes', 'list /v1 nodes'],
  ['GET', '/api/v1/nodes/n/status', 'get /v1 nodes n status'],
  ['GET', '/api/v1/namespaces', 'list /v1 namespaces'],
  ['PUT', '/api/v1/namespaces/ns', 'update /v1 ns: namespaces ns'],
  ['PUT', '/api/v1/namespaces/ns/finalize', 'update /v1 ns: namespaces ns finalize'],
  ['DELETE', '/apis/g/v1/namespaces/ns/things', 'deletecollection g/v1 ns: things'],
  ['PATCH', '/apis/g/v1/namespaces/ns/things/t/scale', 'patch g/v1 ns: things t scale'],
  ['GET', '/api/v1/watch/namespaces/ns/pods', 'watch /v1 ns: pods'],
  ['GET', '/api/v1/proxy/namespaces/ns/pods/p/x', 'proxy /v1 ns: pods p'],
])('%s %s is a request to %s', (method, path, asked) => {
  const { verb, group, version, namespace, resource, name, subresource } = parseRequestInfo(
    method,
    path,
    parseQuery(''),
  );
  const about = [verb, `${group}/${version}`, namespace && `${namespace}:`, resource, name, subresource];
  expect(about.filter((part) => part !== '').join(' ')).toBe(asked);
});

test.each([
  ['', 'a'],
  ['&limit=5&timeoutSeconds=5&labelSelector=b%3Dc&watch=&resourceVersion=x', 'a'],
  ['&limit=abc', ''],
  ['&limit=', ''],
  ['&timeoutSeconds=x', ''],
  ['&timeoutSeconds=', ''],
  ['&labelSelector=(', ''],
  ['&labelSelector=b%3Dc,', ''],
])('a list by one name concerns that object if all its options are valid: %s', (more, name) => {
  const query = parseQuery(`fieldSelector=metadata.name%3Da${more}`);
  expect(parseRequestInfo('GET', '/api/v1/namespaces/default/configmaps', query).name).toBe(name);
});
