import fc from 'fast-check';

// Shrinking ends before the timeout of a test; otherwise a failed property would only report the timeout.
fc.configureGlobal({ interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true });
