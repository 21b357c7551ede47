/** The processor time that this process needs for synchronous work, in milliseconds. Other processes do not lengthen it. */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
