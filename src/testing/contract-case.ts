/** One promise of an interface. Runs with any test runner, or without. */
export interface ContractCase {
  readonly name: string;
  /** Rejects if the promise is broken. */
  run(): Promise<void>;
}
