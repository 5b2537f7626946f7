/** One promise of an interface. Runs with or without a test runner. */
export interface ContractCase {
  readonly name: string;
  /** Rejects if the promise is broken. */
  run(): Promise<void>;
}
