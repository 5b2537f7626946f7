import { csrSigners } from '../../controllers/csr-signer/csr-signer.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  CertificateSigningRequests,
  certificatePem,
  isIssued,
} from '../api/kinds/certificate-signing-request.js';
import { createManager } from '../controller/manager.js';
import type { Signer } from '../pki/signer.js';
import { type TestSigningRequestOptions, testSigningRequest } from './certificates.js';
import { testServer } from './test-server.js';
import { until } from './until.js';

/** The timeout for signers, which may take longer than other parts of a test. */
const patienceMs = 10_000;

/** A server for one test whose controller `csr-signer` calls a signer as in production. */
export interface SigningServer {
  /** Creates a request that is approved, denied or failed already, or has no condition. */
  create(options: TestSigningRequestOptions, conditions?: readonly Verdict[]): Promise<CertificateSigningRequest>;
  /** Starts the controller; returns a function that stops it before the server. */
  start(signer: Signer): () => Promise<void>;
  /** Waits for a request's certificate; returns it as PEM. */
  issued(name: string): Promise<string>;
  stop(): Promise<void>;
}

export type Verdict = 'Approved' | 'Denied' | 'Failed';

export async function signingServer(): Promise<SigningServer> {
  const { client, stop } = await testServer({ controllers: [] });
  const controllers: (() => Promise<void>)[] = [];
  const requests = client.resource(CertificateSigningRequests);
  const condition = (type: Verdict): CertificateSigningRequestCondition => ({ type, status: 'True', reason: 'Test' });
  return {
    async stop() {
      await Promise.all(controllers.map((end) => end()));
      await stop();
    },

    async create(options, verdicts = []) {
      const created = await requests.create(await testSigningRequest(options));
      if (verdicts.length === 0) return created;
      const conditions = verdicts.map(condition);
      return requests.subresource('approval').update({ ...created, status: { ...created.status, conditions } });
    },

    start(signer) {
      const stopping = new AbortController();
      const running = createManager({ client })
        .add(...csrSigners({ signers: [signer] }))
        .run(stopping.signal);
      const end = (): Promise<void> => {
        stopping.abort();
        return running;
      };
      controllers.push(end);
      return end;
    },

    async issued(name) {
      const csr = await until(requests, { name }, (found) => found !== undefined && isIssued(found), {
        timeoutMs: patienceMs,
      });
      return (csr && certificatePem(csr)) ?? '';
    },
  };
}
