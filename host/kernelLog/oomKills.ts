/** Finds OOM kills in the messages of the kernel. */
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { KernelMessage } from './kernelLog.ts';

/**
 * Parses the messages about OOM kills as a kubelet does (`utils/oomparser` of cAdvisor): `invoked oom-killer:` starts a
 * kill, and a line with the killed process completes it. Unlike cAdvisor, also reads how much memory the process held,
 * which kernels since 5.0 report in a line after the one that completes the kill for cAdvisor. Lines about kills without
 * a start, which the kernel writes for the other processes of a killed cgroup and if there are too many kills, do not
 * count.
 */
export class OomKillParser {
  #kill: OomKill | undefined;
  /** Whether the kill is complete except for the memory of the process. */
  #isComplete = false;

  /** Returns the kill that the message completes. */
  push({ at, text }: KernelMessage): OomKill | undefined {
    if (this.#kill === undefined || this.#isComplete) {
      if (!text.includes('invoked oom-killer:')) return this.#kill && this.#addKilledProcess(this.#kill, at, text);
      const previousKill = this.flush();
      this.#kill = { at, pid: 0, processName: '', cgroup: '/', limitedCgroup: '/' };
      return previousKill;
    }
    const summary = parseSummary(text);
    if (summary !== undefined) {
      this.#kill = { ...this.#kill, ...summary, at };
      // As in cAdvisor, this line completes only the kill of a process in a cgroup with a limit.
      this.#isComplete = summary.limitedCgroup !== '/';
      return undefined;
    }
    const cgroups = parseLegacyCgroups(text);
    if (cgroups !== undefined) this.#kill = { ...this.#kill, ...cgroups };
    return this.#addKilledProcess(this.#kill, at, text);
  }

  /** Returns the kill that is complete except for the memory of the process. Called when no message follows. */
  flush(): OomKill | undefined {
    if (!this.#isComplete) return undefined;
    const kill = this.#kill;
    this.#kill = undefined;
    this.#isComplete = false;
    return kill;
  }

  #addKilledProcess(kill: OomKill, at: number, text: string): OomKill | undefined {
    const killed = parseKilledProcess(text);
    if (killed === undefined || (this.#isComplete && killed.pid !== kill.pid)) return undefined;
    this.#kill = undefined;
    this.#isComplete = false;
    return { ...kill, ...killed, at };
  }
}

const SUMMARY = 'oom-kill:constraint=';
const GLOBAL_LIMIT = ',global_oom';
const CGROUP_LIMIT = ',oom_memcg=';
const PROCESS_CGROUP = ',task_memcg=';
const PROCESS = ',task=';

/**
 * Parses the summary that kernels since 5.0 write about a kill. The names of cgroups and of the process may contain
 * commas. A container can choose only the name of the process, so the fields before that name are searched from the
 * left.
 */
function parseSummary(text: string): Pick<OomKill, 'pid' | 'processName' | 'cgroup' | 'limitedCgroup'> | undefined {
  const startAt = text.indexOf(SUMMARY);
  const cgroupAt = text.indexOf(PROCESS_CGROUP, startAt);
  const processAt = text.indexOf(PROCESS, cgroupAt);
  if (startAt < 0 || cgroupAt < 0 || processAt < 0) return undefined;
  const limits = text.slice(startAt, cgroupAt);
  const limitAt = limits.indexOf(CGROUP_LIMIT);
  const process = /^(.*),pid=(\d{1,10}),uid=\d+/.exec(text.slice(processAt + PROCESS.length));
  if (process === null || (limitAt < 0 && !limits.endsWith(GLOBAL_LIMIT))) return undefined;
  const [, processName = '', pid] = process;
  return {
    pid: Number(pid),
    processName,
    cgroup: text.slice(cgroupAt + PROCESS_CGROUP.length, processAt),
    limitedCgroup: limitAt < 0 ? '/' : limits.slice(limitAt + CGROUP_LIMIT.length),
  };
}

/**
 * Parses the line that kernels before 5.0 write about the cgroups. This line is missing if the whole system is out of
 * memory.
 */
function parseLegacyCgroups(text: string): Pick<OomKill, 'cgroup' | 'limitedCgroup'> | undefined {
  const [, cgroup, limitedCgroup] = /^Task in (.*) killed as a result of limit of (.*)$/.exec(text) ?? [];
  return cgroup === undefined || limitedCgroup === undefined ? undefined : { cgroup, limitedCgroup };
}

const KILLED_PROCESS = 'Killed process ';

/** Parses the line about the killed process, in which the name may contain parentheses. */
function parseKilledProcess(text: string): Pick<OomKill, 'pid' | 'processName' | 'memoryBytes'> | undefined {
  const startAt = text.indexOf(KILLED_PROCESS);
  if (startAt < 0) return undefined;
  const [, pid, processName, details = ''] =
    /^(\d{1,10}) \((.+)\)([^)]*)$/.exec(text.slice(startAt + KILLED_PROCESS.length)) ?? [];
  if (pid === undefined || processName === undefined) return undefined;
  const kilobytes = [...details.matchAll(/\b(?:anon|file|shmem)-rss:(\d{1,12})kB/g)].map(([, value]) => Number(value));
  const memory = kilobytes.reduce((sum, value) => sum + value, 0) * 1_024;
  return { pid: Number(pid), processName, ...(kilobytes.length > 0 ? { memoryBytes: memory } : {}) };
}
