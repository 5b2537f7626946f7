import fc from 'fast-check';

// Shrinking ends before the time of a test does: otherwise all that is said of a property that fails is that it took long.
fc.configureGlobal({ interruptAfterTimeLimit: 100_000, markInterruptAsFailure: true });
