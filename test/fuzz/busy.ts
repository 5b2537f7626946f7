/**
 * Returns a function that returns the milliseconds that this thread was busy since its previous call, at most. It is no
 * more than the elapsed time, because other threads of the process may have been busy too, and no more than the
 * process' CPU time, because others use the machine.
 */
export function watchBusy(): () => number {
  let last = performance.now();
  let used = process.cpuUsage();
  return () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    const busy = Math.min(now - last, (user + system) / 1_000);
    last = now;
    used = process.cpuUsage();
    return busy;
  };
}
