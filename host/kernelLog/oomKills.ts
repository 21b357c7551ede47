/** Finds OOM kills in kernel log messages. */
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { KernelMessage } from './kernelLog.ts';

/**
 * Parses the messages about OOM kills as the kubelet does (`utils/oomparser` of cAdvisor). `invoked oom-killer:` starts
 * a kill, and a line about the killed process completes it. Kernels since 5.0 report the memory of the process in a
 * later line, which is also read here, but not by cAdvisor. Lines about killed processes are ignored unless a kill has
 * started. The kernel writes such lines without a preceding start for the other processes of a cgroup that is killed as
 * a whole, and if there are too many kills.
 */
export class OomKillParser {
  #kill: OomKill | undefined;
  /** Whether everything about the kill is known except the memory of the process. */
  #isComplete = false;

  /** Processes a message. Returns the kill that this message completes, if any. */
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
      // This line completes a kill only if the cgroup of the process has a limit, as in cAdvisor.
      this.#isComplete = summary.limitedCgroup !== '/';
      return undefined;
    }
    const cgroups = parseLegacyCgroups(text);
    if (cgroups !== undefined) this.#kill = { ...this.#kill, ...cgroups };
    return this.#addKilledProcess(this.#kill, at, text);
  }

  /**
   * Returns the kill if everything about it is known except the memory of the process. Called when no message follows.
   */
  flush(): OomKill | undefined {
    if (!this.#isComplete) return undefined;
    const kill = this.#kill;
    this.#kill = undefined;
    this.#isComplete = false;
    return kill;
  }

  #addKilledProcess(kill: OomKill, at: number, text: string): OomKill | undefined {
    const killedProcess = parseKilledProcess(text);
    if (killedProcess === undefined || (this.#isComplete && killedProcess.pid !== kill.pid)) return undefined;
    this.#kill = undefined;
    this.#isComplete = false;
    return { ...kill, ...killedProcess, at };
  }
}

const SUMMARY_PREFIX = 'oom-kill:constraint=';
const GLOBAL_OOM_SUFFIX = ',global_oom';
const LIMITED_CGROUP_KEY = ',oom_memcg=';
const PROCESS_CGROUP_KEY = ',task_memcg=';
const PROCESS_NAME_KEY = ',task=';

/**
 * Parses the summary that kernels since 5.0 write about a kill. The names of cgroups and of the process may contain
 * commas. A container can choose only the name of the process, so the fields before that name are searched from the
 * left.
 */
function parseSummary(text: string): Pick<OomKill, 'pid' | 'processName' | 'cgroup' | 'limitedCgroup'> | undefined {
  const summaryIndex = text.indexOf(SUMMARY_PREFIX);
  const cgroupIndex = text.indexOf(PROCESS_CGROUP_KEY, summaryIndex);
  const processIndex = text.indexOf(PROCESS_NAME_KEY, cgroupIndex);
  if (summaryIndex < 0 || cgroupIndex < 0 || processIndex < 0) return undefined;
  const limitSection = text.slice(summaryIndex, cgroupIndex);
  const limitIndex = limitSection.indexOf(LIMITED_CGROUP_KEY);
  const processMatch = /^(.*),pid=(\d{1,10}),uid=\d+/.exec(text.slice(processIndex + PROCESS_NAME_KEY.length));
  if (processMatch === null || (limitIndex < 0 && !limitSection.endsWith(GLOBAL_OOM_SUFFIX))) return undefined;
  const [, processName = '', pid] = processMatch;
  return {
    pid: Number(pid),
    processName,
    cgroup: text.slice(cgroupIndex + PROCESS_CGROUP_KEY.length, processIndex),
    limitedCgroup: limitIndex < 0 ? '/' : limitSection.slice(limitIndex + LIMITED_CGROUP_KEY.length),
  };
}

/**
 * Parses the line in which kernels before 5.0 report the cgroups of a kill. This line is missing if the whole system is
 * out of memory.
 */
function parseLegacyCgroups(text: string): Pick<OomKill, 'cgroup' | 'limitedCgroup'> | undefined {
  const [, cgroup, limitedCgroup] = /^Task in (.*) killed as a result of limit of (.*)$/.exec(text) ?? [];
  return cgroup === undefined || limitedCgroup === undefined ? undefined : { cgroup, limitedCgroup };
}

const KILLED_PROCESS_PREFIX = 'Killed process ';

/** Parses the line about the killed process, in which the name may contain parentheses. */
function parseKilledProcess(text: string): Pick<OomKill, 'pid' | 'processName' | 'memoryBytes'> | undefined {
  const processIndex = text.indexOf(KILLED_PROCESS_PREFIX);
  if (processIndex < 0) return undefined;
  const [, pid, processName, details = ''] =
    /^(\d{1,10}) \((.+)\)([^)]*)$/.exec(text.slice(processIndex + KILLED_PROCESS_PREFIX.length)) ?? [];
  if (pid === undefined || processName === undefined) return undefined;
  const kilobytes = [...details.matchAll(/\b(?:anon|file|shmem)-rss:(\d{1,12})kB/g)].map(([, value]) => Number(value));
  const memory = kilobytes.reduce((sum, value) => sum + value, 0) * 1_024;
  return { pid: Number(pid), processName, ...(kilobytes.length > 0 ? { memoryBytes: memory } : {}) };
}
