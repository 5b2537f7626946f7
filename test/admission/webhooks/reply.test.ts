import { describe, expect, test } from 'vitest';
import { readReply } from '../../../src/admission/webhooks/reply.js';

const expected = { group: 'admission.k8s.io', version: 'v1', kind: 'AdmissionReview', maxValues: 100 };
const read = (status: number, body: string, contentType?: string) =>
  readReply({ status, contentType, body: Buffer.from(body) }, expected);

describe('an error status of an answer', () => {
  const failure = '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"says a Status"}';
  test.each([
    [
      500,
      'out of order',
      'text/plain',
      'an error on the server ("out of order") has prevented the request from succeeding',
    ],
    [
      500,
      '{"a":1}',
      'application/json',
      'an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [502, ' x \n', undefined, 'an error on the server ("x") has prevented the request from succeeding'],
    [
      500,
      'x'.repeat(3_000),
      'text/html',
      `an error on the server ("${'x'.repeat(2_048)}") has prevented the request from succeeding`,
    ],
    [503, 'x', 'text/plain', 'the server is currently unable to handle the request'],
    [404, 'x', 'text/plain', 'the server could not find the requested resource'],
    [400, 'x', 'text/plain', 'the server rejected our request for an unknown reason'],
    [403, 'go away', 'text/plain', 'go away'],
    [409, 'x', 'text/plain', 'the server reported a conflict'],
    [429, 'x', 'text/plain', 'the server has received too many requests and has asked us to try again later'],
    [302, '', 'text/plain', 'the server responded with the status code 302 but did not return more information'],
    [418, '', 'text/plain', 'the server responded with the status code 418 but did not return more information'],
    [500, failure, 'application/json', 'says a Status'],
    [409, failure, 'text/plain', 'says a Status'],
    [409, '{"status":"Success","message":"x"}', 'application/json', 'the server reported a conflict'],
    [409, '{"status":"Failure","message":"x"}', 'application/json', 'the server reported a conflict'],
  ])('%d with body %.20s of type %s is reported', async (status, body, contentType, text) => {
    await expect(read(status, body, contentType)).rejects.toThrow(text);
  });

  test.each([
    [404, 'x', 404],
    [302, '', 302],
    [500, '{"kind":"Status","status":"Failure","code":409}', 409],
    [500, '{"kind":"Status","status":"Failure"}', 0],
    [500, '{"kind":"Status","status":"Failure","code":-1.5}', 0],
    [200, '', undefined],
    [404, 'x', 500, 'text/'],
    [200, '{}', 500, ';;;'],
  ])('%d with body %j is counted as %s', async (status, body, code, contentType?: string) => {
    await expect(read(status, body, contentType)).rejects.toMatchObject({ code });
  });

  test('has an empty message if its Status has none, whatever the reason', async () => {
    const body = '{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Because"}';
    await expect(read(500, body, 'application/json')).rejects.toThrow(/^$/);
  });
});

describe('the body of an answer', () => {
  test.each([
    ['{}', ';;;', 'Internal error occurred: mime: no media type'],
    ['{}', 'application/json; x', 'Internal error occurred: mime: invalid media parameter'],
    ['', 'application/json', '0-length response with status code: 200 and content type: application/json'],
    ['this', 'application/json', 'json: cannot unmarshal string into Go value of type struct'],
    ['[]', 'application/json', 'json: cannot unmarshal array into Go value of type struct'],
    ['{this', undefined, "json parse error: invalid character 't' looking for beginning of object key string"],
    ['kind: AdmissionReview\n  x: [', undefined, 'yaml: line 2: mapping values are not allowed in this context'],
    ['{"kind":5}', 'application/json', 'json: cannot unmarshal number into Go struct field .kind of type string'],
    ['{"Kind":5}', 'application/json', 'json: cannot unmarshal number into Go struct field .kind of type string'],
    ['{"KIND":"X"}', 'application/json', 'no kind "X" is registered for version "admission.k8s.io/v1" in scheme'],
    [
      '{"kind":"X","apiVersion":"admission.k8s.io/v1"}',
      undefined,
      'no kind "X" is registered for version "admission.k8s.io/v1" in scheme',
    ],
    [
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2"}',
      undefined,
      'no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" in scheme',
    ],
    [
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/__internal"}',
      undefined,
      'no kind "AdmissionReview" is registered for the internal version of group "admission.k8s.io" in scheme',
    ],
    [
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      undefined,
      'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      '{"kind":"Status","apiVersion":"v1"}',
      undefined,
      'converting (v1.Status) to (v1.AdmissionReview): unknown conversion',
    ],
    [`{"a":[${'1,'.repeat(200)}1]}`, undefined, 'json parse error'],
    [`{"a":${'['.repeat(5_000)}`, undefined, 'json parse error'],
  ])('that is not a review is reported: %.60s', async (body, contentType, text) => {
    await expect(read(200, body, contentType)).rejects.toThrow(text);
  });

  test.each(['{}', '{"kind":"AdmissionReview"}', '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}'])(
    '%s is read as a review, whatever its media type',
    async (body) => {
      expect(await read(200, body, 'text/plain')).toEqual(JSON.parse(body));
    },
  );

  test.each([
    ['# a comment\nkind: AdmissionReview\nresponse: {uid: u, allowed: no}\n---\nmore: 1\n', 'application/json'],
    ['\ufeff{"kind":"AdmissionReview","response":{"uid":"u","allowed":false}}', 'text/plain'],
  ])('%j is read as YAML', async (body, contentType) => {
    expect(await read(200, body, contentType)).toEqual({
      kind: 'AdmissionReview',
      response: { uid: 'u', allowed: false },
    });
  });

  test('null is read as an empty review', async () => {
    expect(await read(200, 'null')).toEqual({});
  });
});
