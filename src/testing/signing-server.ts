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

/** A signer may take its time, more than who waits for anything else in a test. */
const patienceMs = 10_000;

/** A server of one test in which a signer is asked as it is in earnest, by the controller `csr-signer`. */
export interface SigningServer {
  /** Creates a request that is approved, denied or failed already, or nothing of it. */
  create(options: TestSigningRequestOptions, conditions?: readonly Verdict[]): Promise<CertificateSigningRequest>;
  /** Starts the controller; answers how to stop it sooner than the server. */
  start(signer: Signer): () => Promise<void>;
  /** Waits for a request's certificate: PEM. */
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
