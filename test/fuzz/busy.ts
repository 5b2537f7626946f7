/**
 * The milliseconds that this thread was busy since the call before, at most: no more than went by, since other threads
 * of this process may have been busy too, and no more than the process used, since others use this machine.
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
