import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '../../../cri/managed/layout.ts';
import { findProcess, isRunning, type RunningProcess } from '../../../host/runningProcess.ts';

const execute = promisify(execFile);

/** The resources of a private containerd and its pods on the host, recorded while they run. */
export interface TraceMarks {
  /** The directory of all files of this containerd. */
  readonly directory: string;
  readonly cgroupParent: string;
  /** The first three octets of the pods' IP addresses, followed by a dot. */
  readonly subnet: string;
  /** The chains of the iptables rules for its pods. */
  readonly chains: readonly string[];
  /** The host ends of its pods' veth pairs. */
  readonly links: readonly string[];
  /** The processes of its pods. */
  readonly processes: readonly RunningProcess[];
}

/** Records the current resources of the private containerd in a directory. */
export async function marksOf(directory: string): Promise<TraceMarks> {
  const { cgroupParent, bridge, subnetFile } = layoutOf(directory);
  const subnet = (await readFile(subnetFile, 'utf8')).replace(/0\/24$/, '');
  const links = await readdir(`/sys/class/net/${bridge}/brif`);
  return {
    directory,
    cgroupParent,
    subnet,
    chains: await chainsOf(subnet),
    links,
    processes: await processesIn(cgroupParent),
  };
}

/** Returns one line for each resource on the host that carries one of the marks. Empty if nothing was left behind. */
export async function traces(marks: TraceMarks): Promise<string[]> {
  const { directory, subnet, chains, cgroupParent } = marks;
  const links = (await execute('ip', ['-o', 'address'])).stdout
    .split('\n')
    .filter((line) => line.includes(` ${subnet}`));
  const rules = (await savedRules()).filter((line) => [subnet, ...chains].some((mark) => line.includes(mark)));
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const marked = mounts.filter((line) => line.includes(`${directory}/`));
  const cables = (await readdir('/sys/class/net')).filter((name) => marks.links.includes(name));
  return [
    ...(await processTraces(marks)),
    ...marked,
    ...(await cgroupsOf(cgroupParent)).map((cgroup) => `cgroup ${cgroup}`),
    ...links,
    ...cables.map((name) => `link ${name}`),
    ...rules,
  ];
}

/** Returns the processes in a cgroup and all cgroups below it. */
export async function processesIn(cgroupParent: string): Promise<RunningProcess[]> {
  const pids = new Set<number>();
  for (const cgroup of await cgroupsOf(cgroupParent)) {
    for (const entry of ['', ...(await readdir(cgroup, { recursive: true }).catch(() => []))]) {
      if (entry !== '' && !entry.endsWith('cgroup.procs')) continue;
      const text = await readFile(join(cgroup, entry || 'cgroup.procs'), 'utf8').catch(() => '');
      for (const line of text.split('\n')) if (line !== '') pids.add(Number(line));
    }
  }
  const found = await Promise.all([...pids].map(findProcess));
  // A process may have exited since its cgroup was read.
  return found.filter((each) => each !== undefined);
}

/** Returns the chains to which iptables jumps for the addresses of a subnet. */
async function chainsOf(subnet: string): Promise<string[]> {
  const rules = (await savedRules()).filter((line) => line.includes(subnet));
  return [...new Set(rules.flatMap((line) => / -j (CNI-[0-9a-f]+|CNI-DN-[0-9a-f]+)/.exec(line)?.[1] ?? []))];
}

async function savedRules(): Promise<string[]> {
  return (await execute('iptables-save')).stdout.split('\n');
}

/**
 * Lists the remaining processes of a containerd and its pods. Zombies are not listed, because they have no command line
 * and only their parent can reap them.
 */
async function processTraces({ directory, processes }: TraceMarks): Promise<string[]> {
  const named = (await commandLines()).filter(({ line }) => line.includes(directory));
  const alive = await Promise.all(processes.map(async (each) => ((await isRunning(each)) ? [each.pid] : [])));
  return [
    ...named.map(({ pid, line }) => `process ${pid}: ${line}`),
    ...alive.flat().map((pid) => `process ${pid} of a pod`),
  ];
}

async function commandLines(): Promise<{ pid: string; line: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = async (pid: string) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') });
  return (await Promise.all(pids.map(read))).map(({ pid, line }) => ({ pid, line: line.replaceAll('\0', ' ') }));
}

/** Returns the directories of a cgroup, one for each hierarchy that contains it. */
async function cgroupsOf(cgroupParent: string): Promise<string[]> {
  const root = '/sys/fs/cgroup';
  const hierarchies = [root, ...(await readdir(root)).map((name) => join(root, name))];
  const found = hierarchies.map(async (hierarchy) => {
    const directory = join(hierarchy, cgroupParent);
    const isThere = await readdir(directory).then(
      () => true,
      () => false,
    );
    return isThere ? [directory] : [];
  });
  return (await Promise.all(found)).flat();
}
