/// <reference types="node" preserve="true" />
/** Everything a program may import from `kedge/testing`. */

export type { AccountKey } from './account.js';
export {
  type TestPodRequestOptions,
  type TestRequest,
  type TestRequestOptions,
  type TestSigningRequestOptions,
  testAuthority,
  testKey,
  testPodRequest,
  testRequest,
  testSigningRequest,
} from './certificates.js';
export { type ClientUnderTest, clientContract } from './client-contract.js';
export type { ContractCase } from './contract-case.js';
export { FakeClock, settled } from './fake-clock.js';
export { readManifests } from './manifests.js';
export { type AskedForPod, type PodSignerUnderTest, podSignerContract } from './pod-signer-contract.js';
export { AccountRefused } from './refusals.js';
export { type AskedFor, type SignerUnderTest, signerContract } from './signer-contract.js';
export { type StoreUnderTest, storeContract } from './store-contract.js';
export { type TestCertificates, type TestServer, type TestServerOptions, testServer } from './test-server.js';
export { eventually, NeverHeld, type Selection, type UntilOptions, until, untilAny, untilList } from './until.js';
