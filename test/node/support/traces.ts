import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** What identifies a private containerd and its pods on the host. */
export interface TraceMarks {
  readonly directory: string;
  /** A part of the pods' command lines. */
  readonly command: string;
  readonly cgroupParent: string;
  readonly podCidr: string;
  /** The network namespaces of its pods, as `net:[…]`. */
  readonly namespaces: readonly string[];
  /** The chains of its iptables rules. */
  readonly chains: readonly string[];
}

/** Everything on the host that bears one of the marks, a line each: empty when nothing was left behind. */
export async function traces(marks: TraceMarks): Promise<string[]> {
  const subnet = marks.podCidr.replace(/0\/24$/, '');
  const links = (await execute('ip', ['-o', 'address'])).stdout
    .split('\n')
    .filter((line) => line.includes(` ${subnet}`));
  const rules = (await savedRules()).filter((line) => [subnet, ...marks.chains].some((mark) => line.includes(mark)));
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const marked = mounts.filter((line) =>
    [`${marks.directory}/`, ...marks.namespaces].some((mark) => line.includes(mark)),
  );
  return [...(await processTraces(marks)), ...marked, ...(await cgroupTraces(marks)), ...links, ...rules];
}

/** The network namespace of the process whose command line has this part. */
export async function networkNamespaceOf(command: string): Promise<string> {
  for (const { pid, line } of await commandLines()) {
    if (line.includes(command)) return readlink(`/proc/${pid}/ns/net`);
  }
  throw new Error(`no process runs ${command}`);
}

/** The chains that iptables jumps to for the addresses of a subnet. */
export async function chainsOf(podCidr: string): Promise<string[]> {
  const rules = (await savedRules()).filter((line) => line.includes(podCidr.replace(/0\/24$/, '')));
  return [...new Set(rules.flatMap((line) => / -j (CNI-[0-9a-f]+|CNI-DN-[0-9a-f]+)/.exec(line)?.[1] ?? []))];
}

async function savedRules(): Promise<string[]> {
  return (await execute('iptables-save')).stdout.split('\n');
}

async function processTraces({ directory, command, namespaces }: TraceMarks): Promise<string[]> {
  const found = (await commandLines()).map(async ({ pid, line }) => {
    const namespace = await readlink(`/proc/${pid}/ns/net`).catch(() => '');
    const ours = line.includes(directory) || line.includes(command) || namespaces.includes(namespace);
    return ours ? [`process ${pid}: ${line}`] : [];
  });
  return (await Promise.all(found)).flat();
}

async function commandLines(): Promise<{ pid: string; line: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = async (pid: string) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') });
  return (await Promise.all(pids.map(read))).map(({ pid, line }) => ({ pid, line: line.replaceAll('\0', ' ') }));
}

async function cgroupTraces({ cgroupParent }: TraceMarks): Promise<string[]> {
  const root = '/sys/fs/cgroup';
  const hierarchies = [root, ...(await readdir(root)).map((name) => join(root, name))];
  const found = hierarchies.map(async (hierarchy) => {
    const names = await readdir(join(hierarchy, cgroupParent)).catch(() => undefined);
    return names === undefined ? [] : [`cgroup ${join(hierarchy, cgroupParent)}`];
  });
  return (await Promise.all(found)).flat();
}
