/**
 * Returns the CPU time in milliseconds that this process needs for synchronous work. Other processes do not affect it.
 */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
