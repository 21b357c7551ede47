import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '../../../cri/managed/layout.ts';
import { findProcess, isRunning, type RunningProcess } from '../../../host/runningProcess.ts';

const execute = promisify(execFile);

/** What a private containerd and its pods have on the host, noted while they run. */
export interface TraceMarks {
  /** Where all that is of it lies. */
  readonly directory: string;
  readonly cgroupParent: string;
  /** The first three numbers of the addresses of its pods, with the dot after them. */
  readonly subnet: string;
  /** The chains of its iptables rules. */
  readonly chains: readonly string[];
  /** Its pods' ends of the network, as the host names them. */
  readonly links: readonly string[];
  /** The processes of its pods. */
  readonly processes: readonly RunningProcess[];
}

/** Notes all that the private containerd of a directory has on the host now. */
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

/** Everything on the host that bears one of the marks, a line each: empty when nothing was left behind. */
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

/** The processes in a cgroup and all below it. */
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
  // One may have ended since its cgroup was read.
  return found.filter((each) => each !== undefined);
}

/** The chains that iptables jumps to for the addresses of a subnet. */
async function chainsOf(subnet: string): Promise<string[]> {
  const rules = (await savedRules()).filter((line) => line.includes(subnet));
  return [...new Set(rules.flatMap((line) => / -j (CNI-[0-9a-f]+|CNI-DN-[0-9a-f]+)/.exec(line)?.[1] ?? []))];
}

async function savedRules(): Promise<string[]> {
  return (await execute('iptables-save')).stdout.split('\n');
}

/** A zombie has no command line: it is nobody's to remove but its parent's. */
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

/** The directories of a cgroup, one a hierarchy that has it. */
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
