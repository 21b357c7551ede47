/** The log of a simulated kernel, which outlives agents but is lost on a reboot. */
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { KernelLog, KernelMessage } from '../kernelLog/kernelLog.ts';

/** Performs a read of the log. An implementation may delay the read or make it fail. */
type PerformRead = <T>(read: () => T, signal: AbortSignal) => Promise<T>;

const readImmediately: PerformRead = async (read) => read();

export class SimulatedKernelLog {
  readonly #now: () => number;
  #messages: KernelMessage[] = [];
  readonly #wakeCallbacks = new Set<() => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  write(text: string): void {
    this.#messages.push({ at: this.#now(), text });
    for (const wakeUp of [...this.#wakeCallbacks]) wakeUp();
  }

  /** Writes the messages that a Linux 6 kernel logs when it OOM-kills a process. */
  writeOomKill({ pid, processName, memoryBytes = 0, cgroup, limitedCgroup }: Omit<OomKill, 'at'>): void {
    const isGlobal = limitedCgroup === '/';
    const limit = isGlobal ? 'global_oom' : `oom_memcg=${limitedCgroup}`;
    const kilobytes = Math.floor(memoryBytes / 1_024);
    this.write(`${processName} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0`);
    this.write(
      `oom-kill:constraint=${isGlobal ? 'CONSTRAINT_NONE' : 'CONSTRAINT_MEMCG'},nodemask=(null),cpuset=/,mems_allowed=0,${limit},task_memcg=${cgroup},task=${processName},pid=${pid},uid=0`,
    );
    this.write(
      `${isGlobal ? 'Out of memory' : 'Memory cgroup out of memory'}: Killed process ${pid} (${processName}) total-vm:${2 * kilobytes}kB, anon-rss:${kilobytes}kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:64kB oom_score_adj:0`,
    );
  }

  /** Drops all messages, as a boot does. */
  boot(): void {
    this.#messages = [];
  }

  /** Opens the log at its oldest message. */
  open(performRead: PerformRead = readImmediately): KernelLog {
    let position = 0;
    return {
      read: async ({ signal }) => {
        if (position >= this.#messages.length) return [];
        const messages = await performRead(() => this.#messages.slice(position), signal);
        position += messages.length;
        return messages;
      },
      untilWritten: ({ signal }) =>
        new Promise((resolve) => {
          const finish = () => {
            this.#wakeCallbacks.delete(finish);
            signal.removeEventListener('abort', finish);
            resolve();
          };
          this.#wakeCallbacks.add(finish);
          signal.addEventListener('abort', finish);
          if (signal.aborted || position < this.#messages.length) finish();
        }),
      close: async () => {},
    };
  }
}
